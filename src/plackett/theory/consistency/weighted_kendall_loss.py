"""Kendall's τ with weights of positions, as a true loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.fenwick import tree_add, tree_sum
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett.data.arguments import array, matching, row_scores
from plackett.data.dataset import RankingDataset
from plackett.losses.pairwise.base import label_order
from plackett.theory.risks.associate_loss import AssociateLoss

__all__ = ["WeightedKendall", "kendall_dcg_gap"]


@dataclass(frozen=True)
class WeightedKendall(AssociateLoss):
    r"""Weighted Kendall's τ loss :math:`\sum_{u<v} D(u, v)\, 1[s_{(u)} \le s_{(v)}]`, (u) the document at true rank u.

    Tied scores are an error. True ranks are those by label; documents of equal label do not form a pair, and share the
    mean weight of their ranks.

    Parameters
    ----------
    weights
        None for D = 1; one number D(u) for each rank (more ranks count as the last) for difference weights
        :math:`D(u) - D(v)`, which are counted in n log n; or a table D(u, v).

    References
    ----------
    Lan, Zhu, Guo, Niu, Cheng. 2012.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [2, 1, 0])
    >>> scores = np.array([2.0, 3.0, 1.0])  # the first two are the wrong way round
    >>> WeightedKendall().sums(scores, data).tolist(), WeightedKendall((3.0, 1.0, 0.0)).sums(scores, data).tolist()
    ([1.0], [2.0])
    """

    weights: Any = None
    associate = "list"

    def __post_init__(self) -> None:
        if self.weights is not None:
            table = array("weights", self.weights, None)
            if table.ndim not in (1, 2) or (table.ndim == 2 and table.shape[0] != table.shape[1]):
                raise DataError(
                    f"weights have shape {table.shape}; give one number for each rank, or a square table of them"
                )
            object.__setattr__(self, "weights", tuple(map(tuple, table)) if table.ndim == 2 else tuple(table))

    def sums(self, scores: np.ndarray, data: RankingDataset) -> np.ndarray:
        """The loss of each query."""
        scores = row_scores(data, scores)
        table = np.ones(1) if self.weights is None else np.array(self.weights, np.float64)
        order, below, judged = label_order(data)
        out = np.zeros(data.n_queries)
        longest = int(data.group.max(initial=1))
        if table.ndim == 2 or self.weights is None:
            whole = np.ones((longest, longest)) if self.weights is None else _enlarged(table, longest)
            over_queries(_by_table, data.offsets, scores, order, below, judged, whole, out)
        else:
            ranks = table[np.minimum(np.arange(longest), table.size - 1)]
            over_queries(_by_difference, data.offsets, scores, order, below, judged, ranks, out)
        return out


def _enlarged(table: np.ndarray, n: int) -> np.ndarray:
    rank = np.minimum(np.arange(n), table.shape[0] - 1)
    return np.ascontiguousarray(table[np.ix_(rank, rank)])


def kendall_dcg_gap(scores: Any, gains: Any) -> tuple[float, float]:
    r"""The loss of DCG with linear discounts, and the difference-weighted Kendall's τ, which are equal.

    With the discount :math:`m - r` of rank r and the gains as weights of the true ranks, the distance from the largest
    DCG is the sum over inverted pairs of the difference of their gains.

    Parameters
    ----------
    scores, gains
        Of the documents of a list, without ties of scores.

    References
    ----------
    Lan, Zhu, Guo, Niu, Cheng. 2012.

    Examples
    --------
    >>> kendall_dcg_gap([1.0, 3.0, 2.0], [5.0, 1.0, 0.0])
    (9.0, 9.0)
    """
    s, g = array("scores", scores), array("gains", gains)
    matching(scores=s, gains=g)
    if np.unique(s).size < s.size:
        raise DataError("scores tie: the two sides are equal only without ties")
    discount = np.arange(s.size - 1.0, -1.0, -1.0)
    best = float(np.sort(g)[::-1] @ discount)
    data = RankingDataset.from_arrays(None, np.argsort(np.argsort(g, kind="stable"), kind="stable").astype(float))
    loss = WeightedKendall(tuple(np.sort(g)[::-1]))
    # ties of gains weigh 0 whichever way round
    return best - float(g[np.argsort(-s, kind="stable")] @ discount), float(loss.sums(s, data)[0])


@kernel
def _by_table(lo, hi, offsets, scores, order, below, judged, table, out):
    for q in range(lo, hi):
        a = offsets[q]
        total = 0.0
        for u in range(judged[q]):
            for v in range(below[a + u], judged[q]):
                if scores[order[a + u]] <= scores[order[a + v]]:
                    total += table[u, v]
        out[q] = total


@kernel
def _by_difference(lo, hi, offsets, scores, order, below, judged, ranks, out):
    n_max = longest(lo, hi, offsets)
    keys, rows, spare_keys, spare_rows = sorting_memory(n_max)
    level = np.empty(n_max, np.int64)
    tree = np.empty(n_max + 1, np.float64)
    for q in range(lo, hi):
        a = offsets[q]
        n = judged[q]
        for i in range(n):
            keys[i] = scores[order[a + i]]
        argsort_descending(keys, rows, spare_keys, spare_rows, n)
        levels = 0
        for i in range(n):  # equal scores share a level; keys are sorted now
            if i > 0 and keys[i] < keys[i - 1]:
                levels += 1
            level[rows[i]] = levels
        total = 0.0
        # from the bottom of the truth: how many of lower label score at least as high
        tree[: n + 1] = 0.0
        stop = n
        while stop > 0:
            start = stop - 1
            while start > 0 and below[a + start - 1] == stop:
                start -= 1
            weight = 0.0
            for u in range(start, stop):
                weight += ranks[u] / (stop - start)
            for u in range(start, stop):
                total += weight * tree_sum(tree, level[u] + 1)
            for u in range(start, stop):
                tree_add(tree, n, level[u], 1.0)
            stop = start
        # from the top: how many of higher label score at most as high
        tree[: n + 1] = 0.0
        seen = 0
        start = 0
        while start < n:
            stop = below[a + start]
            weight = 0.0
            for v in range(start, stop):
                weight += ranks[v] / (stop - start)
            for v in range(start, stop):
                total -= weight * (seen - tree_sum(tree, level[v]))
            for v in range(start, stop):
                tree_add(tree, n, level[v], 1.0)
            seen += stop - start
            start = stop
        out[q] = total
