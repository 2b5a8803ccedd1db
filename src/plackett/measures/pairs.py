"""Count the pairs that a ranking gets right, wrong or leaves tied, in O(n log n) without listing them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.fenwick import distinct, level_of, tree_add, tree_sum
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.scratch import longest
from plackett.data.dataset import RankingDataset
from plackett.data.weights import given_or_ones
from plackett.measures.base import Measure
from plackett.measures.ranking import Ranking, Scored

#: What a pair of equal scores is worth under the rules that do not break ties by an order.
_TIED_WORTH = {"expected": 0.5, "optimistic": 1.0, "pessimistic": 0.0}


@dataclass(frozen=True, kw_only=True, repr=False)
class PairMeasure(Measure):
    """Base of measures that are a function of the right and the wrong pairs of each query.

    Pairs have unequal labels; unjudged documents form no pairs. A dataset without labels is measured on its explicit
    `preferences`, with their weights. Documents that were not retrieved are ranked last, tied.
    Ties: a tied pair is half right under ``expected``, right under ``optimistic``, wrong under ``pessimistic``.
    """

    def of_counts(self, right: np.ndarray, wrong: np.ndarray) -> np.ndarray:
        """The measure, from the right and wrong pairs of each query."""
        raise NotImplementedError

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        right, wrong, tied, _ = pair_counts(ranking).T
        return self.of_counts(right + 0.5 * tied, wrong + 0.5 * tied)

    def per_query(self, scored: Scored) -> np.ndarray:
        """One number per query, from labels or, if there are none, from preferences."""
        if scored.data.y is not None or scored.data.preferences is None:
            return super().per_query(scored)
        values = self.of_counts(*preference_counts(scored, self.ties))
        return values if self.empty == "skip" else np.where(np.isnan(values), self.empty, values)


def pair_counts(ranking: Ranking, weight: np.ndarray | None = None) -> np.ndarray:
    """Pairs of each query, as columns: right, wrong, tied in score only, tied in label only.

    Parameters
    ----------
    weight
        Weight of each row of the dataset; a pair weighs the product of its two. Without it, every pair weighs 1.
    """
    out = np.empty((ranking.data.n_queries, 4))
    weights = np.empty(0) if weight is None else weight[ranking.rows]
    over_queries(
        _pair_counts,
        ranking.offsets,
        ranking.labels,
        ranking.depth,
        ranking.tie_end,
        ranking.data.sorted_labels,
        weights,
        out,
        n_jobs=ranking.n_jobs,
    )
    return out


def preference_counts(scored: Scored, ties: str) -> tuple[np.ndarray, np.ndarray]:
    """Weight of the preferences of each query that the scores agree with and contradict."""
    data = scored.data
    pairs = data.preferences
    if pairs is None:
        raise DataError("this dataset has neither labels nor preferences: there are no pairs to count")
    if ties in _TIED_WORTH:
        # a document that was not retrieved ranks below all others
        height = np.where(scored.retrieved, scored.scores, -np.inf)
    else:
        unlabelled = data.replace(y=np.zeros(data.n_rows))
        ranking = Scored(unlabelled, scored.scores, scored.retrieved, random_state=scored.random_state).ranking(ties)
        height = np.empty(data.n_rows)
        height[ranking.rows] = -np.arange(float(data.n_rows))
        height[~scored.retrieved] = -np.inf
    winner, loser = height[pairs.winner], height[pairs.loser]
    right = np.where(winner == loser, _TIED_WORTH.get(ties, 0.5), winner > loser)
    weight = given_or_ones(pairs.weight, len(pairs))
    query = data.query_of_row[pairs.winner]
    matched = np.bincount(query, right * weight, data.n_queries)
    return matched, np.bincount(query, (1.0 - right) * weight, data.n_queries)


def correlated(a: Any, b: Any, qid: Any = None, ties: str = "expected") -> Ranking:
    """The ranking by ``a`` of documents whose labels are the ordinals of ``b``, to compare two lists of scores."""
    values = np.asarray(b, np.float64)
    if values.ndim != 1 or np.isnan(values).any():
        raise DataError(f"scores must be one column of numbers without NaN, got shape {values.shape}")
    data = RankingDataset.from_arrays(None, np.unique(values, return_inverse=True)[1], qid)
    return Scored(data, data.from_input_order(a)).ranking(ties)


def per_query_or_float(values: np.ndarray, qid: Any) -> float | np.ndarray:
    """The result of a function of two lists: one number for one list, an array if queries are given."""
    return float(values[0]) if qid is None else values


@kernel(inline=True)
def block_end(i, a, b, depth, tie_end):
    """End of the tied block at position ``i`` of a query ``a..b``; what was not retrieved is one block."""
    return tie_end[i] if i < a + depth else b


@kernel
def _pair_counts(lo, hi, offsets, labels, depth, tie_end, ideal, weight, out):
    n_max = longest(lo, hi, offsets)
    levels = np.empty(n_max)
    code = np.empty(n_max, np.int64)
    tree = np.empty(n_max + 1)
    seen = np.empty(n_max)  # weight above the block, by level
    block = np.empty(n_max)  # weight inside the block, by level
    for q in range(lo, hi):
        a = offsets[q]
        b = offsets[q + 1]
        n = distinct(ideal, a, b, levels)
        tree[: n + 1] = 0.0
        seen[:n] = 0.0
        block[:n] = 0.0
        right = 0.0
        wrong = 0.0
        tied = 0.0
        same = 0.0
        above = 0.0
        start = a
        while start < b:
            stop = block_end(start, a, b, depth[q], tie_end)
            inside = 0.0
            for i in range(start, stop):
                if labels[i] < 0:
                    continue
                c = level_of(levels, n, labels[i])
                code[i - a] = c
                w = weight[i] if weight.size > 0 else 1.0
                higher = tree_sum(tree, c)
                right += w * higher
                same += w * seen[c]
                wrong += w * (above - higher - seen[c])
                tied += w * (inside - block[c])
                inside += w
                block[c] += w
            for i in range(start, stop):
                if labels[i] < 0:
                    continue
                c = code[i - a]
                w = weight[i] if weight.size > 0 else 1.0
                tree_add(tree, n, c, w)
                seen[c] += w
                block[c] = 0.0
            above += inside
            start = stop
        out[q, 0] = right
        out[q, 1] = wrong
        out[q, 2] = tied
        out[q, 3] = same
