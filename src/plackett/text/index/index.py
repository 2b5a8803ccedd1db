"""The index of a collection of documents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett._names.nearest import nearest, question
from plackett.data.strings import Strings
from plackett.text.analysis import Analyzer
from plackett.text.document import Document
from plackett.text.documents.records import documents_of
from plackett.text.index.collecting import drafts
from plackett.text.index.field import Field
from plackett.text.index.kept import Kept
from plackett.text.index.manifest import FILE, Manifest
from plackett.text.index.segment import (
    MemorySegment,
    Segment,
    StoredSegment,
    compose_field,
    compose_table,
    write_segment,
)
from plackett.text.index.settings import IndexSettings
from plackett.text.index.table import DocumentTable, Links
from plackett.text.index.values import is_empty
from plackett.text.index.writer import IndexWriter, warn_unseen

__all__ = ["Index"]

#: How often opening is tried while a writer commits.
_ATTEMPTS = 20


class Index:
    """A snapshot of an index: what was committed when it was opened.

    Make one with `build` (in memory), `create` (in a folder) or `open`.

    Examples
    --------
    >>> index = Index.build([Document("a", {"body": "blue whales sing"}), Document("b", {"body": "a blue sky"})])
    >>> field = index.field("body")
    >>> field.document_frequency[field.term_ids(index.analyzer.tokens("Blue whale"))].tolist()
    [2, 1]
    """

    def __init__(self, settings: IndexSettings, segments: Sequence[Segment]) -> None:
        self.settings = settings
        self._segments = segments
        self._fields: dict[str, Field] = {}
        #: What models and features computed from the index, by their own keys; kept as long as the index.
        self.kept = Kept()

    @classmethod
    def build(
        cls,
        documents: Any,
        *,
        analyzer: Analyzer | None = None,
        kinds: Mapping[str, str] | None = None,
        combine: Mapping[str, Sequence[str]] | None = None,
        verbose: bool = False,
    ) -> Index:
        """Index documents in memory.

        Parameters
        ----------
        documents
            `Document` objects, dicts with an id and fields, or a frame (pandas, polars, Arrow) with a row per document.
            The id is called ``id``, ``_id``, ``docid``, ``doc_id``, ``docno`` or ``document_id``.
        analyzer
            How text becomes terms.
        kinds
            ``"text"``, ``"keyword"``, ``"number"`` or ``"date"`` by field; for other fields the first value decides,
            and strings are text.
        combine
            Additional fields that hold the terms of several fields one after the other. By default there is one, called
            ``"all"``, of all text fields, if there are several.
        verbose
            Whether to show progress.
        """
        settings = IndexSettings.make(analyzer, kinds, combine)
        segments: list[Segment] = []
        for draft in drafts(documents_of(documents), settings, verbose=verbose):
            segments.append(MemorySegment(draft.table(), draft.fields()))
            settings = draft.settings
        _check_ids(segments)
        warn_unseen(settings, [n for n in kinds or () if all(is_empty(s.table.values[n]) for s in segments)])
        return cls(settings, segments)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        documents: Any,
        *,
        analyzer: Analyzer | None = None,
        kinds: Mapping[str, str] | None = None,
        combine: Mapping[str, Sequence[str]] | None = None,
        verbose: bool = False,
    ) -> Index:
        """Index documents in a new folder; the parameters are those of `build`.

        If two documents have the same id, the later one is kept. Use `plackett.text.IndexWriter` to change the index.
        """
        if (Path(path) / FILE).exists():
            raise DataError(f"{path}: there is already an index; open it, change it with IndexWriter, or remove it")
        with IndexWriter(path, analyzer=analyzer, kinds=kinds, combine=combine) as writer:
            writer.add(documents, verbose=verbose)
        return cls.open(path)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Index:
        """Open the last commit of an index. Later commits do not change what was opened."""
        folder = Path(path)
        for attempt in range(_ATTEMPTS):
            manifest = Manifest.read(folder)
            try:
                segments = [StoredSegment(folder, entry) for entry in manifest.segments]
            except FileNotFoundError as error:
                # a writer committed in between and removed what the commit replaced
                if attempt == _ATTEMPTS - 1 or Manifest.read(folder).generation == manifest.generation:
                    raise DataError(f"{folder}: damaged, the file {error.filename} is missing") from None
                continue
            return cls(manifest.settings, segments)
        raise AssertionError("unreachable")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the live documents as an index of one segment to a new folder."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise DataError(f"{folder}: the folder is not empty; use a new one")
        segments: tuple[dict[str, Any], ...] = ()
        if self.n_documents:
            fields = (self.field(name) for name in self.fields)
            segments = ({**write_segment(folder, "000001", self.table, fields), "deleted": None},)
        Manifest(self.settings, 1, 2, segments).write(folder)

    def __repr__(self) -> str:
        return f"Index({self.n_documents} documents, fields {', '.join(self.fields)})"

    @property
    def analyzer(self) -> Analyzer:
        """How text became terms; queries are analysed in the same way."""
        return self.settings.analyzer

    @property
    def kinds(self) -> Mapping[str, str]:
        """Kind of each stored field."""
        return self.settings.kinds

    @property
    def fields(self) -> list[str]:
        """Fields that can be searched: text, and combinations of text fields."""
        return [*self.settings.text_fields, *self.settings.combined]

    @property
    def default_field(self) -> str:
        """The field that is searched if none is named: the last combined one, or the first text field."""
        if not self.fields:
            raise DataError("the index has no text field")
        return [*self.settings.combined][-1] if self.settings.combined else self.fields[0]

    @cached_property
    def n_documents(self) -> int:
        """Number of live documents."""
        return sum(segment.n_live for segment in self._segments)

    @cached_property
    def table(self) -> DocumentTable:
        """Ids, stored values and links of the live documents."""
        return compose_table(self._segments, self.settings.kinds)

    @property
    def ids(self) -> Strings:
        """Ids of the documents."""
        return self.table.ids

    def id(self, number: int) -> str:
        """Id of a document."""
        return self.table.ids[number].decode("utf-8", "replace")

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {text: number for number, text in enumerate(self.table.ids.to_numpy().tolist())}

    def numbers(self, ids: Iterable[str]) -> np.ndarray:
        """int64: numbers of documents by their ids; -1 for an unknown id."""
        return np.array([self._numbers.get(text, -1) for text in ids], np.int64)

    def field(self, name: str | None = None) -> Field:
        """A field as models read it; without a name the `default_field`."""
        name = self.default_field if name is None else name
        if name not in self._fields:
            if name not in self.fields:
                raise DataError(f"the index has no text field {name!r}; {self._fields_like(name, self.fields)}")
            self._fields[name] = compose_field(name, self._segments, self.settings.combined.get(name, ()))
        return self._fields[name]

    def values(self, name: str) -> np.ndarray:
        """Numbers (float64, NaN if missing), dates (datetime64[us]) or strings of a stored field, by document."""
        if name not in self.kinds:
            raise DataError(f"the index has no stored field {name!r}; {self._fields_like(name, list(self.kinds))}")
        column = self.table.values[name]
        if isinstance(column, Strings):
            return column.to_numpy()
        return column.view("datetime64[us]") if self.kinds[name] == "date" else column

    def document(self, number: int) -> Document:
        """A stored document by its number; `numbers` has those of ids."""
        if isinstance(number, bool) or not isinstance(number, Integral):
            raise DataError(
                f"document {number!r} of an index: documents are known by number, 0 to {self.n_documents - 1}; "
                "index.document(index.numbers([id])[0]) is the one with an id"
            )
        if not 0 <= number < self.n_documents:
            raise DataError(f"document {number} of an index of {self.n_documents}")
        return self.table.document(number)

    @property
    def links(self) -> Links:
        """Links of the documents as they were stored."""
        return self.table.links

    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Links between documents of the index: numbers of sources and targets, in the order of the sources.

        Links to ids that are not in the index are left out; repeated links and links of a document to itself are kept.
        """
        links = self.links
        sources = np.repeat(np.arange(self.n_documents), np.diff(links.offsets))
        targets = self.numbers(links.targets.to_numpy().tolist())
        return sources[targets >= 0], targets[targets >= 0]

    def _fields_like(self, name: str, known: list[str]) -> str:
        near = nearest(name, known, 3)
        return question(near) if near else f"it has {', '.join(known) or 'none'}"


def _check_ids(segments: Sequence[Segment]) -> None:
    seen: set[str] = set()
    for segment in segments:
        for text in segment.table.ids.to_numpy().tolist():
            if text in seen:
                raise DataError(f"two documents have the id {text!r}")
            seen.add(text)
