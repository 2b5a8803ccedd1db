"""The pairs of query and document that a model knows, found again in other logs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.clicks._codes import codes, find_codes
from plackett.clicks.log import ClickLog
from plackett.data.grouping import ids_array
from plackett.data.strings import pack_ids, unpack_ids


class PairTable:
    """Distinct pairs of query and document.

    Attributes
    ----------
    queries, documents
        Ids.
    query, document
        Codes of each pair, int32.
    """

    def __init__(self, queries: np.ndarray, documents: np.ndarray, query: np.ndarray, document: np.ndarray) -> None:
        self.queries, self.documents = queries, documents
        self.query, self.document = query, document
        self._sorted: tuple[np.ndarray, np.ndarray] | None = None

    @classmethod
    def of(cls, log: ClickLog) -> PairTable:
        """Pairs of a log, in its numbering."""
        return cls(log.queries, log.documents, log.pair_query, log.pair_document)

    @classmethod
    def concat(cls, tables: Sequence[PairTable]) -> PairTable:
        """The pairs of several tables, one after another; a query may be in one of them only."""
        queries, documents = (
            [getattr(table, name) for table in tables if len(table)] for name in ("queries", "documents")
        )
        if not queries:
            raise DataError("there are no pairs")
        for ids, name in ((queries, "queries"), (documents, "documents")):
            if len({each.dtype.kind for each in ids}) > 1:
                raise DataError(f"{name} are whole numbers in one block and texts in another")
        used = [table for table in tables if len(table)]
        asked = [table.queries[np.unique(table.query)] for table in used]
        distinct = codes(np.concatenate(asked), "queries")[1]
        if distinct.size < sum(each.size for each in asked):
            raise DataError("a query is in more than one block; a block has whole queries")
        merged = []
        for name in ("query", "document"):
            ids = queries if name == "query" else documents
            code, known = codes(np.concatenate(ids), name)
            starts = np.cumsum([0, *(each.size for each in ids)])
            new_codes = [code[a + getattr(table, name)] for a, table in zip(starts, used, strict=False)]
            merged.append((np.concatenate(new_codes).astype(np.int32), known))
        (query, known_queries), (document, known_documents) = merged
        return cls(known_queries, known_documents, query, document)

    def __len__(self) -> int:
        return self.query.size

    def _index(self) -> tuple[np.ndarray, np.ndarray]:
        if self._sorted is None:
            key = self.query.astype(np.int64) * self.documents.size + self.document
            order = np.argsort(key, kind="stable")
            self._sorted = key[order], order
        return self._sorted

    def find(self, query: Any, document: Any) -> np.ndarray:
        """Number of each pair of ids, -1 where it is not known."""
        q = find_codes(ids_array(query, "query"), self.queries)
        d = find_codes(ids_array(document, "document"), self.documents)
        return self._find(q, d)

    def _find(self, q: np.ndarray, d: np.ndarray) -> np.ndarray:
        keys, order = self._index()
        if keys.size == 0:
            return np.full(q.size, -1)
        wanted = np.where((q >= 0) & (d >= 0), q.astype(np.int64) * self.documents.size + d, -1)
        candidate = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        return np.where(keys[candidate] == wanted, order[candidate], -1)

    def in_log(self, log: ClickLog) -> np.ndarray:
        """Number of each pair of a log, -1 where it is not known."""
        if log.pair_query is self.query and log.pair_document is self.document:
            return np.arange(len(self))
        same = log.queries is self.queries, log.documents is self.documents
        q = log.pair_query if same[0] else find_codes(log.queries, self.queries)[log.pair_query]
        d = log.pair_document if same[1] else find_codes(log.documents, self.documents)[log.pair_document]
        return self._find(q, d)

    def arrays(self) -> dict[str, np.ndarray]:
        """Arrays for a file."""
        ids = pack_ids("queries", self.queries) | pack_ids("documents", self.documents)
        return ids | {"pair.query": self.query, "pair.document": self.document}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> PairTable:
        """Read back, checked."""
        queries, documents = unpack_ids(arrays, "queries"), unpack_ids(arrays, "documents")
        query, document = arrays.get("pair.query"), arrays.get("pair.document")
        if queries is None or documents is None or query is None or document is None:
            raise DataError("pairs are missing")
        for code, ids in ((query, queries), (document, documents)):
            if code.dtype != np.int32 or code.shape != query.shape or code.ndim != 1:
                raise DataError("the pairs are not integer codes")
            if code.size and not 0 <= code.min() <= code.max() < ids.size:
                raise DataError("a pair has a code without an id")
        return cls(queries, documents, query, document)
