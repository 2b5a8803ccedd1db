"""The documents of a segment or an index as columns: ids, stored values, links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.strings import Strings
from plackett.text.document import Document, Link
from plackett.text.index.columns import join, join_offsets, offsets_of, strings, utf8
from plackett.text.index.values import NO_DATE, column


@dataclass(frozen=True)
class Links:
    """Links by document: ``targets[offsets[d]:offsets[d + 1]]``, and their anchor texts."""

    offsets: np.ndarray
    targets: Strings
    anchors: Strings

    def take(self, rows: np.ndarray) -> Links:
        """Links of some documents."""
        lengths = np.diff(self.offsets)[rows]
        offsets = offsets_of(lengths)
        which = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1][rows] - offsets[:-1], lengths)
        return Links(offsets, self.targets.take(which), self.anchors.take(which))


@dataclass(frozen=True)
class DocumentTable:
    """Documents as columns: a column of bytes per field of text, of float64 for numbers, of int64 for dates."""

    ids: Strings
    values: Mapping[str, Strings | np.ndarray]
    links: Links

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def from_documents(cls, documents: Sequence[Document], kinds: Mapping[str, str]) -> DocumentTable:
        """Columns of documents."""
        links = [link for document in documents for link in document.links]
        offsets = offsets_of([len(document.links) for document in documents])
        return cls(
            strings([_id(document) for document in documents]),
            {name: column(documents, name, kind) for name, kind in kinds.items()},
            Links(
                offsets,
                strings([utf8(link.target) for link in links]),
                strings([utf8(link.anchor) for link in links]),
            ),
        )

    def take(self, rows: np.ndarray) -> DocumentTable:
        """Some of the documents."""
        values = {
            name: stored.take(rows) if isinstance(stored, Strings) else stored[rows]
            for name, stored in self.values.items()
        }
        return DocumentTable(self.ids.take(rows), values, self.links.take(rows))

    def document(self, row: int) -> Document:
        """One document as it was stored; missing values are left out."""
        fields: dict[str, Any] = {}
        for name, stored in self.values.items():
            if isinstance(stored, Strings):
                if stored.offsets[row + 1] > stored.offsets[row]:
                    fields[name] = stored[row].decode("utf-8", "replace")
            elif stored.dtype.kind == "f":
                if not np.isnan(stored[row]):
                    fields[name] = float(stored[row])
            elif stored[row] != NO_DATE:
                fields[name] = stored[row].view("datetime64[us]").item()
        a, b = self.links.offsets[row], self.links.offsets[row + 1]
        links = tuple(
            Link(self.links.targets[i].decode("utf-8", "replace"), self.links.anchors[i].decode("utf-8", "replace"))
            for i in range(a, b)
        )
        return Document(self.ids[row].decode("utf-8", "replace"), fields, links)


def _id(document: Document) -> bytes:
    if not isinstance(document.id, str) or not document.id:
        raise DataError(f"a document has the id {document.id!r:.100}; give a text that is not empty")
    try:
        return document.id.encode()
    except UnicodeEncodeError:  # replaced, two ids could become one
        raise DataError(
            f"document {document.id!r}: the id has half a surrogate pair, which is not a character"
        ) from None


def concatenate(tables: Sequence[DocumentTable], kinds: Mapping[str, str]) -> DocumentTable:
    """Tables one below the other; a field that a table does not have is empty there."""
    sizes = [len(table) for table in tables]
    values: dict[str, Strings | np.ndarray] = {}
    for name, kind in kinds.items():
        parts = [table.values.get(name) for table in tables]
        if kind in ("text", "keyword"):
            empty = [Strings(np.empty(0, np.uint8), np.zeros(n + 1, np.int64)) for n in sizes]
            values[name] = join([p if isinstance(p, Strings) else e for p, e in zip(parts, empty, strict=True)])
        else:
            fill = np.nan if kind == "number" else NO_DATE
            filled = [p if isinstance(p, np.ndarray) else np.full(n, fill) for p, n in zip(parts, sizes, strict=True)]
            values[name] = np.concatenate([np.full(0, fill), *filled])  # there may be no table
    links = Links(
        join_offsets([table.links.offsets for table in tables]),
        join([table.links.targets for table in tables]),
        join([table.links.anchors for table in tables]),
    )
    return DocumentTable(join([table.ids for table in tables]), values, links)
