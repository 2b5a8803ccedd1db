"""Relevant documents per query: how many there are, and how many are at the top."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.measures.ranking import Ranking


def n_relevant(ranking: Ranking, rel: float) -> np.ndarray:
    """Number of documents of each query, retrieved or not, with a label of at least ``rel``; int64."""
    data = ranking.data

    def count() -> np.ndarray:
        out = np.empty(data.n_queries, np.int64)
        over_queries(_count, data.offsets, data.labels, float(rel), out, n_jobs=ranking.n_jobs)
        return out

    key = ("relevant", float(rel))
    if key not in data.memo:
        data.memo[key] = count()
    return data.memo[key]


def where_relevant(ranking: Ranking, rel: float, values: np.ndarray) -> np.ndarray:
    """The values, with NaN for queries without a relevant document."""
    return np.where(n_relevant(ranking, rel) > 0, values, np.nan)


def any_positive(ranking: Ranking) -> np.ndarray:
    """Whether each query has a document with a label above 0."""
    least = 1.0 if ranking.data.max_grade is not None else float(np.nextafter(0.0, 1.0))
    return n_relevant(ranking, least) > 0


def best_labels(ranking: Ranking) -> np.ndarray:
    """Largest label of each query; -1 where it has no documents."""
    data = ranking.data
    out = np.full(data.n_queries, -1.0)
    filled = data.group > 0
    out[filled] = data.sorted_labels[data.offsets[:-1][filled]]
    return out


def hits(ranking: Ranking, rel: Any, k: Any) -> np.ndarray:
    """Number of documents with a label of at least ``rel`` among the first ``k``: its mean over the orders of ties.

    Both are numbers or arrays over the queries; ``k`` None is all that were retrieved.
    """

    def count() -> np.ndarray:
        n = ranking.data.n_queries
        least = np.array(np.broadcast_to(rel, n), np.float64)
        cut = np.array(np.broadcast_to(np.iinfo(np.int64).max if k is None else k, n), np.int64)
        return ranking.run(_hits, least, cut)

    if isinstance(rel, np.ndarray) or isinstance(k, np.ndarray):
        return count()
    return ranking.once(("hits", float(rel), k), count)


def relevance(ranking: Ranking, rel: float) -> tuple[np.ndarray, np.ndarray]:
    """0 or 1 at each position as values and table (see `plackett.measures.gains.position_gains`)."""
    grade = ranking.data.max_grade
    if grade is not None:
        return ranking.labels, (np.arange(grade + 1.0) >= rel).astype(np.float64)
    return ranking.once(("relevance", rel), lambda: (ranking.labels >= rel).astype(np.float64)), np.empty(0)


@kernel
def count_relevant(labels, start, stop, rel):
    """Number of positions start..stop with a label of at least ``rel``."""
    n = 0
    for i in range(start, stop):
        n += 1 if labels[i] >= rel else 0
    return n


@kernel
def _count(lo, hi, offsets, labels, rel, out):
    for q in range(lo, hi):
        out[q] = count_relevant(labels, offsets[q], offsets[q + 1], rel)


@kernel
def _hits(lo, hi, offsets, labels, depth, tie_end, least, cut, out):
    for q in range(lo, hi):
        i = offsets[q]
        stop = i + min(cut[q], depth[q])
        n_hits = 0.0
        while i < stop:
            end = tie_end[i]
            inside = count_relevant(labels, i, end, least[q])
            n_hits += inside if end <= stop else inside * (stop - i) / (end - i)
            i = end
        out[q] = n_hits
