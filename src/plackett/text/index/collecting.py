"""From documents to segments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from plackett._base.errors import DataError
from plackett._base.progress import progress
from plackett.text.document import Document
from plackett.text.index.field import Field, TermStream
from plackett.text.index.settings import IndexSettings
from plackett.text.index.table import DocumentTable, concatenate
from plackett.text.index.terms import TermTable, combine, number_by_order
from plackett.text.index.values import text_of

#: Documents that are analysed together.
_BATCH = 2_000
#: Terms after which a segment is complete: putting it together takes about twenty bytes per term.
SEGMENT_TERMS = 1 << 26
#: Positions between the fields of a combined one: a phrase with stop words inside does not reach across.
GAP = 4


class Draft:
    """A segment in the making: stored documents, and the terms of each field in reading order."""

    def __init__(self, settings: IndexSettings) -> None:
        self.settings = settings
        self.n_documents = 0
        self.n_terms = 0
        self._terms = TermTable(settings.analyzer)
        self._tables: list[DocumentTable] = []
        self._streams: dict[str, list[TermStream]] = {}  # by text field and batch

    def add(self, documents: list[Document]) -> None:
        """Analyse documents and keep them."""
        self.settings = self.settings.extended(documents)
        for name in self.settings.text_fields:
            if name not in self._streams:  # earlier documents do not have it
                self._streams[name] = [_empty(len(table)) for table in self._tables]
            stream = self._terms.stream([_text(document, name) for document in documents])
            self._streams[name].append(stream)
            self.n_terms += 2 * stream.terms.size  # once in the field, once in a combined one
        self._tables.append(DocumentTable.from_documents(documents, self.settings.kinds))
        self.n_documents += len(documents)

    def table(self) -> DocumentTable:
        """Stored documents."""
        return concatenate(self._tables, self.settings.kinds)

    def fields(self) -> Iterator[Field]:
        """The fields, one at a time; each is given once, to save memory."""
        for name, parts in self.settings.combined.items():
            streams = [self._part(name, part) for part in parts]
            yield self._field(name, [combine(batch, GAP) for batch in zip(*streams, strict=True)])
        for name in list(self._streams):
            yield self._field(name, self._streams.pop(name))

    def _part(self, name: str, part: str) -> list[TermStream]:
        if part not in self._streams:
            known = ", ".join(self._streams) or "none"
            raise DataError(f"combine[{name!r}] names {part!r}, which is not among the text fields: {known}")
        return self._streams[part]

    def _field(self, name: str, streams: list[TermStream]) -> Field:
        return Field.from_stream(name, *number_by_order(self._terms.terms, streams))


def drafts(documents: Iterable[Document], settings: IndexSettings, *, verbose: bool = False) -> Iterator[Draft]:
    """Drafts of the full segments and of the last one. Each knows all fields seen so far."""
    draft = Draft(settings)
    batches = progress(_batches(iter(documents)), "documents indexed", amount=len, verbose=verbose)
    for batch in batches:
        draft.add(batch)
        if draft.n_terms >= SEGMENT_TERMS:
            yield draft
            draft = Draft(draft.settings)
    if draft.n_documents:
        yield draft


def _batches(documents: Iterator[Document]) -> Iterator[list[Document]]:
    while batch := list(islice(documents, _BATCH)):
        yield batch


def _text(document: Document, name: str) -> str:
    value = document.fields.get(name, "")
    return value if isinstance(value, str) else text_of(value, f"document {document.id!r}: field {name!r}")


def _empty(n: int) -> TermStream:
    return TermStream(np.zeros(n + 1, np.int64), np.empty(0, np.int32))
