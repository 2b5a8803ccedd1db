"""What is declared once for an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from plackett._errors import DataError
from plackett.text.analysis import Analyzer
from plackett.text.document import Document
from plackett.text.index.values import KINDS, kind_of

__all__ = ["Settings"]

#: Name of the field that holds the terms of all text fields.
ALL = "all"


@dataclass(frozen=True)
class Settings:
    """Analysis and fields of an index."""

    analyzer: Analyzer
    #: Kinds of the stored fields, in the order in which they were first seen.
    kinds: Mapping[str, str] = field(default_factory=dict)
    #: Combined fields, with their parts; None: one of all text fields, if there are several.
    combine: Mapping[str, tuple[str, ...]] | None = None

    @classmethod
    def make(
        cls,
        analyzer: Analyzer | None,
        kinds: Mapping[str, str] | None,
        combine: Mapping[str, Sequence[str]] | None,
    ) -> Settings:
        """Settings as a user gives them, checked."""
        for name, kind in (kinds or {}).items():
            if not name or "\0" in name:
                raise ValueError(f"kinds: {name!r} is not a name for a field")
            if kind not in KINDS:
                raise ValueError(f"kinds[{name!r}] must be one of {', '.join(KINDS)}; got {kind!r}")
        groups = None if combine is None else {name: tuple(parts) for name, parts in combine.items()}
        for name, parts in (groups or {}).items():
            if name in (kinds or {}) or not parts:
                raise ValueError(f"combine[{name!r}] must have a new name and at least one part; got {parts!r}")
        return cls(analyzer or Analyzer(), dict(kinds or {}), groups)

    @property
    def text_fields(self) -> list[str]:
        """Fields that are analysed."""
        return [name for name, kind in self.kinds.items() if kind == "text"]

    @property
    def combined(self) -> Mapping[str, tuple[str, ...]]:
        """Combined fields with their parts."""
        if self.combine is not None:
            return self.combine
        fields = self.text_fields
        return {ALL: tuple(fields)} if len(fields) > 1 and ALL not in self.kinds else {}

    def extended(self, documents: Sequence[Document]) -> Settings:
        """With the fields that these documents have and earlier ones did not."""
        new: dict[str, str] = {}
        for document in documents:
            if document.fields.keys() <= self.kinds.keys() | new.keys():
                continue
            for name, value in document.fields.items():
                if name not in self.kinds and name not in new and value is not None:
                    if not isinstance(name, str) or not name or "\0" in name:
                        raise DataError(f"document {document.id!r}: {name!r} is not a name for a field")
                    new[name] = kind_of(value, f"document {document.id!r}: field {name!r}")
        return replace(self, kinds={**self.kinds, **new}) if new else self
