"""Minimal test collections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.selection.candidates import Candidates
from plackett.selection.pools.base import Choice, Pool, best_of_each_query

__all__ = ["MTCPool"]


def _pair_sums(candidates: Candidates, rank: np.ndarray, members: np.ndarray) -> np.ndarray:
    r"""For each row i of one run, :math:`\sum_{j \in members, j \ne i} 1/\max(\tau_i, \tau_j)`; 0 where it lacks i."""
    n = candidates.n_rows
    query = candidates.query_of_row
    order = np.lexsort((np.where(rank > 0, rank, n + 1), query))
    inside = (members & (rank > 0))[order].astype(np.float64)
    inverse = np.where(rank > 0, 1.0 / np.maximum(rank, 1), 0.0)[order]
    start = candidates.offsets[query]
    stop = candidates.offsets[query + 1]
    count = np.concatenate(([0.0], np.cumsum(inside)))
    mass = np.concatenate(([0.0], np.cumsum(inside * inverse)))
    at = np.arange(n)
    above = count[at] - count[start]
    below = mass[stop] - mass[at + 1]
    out = np.empty(n)
    out[order] = np.where(inverse > 0, above * inverse + below, 0.0)
    return out


def _own(rank: np.ndarray) -> np.ndarray:
    return np.where(rank > 0, 1.0 / np.maximum(rank, 1), 0.0)


def _spread(values: np.ndarray) -> np.ndarray:
    """Sum over all pairs of lines of the absolute difference, per column."""
    s = len(values)
    return (2.0 * np.arange(s) - s + 1.0) @ np.sort(values, axis=0)


def ap_difference_bounds(runs: Sequence[Any], judged: Any = None, *, rel: float = 1.0) -> np.ndarray:
    r"""Bounds of the difference of two runs in average precision times R, one line (lower, upper) per query.

    .. math:: \Delta = \sum_{i \le j} c_{ij} x_i x_j, \qquad
              c_{ij} = \frac1{\max(\tau^1_i, \tau^1_j)} - \frac1{\max(\tau^2_i, \tau^2_j)}

    Terms of documents without a judgement count where they lower the lower bound, or raise the upper one. With all
    candidates judged both are Δ; if zero is not between them, no further judgement can change which run is better.

    >>> a, b = {"q": {"x": 2, "y": 1}}, {"q": {"y": 2, "x": 1}}
    >>> ap_difference_bounds([a, b], {"q": {"x": 1, "y": 0}}).tolist()
    [[0.5, 0.5]]
    """
    candidates = runs if isinstance(runs, Candidates) else Candidates.from_runs(runs, judged)
    if len(candidates.rank) != 2:
        raise DataError(f"two runs are compared, got {len(candidates.rank)}")
    out = np.zeros((candidates.n_queries, 2))
    for q in range(candidates.n_queries):
        part = slice(candidates.offsets[q], candidates.offsets[q + 1])
        labels = candidates.labels[part]
        alive = np.isnan(labels) | (labels >= rel)  # documents that are not relevant drop out
        inverse = []
        for rank in candidates.rank[:, part][:, alive]:
            rank_or_inf = np.where(rank > 0, rank.astype(np.float64), np.inf)
            inverse.append(1.0 / np.maximum.outer(rank_or_inf, rank_or_inf))
        c = np.triu(inverse[0] - inverse[1])
        known = np.outer(*[~np.isnan(labels[alive])] * 2)
        certain = c[known].sum()
        out[q] = certain + np.minimum(c[~known], 0.0).sum(), certain + np.maximum(c[~known], 0.0).sum()
    return out


@dataclass(frozen=True)
class MTCPool(Pool):
    r"""Minimal test collections: the documents that say most about which run has the better average precision.

    AP times the number of relevant documents is :math:`\sum_{i \le j} x_i x_j / \max(\tau_i, \tau_j)`. For two runs
    the weight of a document is the larger of what Δ changes if it is relevant,
    :math:`|c_{ii} + \sum_{j \in R} c_{ij}|`, and what can no longer be added if it is not,
    :math:`|c_{ii} + \sum_{j \in R \cup U} c_{ij}|`, with R the relevant documents found so far and U those without a
    judgement. For more runs, weights are summed over the pairs of runs. Everything takes O(n log n) per run. Judge a
    few at a time and ask again.

    Parameters
    ----------
    rel
        Lowest label that counts as relevant.

    Examples
    --------
    >>> runs = [{"q": {"same": 3, "x": 2, "y": 1}}, {"q": {"same": 3, "y": 2, "x": 1}}]
    >>> MTCPool().select(runs, budget=1).frame["docid"].to_list()
    ['x']

    References
    ----------
    Carterette, Allan, Sitaraman: Minimal test collections for retrieval evaluation. SIGIR 2006.
    """

    rel: float = 1.0

    name: ClassVar[str] = "mtc"

    def weights(self, candidates: Candidates) -> tuple[np.ndarray, np.ndarray]:
        """Weight of each row if it is relevant, and if it is not."""
        relevant = ~candidates.open & (np.nan_to_num(candidates.labels, nan=-1.0) >= self.rel)
        if_relevant = np.array([_own(rank) + _pair_sums(candidates, rank, relevant) for rank in candidates.rank])
        possible = relevant | candidates.open
        if_not = np.array([_own(rank) + _pair_sums(candidates, rank, possible) for rank in candidates.rank])
        return _spread(if_relevant), _spread(if_not)

    def choose(self, candidates: Candidates, budget: int, rng: np.random.Generator) -> Choice:
        """Choose ``budget`` of the open rows."""
        if len(candidates.rank) < 2:
            raise DataError("a minimal test collection tells runs apart: give two runs or more")
        if_relevant, if_not = self.weights(candidates)
        priority = np.maximum(if_relevant, if_not)

        def reason(row: int) -> str:
            best, worst = candidates.rank[:, row].min(), candidates.rank[:, row].max()
            where = f"ranks {best} to {worst}" if best else f"missing in some runs, down to rank {worst} in others"
            return f"tells the runs apart by {priority[row]:.3g} in AP × R: {where}"

        unknown = np.full(candidates.n_rows, np.nan)
        return Choice(best_of_each_query(candidates, priority, budget), priority, unknown, reason)
