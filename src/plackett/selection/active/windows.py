"""Selective sampling: documents that the ranker can hardly tell apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.arguments import whole
from plackett._kernels.kernel import kernel
from plackett.data.dataset import RankingDataset
from plackett.selection.budget import checked_budget, share
from plackett.selection.candidates import Candidates
from plackett.selection.result import Selection

__all__ = ["svm_sampling"]


def closest_window(scores: Any, k: int) -> np.ndarray:
    r"""Numbers of the k scores that are closest together: smallest :math:`\sum_{u<v} |f_u - f_v|`.

    The best set is consecutive in the sorted list, so one pass over the windows of size k finds it.

    >>> closest_window([5.0, 0.0, 2.1, 9.0, 2.0], 2).tolist()
    [2, 4]
    """
    values = np.asarray(scores, np.float64)
    whole("k", k, least=1, most=values.size)
    order = np.argsort(values, kind="stable")
    start, _ = _best_window(values[order], 0, values.size, k)
    return np.sort(order[start : start + k])


def svm_sampling(data: RankingDataset, scores: Any, *, budget: int) -> Selection:
    r"""Choose, for each query, the documents that the current ranker finds hardest to tell apart.

    Among the documents of each query without a label (below 0), those consecutive ones in the ranked list are taken
    whose sum of score differences is smallest. A query that gets a single one gets the upper of its closest two. Label
    them, train again, and repeat; begin with a random choice.

    Parameters
    ----------
    data
        Documents, with label −1 where there is none yet.
    scores
        Scores of the current ranker.
    budget
        Number of pairs, spread evenly over the queries.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [-1, -1, -1, -1], docids=["a", "b", "c", "d"])
    >>> svm_sampling(data, [4.0, 1.0, 1.1, 3.0], budget=2).frame["docid"].to_list()
    ['b', 'c']

    References
    ----------
    Yu: SVM selective sampling for ranking with application to data retrieval. KDD 2005.
    """
    candidates = Candidates.from_dataset(data, scores)
    budget = checked_budget(budget, int(candidates.open.sum()))
    values = np.asarray(scores, np.float64)
    available = candidates.count(candidates.open)
    quota = share(budget, available)
    order = np.lexsort((values, candidates.query_of_row, ~candidates.open))[: int(available.sum())]
    offsets = np.concatenate(([0], np.cumsum(available)))
    size = np.where(quota > 0, np.clip(2, quota, available), 0)  # a single document says nothing about differences
    start, cost = np.zeros(quota.size, np.int64), np.zeros(quota.size)
    _windows(values[order], offsets, size, start, cost)
    start += size - quota
    inside = np.repeat(start, quota) + np.arange(budget) - np.repeat(np.cumsum(quota) - quota, quota)
    rows = np.sort(order[inside])
    width = np.full(candidates.n_rows, np.nan)
    width[rows] = (cost / np.maximum(size * (size - 1) / 2, 1))[candidates.query_of_row[rows]]

    def reason(row: int) -> str:
        q = candidates.query_of_row[row]
        if size[q] == 1:
            return "the only document of its query without a label"
        return f"one of {size[q]} documents whose scores differ by {width[row]:.3g} on average"

    priority = -np.nan_to_num(width)
    return Selection.of(candidates, rows, "svm_sampling", reason, priority, np.full(candidates.n_rows, np.nan))


@kernel
def _best_window(values, lo, hi, k):
    """Start and cost of the best window of k of the ascending values between lo and hi."""
    cost = 0.0
    total = 0.0  # of the values inside the window but its first
    for i in range(k):
        cost += (2 * i - k + 1) * values[lo + i]
        if i > 0:
            total += values[lo + i]
    best, start = cost, lo
    for i in range(lo + 1, hi - k + 1):
        cost += values[i - 1] * (k - 1) - total + values[i + k - 1] * (k - 1) - total
        if k > 1:
            total += values[i + k - 1] - values[i]
        if cost < best - 1e-12 * (1.0 + abs(best)):
            best, start = cost, i
    return start, best


@kernel
def _windows(values, offsets, quota, start, cost):
    for q in range(quota.size):
        if quota[q] > 0:
            start[q], cost[q] = _best_window(values, offsets[q], offsets[q + 1], quota[q])
