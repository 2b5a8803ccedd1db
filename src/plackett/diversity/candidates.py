"""The candidates of each query, with what re-rankers look at: relevance, aspects, similarity."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett.data.dataset import RankingDataset
from plackett.data.estimators import scores_of
from plackett.data.relations import Relation


@dataclass(frozen=True, eq=False)
class ScoredCandidates:
    """The documents of each query by decreasing score, as flat arrays for kernels.

    Attributes
    ----------
    order
        Rows of the dataset, query by query, by decreasing score.
    relevance
        Relevance of each row of the dataset.
    chosen, candidates
        Number of documents to choose and of candidates of each query.
    aspects, aspect_weight
        Quality of each row for each aspect, and probability of each aspect of each query.
    vectors
        Unit vectors of the rows; no columns if a relation says what is similar.
    pointers, other, weight
        The relation as a sparse matrix; empty if there are vectors.
    """

    data: RankingDataset
    order: np.ndarray
    relevance: np.ndarray
    chosen: np.ndarray
    candidates: np.ndarray
    aspects: np.ndarray | None = None
    aspect_weight: np.ndarray | None = None
    vectors: np.ndarray | None = None
    pointers: np.ndarray | None = None
    other: np.ndarray | None = None
    weight: np.ndarray | None = None

    @classmethod
    def of(
        cls, data: RankingDataset, scores: Any, k: int | None, depth: int | None, relevance: str
    ) -> ScoredCandidates:
        """Sort the documents of each query by their scores."""
        scores = scores_of(data, scores)
        bad = np.flatnonzero(~np.isfinite(scores))
        if bad.size:
            query = data.qids[data.query_of_row[bad[0]]]
            raise DataError(f"score {bad[0]} (query {query}) is {scores[bad[0]]}; scores must be finite")
        candidates = data.group if depth is None else np.minimum(data.group, depth)
        chosen = candidates if k is None else np.minimum(candidates, k)
        order = np.lexsort((-scores, data.query_of_row))
        values = scores
        if relevance != "none" and data.n_rows:
            filled = data.group > 0
            starts = data.offsets[:-1][filled]
            low = np.repeat(np.minimum.reduceat(scores, starts), data.group[filled])
            scale = np.maximum.reduceat(scores, starts) - np.minimum.reduceat(scores, starts)
            if relevance == "sum":
                scale = np.add.reduceat(scores - low, starts)
            scale = np.repeat(scale, data.group[filled])
            with np.errstate(invalid="ignore", divide="ignore"):
                values = np.where(scale > 0.0, (scores - low) / scale, 1.0)  # equal scores are equally relevant
        return cls(data, order, values, chosen, candidates)

    def with_aspects(self, aspects: Any, weight: Any) -> ScoredCandidates:
        """Add the aspects of the queries."""
        if aspects is None:
            raise DataError("aspects are needed: how well each document serves each aspect of its query, (rows, T)")
        table = np.nan_to_num(_table(aspects, "aspects", self.data.n_rows, "rows"), nan=0.0)
        if table.size and not (table.min() >= 0.0 and table.max() <= 1.0):
            raise DataError("aspects must be from 0 to 1 (probabilities that a document serves the aspect)")
        if weight is None:
            weights = np.full((self.data.n_queries, table.shape[1]), 1.0 / max(table.shape[1], 1))
        else:
            weights = _table(weight, "aspect_weight", self.data.n_queries, "queries")
            if weights.shape[1] != table.shape[1]:
                raise DataError(f"aspect_weight has {weights.shape[1]} aspects, aspects {table.shape[1]}")
            if not (weights >= 0.0).all():
                raise DataError("aspect_weight must be 0 or more")
        return replace(self, aspects=table, aspect_weight=weights)

    def with_similarity(self, similarity: Any) -> ScoredCandidates:
        """Add what makes documents alike."""
        data = self.data
        if similarity is None:
            similarity = "similarity" if "similarity" in (data.relations or {}) else data.dense()
        if isinstance(similarity, str):
            known = data.relations or {}
            if similarity not in known:
                available = f"its relations are {', '.join(known)}" if known else "it has no relations"
                raise DataError(f"similarity={similarity!r}: the dataset has no such relation; {available}")
            similarity = known[similarity]
        if isinstance(similarity, Relation):
            relation = similarity.regrouped(None, data.offsets).symmetric()
            if relation.weight is not None and not (
                relation.weight.min(initial=0) >= 0 and relation.weight.max(initial=0) <= 1
            ):
                raise DataError("similarities must be from 0 to 1")
            return replace(
                self,
                vectors=np.empty((data.n_rows, 0), np.float32),
                pointers=relation.pointers(data.n_rows),
                other=relation.other,
                weight=np.ascontiguousarray(relation.weights),
            )
        vectors = np.nan_to_num(_table(similarity, "similarity", data.n_rows, "rows"), nan=0.0)
        if vectors.shape[1] == 0:
            raise DataError(
                "similarity: the dataset has neither a relation 'similarity' nor features; give a relation or vectors"
            )
        length = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
        unit = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0).astype(np.float32)
        none = np.empty(0, np.int64)
        return replace(self, vectors=unit, pointers=none, other=none, weight=np.empty(0))


def _table(values: Any, name: str, size: int, of: str) -> np.ndarray:
    try:
        table = np.ascontiguousarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be numbers: {error}") from None
    if table.ndim != 2 or table.shape[0] != size:
        raise DataError(f"{name} has shape {table.shape}, but there are {size} {of}")
    if np.isinf(table).any():
        raise DataError(f"{name} has infinite values")
    return table


@kernel
def similar_to(row, first, last, vectors, pointers, other, weight, out):
    """Similarity of one row to the rows from ``first`` to ``last`` of its query, into ``out``; from 0 to 1."""
    if vectors.shape[1] > 0:
        for i in range(first, last):
            dot = np.float32(0.0)
            for j in range(vectors.shape[1]):
                dot += vectors[row, j] * vectors[i, j]
            out[i - first] = min(max(dot, 0.0), 1.0)
        return
    out[: last - first] = 0.0
    for p in range(pointers[row], pointers[row + 1]):
        out[other[p] - first] = weight[p]


@kernel
def best_first(order, first, rows, value, k):
    """The k rows of the largest values, best first, then the others as they were."""
    best = np.argsort(-value, kind="mergesort")
    taken = np.zeros(value.size, np.bool_)
    for r in range(k):
        order[first + r] = rows[best[r]]
        taken[best[r]] = True
    the_rest(order, first + k, rows, taken, value.size)


@kernel
def the_rest(order, rank, rows, taken, n):
    """Write the candidates that were not taken to ``order`` from ``rank`` on, in their old order."""
    for i in range(n):
        if not taken[i]:
            order[rank] = rows[i]
            rank += 1
