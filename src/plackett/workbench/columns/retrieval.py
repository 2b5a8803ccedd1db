"""A column that searches an index with a retrieval model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.text.index.index import Index
from plackett.text.retrieval.base import RetrievalModel, as_queries
from plackett.text.search.query import parse
from plackett.text.search.searching import Hit, best_documents
from plackett.workbench.columns.base import Column, Query, Ranked, part


class ModelColumn(Column):
    """A retrieval model; queries are plain words."""

    kind: ClassVar[str] = "model"

    def __init__(self, name: str, index: Index, model: RetrievalModel, about: str = "retrieval model") -> None:
        super().__init__(name, about)
        self.index, self.model = index, model

    def rank(self, query: Query, k: int, filters: str = "") -> Ranked:
        """The k best documents among those that meet the filters."""
        if not filters:
            hits = self.model.search(self.index, [query.text], k, n_jobs=1)
            return _ranked(self.index, hits.documents, hits.scores)
        allowed = parse(filters, self.index, self.index.default_field).mask(self.index)
        hits = self.model.search(self.index, [query.text], self.index.n_documents, n_jobs=1)
        kept = np.flatnonzero(allowed[hits.documents])[:k]
        return _ranked(self.index, hits.documents[kept], hits.scores[kept])

    def run(self, queries: Mapping[str, str], k: int) -> dict[str, dict[str, float]]:
        """All queries at once."""
        asked = as_queries(queries, self.index)
        return self.model.search(self.index, asked, k).run(asked, self.index)

    def explain(self, query: Query, first: str, second: str | None, k: int, filters: str = "") -> dict[str, Any]:
        """What the score loses without each word of the query: exact for models that are sums over terms."""
        words = list(dict.fromkeys(query.text.split()))
        chosen = [docid for docid in (first, second) if docid is not None]
        documents = self.index.numbers(chosen)
        texts = [query.text, *(" ".join(w for w in query.text.split() if w != word) for word in words)]
        offsets = np.arange(len(texts) + 1) * documents.size
        scores = self.model.scores(self.index, texts, offsets, np.tile(documents, len(texts)), n_jobs=1)
        scores = scores.reshape(len(texts), documents.size)
        lost = scores[0] - scores[1:]
        parts = [
            part(word, own[0] - own[1], value=own[0], other=own[1]) if second else part(word, own[0], value=own[0])
            for word, own in zip(words, lost, strict=True)
        ]
        parts.sort(key=lambda p: -abs(p["contribution"] or 0))
        return {"method": "without each word", "parts": parts, "changes": [], "scores": scores[0].tolist()}


class BM25Column(Column):
    """BM25 as `plackett.text.search` has it, with the query language: phrases, fields, ranges."""

    kind: ClassVar[str] = "search"

    def __init__(self, name: str, index: Index, about: str = "BM25 with the query language") -> None:
        super().__init__(name, about)
        self.index = index

    def rank(self, query: Query, k: int, filters: str = "") -> Ranked:
        """The k best documents."""
        plain = query.qid is not None and is_plain(self.index, query.text)
        documents, scores, _ = best_documents(self.index, query.text, k, plain=plain, filters=filters or None)
        return _ranked(self.index, documents, scores)

    def explain(self, query: Query, first: str, second: str | None, k: int, filters: str = "") -> dict[str, Any]:
        """The terms of the score."""
        plain = query.qid is not None and is_plain(self.index, query.text)
        _, _, terms = best_documents(self.index, query.text, 1, plain=plain, filters=filters or None)
        sums: list[dict[str, Any]] = []
        for docid in (first, second):
            number = -1 if docid is None else int(self.index.numbers([docid])[0])
            weights = [] if number < 0 else Hit(str(docid), 0.0, number, self.index, terms).explain()
            sums.append({f"{one.field}:{one.term}": one for one in weights})
        parts = []
        for name in dict.fromkeys([*sums[0], *sums[1]]):
            a, b = (own[name].weight if name in own else 0.0 for own in sums)
            counts = [own[name].count if name in own else 0 for own in sums]
            frequency = next(own[name].document_frequency for own in sums if name in own)
            if second is None:
                parts.append(part(name, a, value=a, count=counts[0], documents=frequency))
            else:
                more = {"count": counts[0], "other_count": counts[1], "documents": frequency}
                parts.append(part(name, a - b, value=a, other=b, **more))
        parts.sort(key=lambda p: -abs(p["contribution"] or 0))
        scores = [sum(one.weight for one in own.values()) for own in sums]
        return {"method": "terms of BM25", "parts": parts, "changes": [], "scores": scores}


def is_plain(index: Index, text: str) -> bool:
    """Whether a query of a set is plain words: the query language cannot parse it, such as ``what is (``."""
    try:
        parse(text, index, index.default_field)
    except DataError:
        return True
    return False


def _ranked(index: Index, documents: np.ndarray, scores: np.ndarray) -> Ranked:
    names = index.ids.take(np.asarray(documents, np.int64)).to_numpy().tolist()
    return Ranked([str(name) for name in names], np.asarray(scores, np.float64).tolist())
