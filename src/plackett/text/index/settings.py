"""Settings that are declared once for an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from plackett._base.errors import DataError
from plackett.text.analysis import Analyzer
from plackett.text.document import Document
from plackett.text.index.values import KINDS, is_date, kind_of

#: Name of the field that holds the terms of all text fields.
ALL = "all"
#: Each text field of a segment is a file that stays open, and systems allow a process a few hundred.
MOST_TEXT_FIELDS = 200


@dataclass(frozen=True)
class IndexSettings:
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
    ) -> IndexSettings:
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

    def with_given(self, given: IndexSettings, where: object) -> IndexSettings:
        """Settings of an existing index, with what the user now declares about further fields."""
        for name, kind in given.kinds.items():
            if self.kinds.get(name, kind) != kind:
                raise DataError(
                    f"{where}: the field {name!r} holds {self.kinds[name]} in this index, not {kind}; make a new index"
                )
        if given.combine is not None and given.combine != self.combine:
            raise DataError(f"{where}: the index exists, with other combined fields; make a new index")
        return replace(self, kinds={**self.kinds, **given.kinds})

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

    def extended(self, documents: Sequence[Document]) -> IndexSettings:
        """Add the fields that these documents have and earlier ones did not.

        A field of strings holds dates if all its values in these documents are ISO dates, else text.
        """
        new: dict[str, str] = {}
        known = self.kinds.keys()
        for document in documents:
            if document.fields.keys() <= known:
                continue
            for name, value in document.fields.items():
                if name in self.kinds or value is None:
                    continue
                if isinstance(value, str) and not value:
                    new.setdefault(name, "")  # says nothing about the kind
                elif not new.get(name):
                    new[name] = kind_of(value, _where(document, name))
                elif new[name] == "date" and isinstance(value, str) and not is_date(value):
                    new[name] = "text"
        if not new:
            return self
        extended = replace(self, kinds={**self.kinds, **{name: kind or "text" for name, kind in new.items()}})
        if len(extended.text_fields) > MOST_TEXT_FIELDS:
            first = extended.text_fields[MOST_TEXT_FIELDS]
            document = next(document for document in documents if document.fields.get(first) is not None)
            raise DataError(
                f"document {document.id!r}: {first!r} would be text field number {MOST_TEXT_FIELDS + 1}; an index has "
                f"at most {MOST_TEXT_FIELDS}, because each is a file: join some, or declare them as keyword"
            )
        return extended


def _where(document: Document, name: object) -> str:
    """Where a value is, for messages; the name of the field is checked."""
    good = isinstance(name, str) and name and "\0" not in name
    try:
        str(name).encode()
    except UnicodeEncodeError:
        good = False
    if not good:
        raise DataError(f"document {document.id!r}: {name!r} is not a name for a field")
    return f"document {document.id!r}: field {name!r}"
