"""Precision at K %: the share of matched pairs among those with the largest score differences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from plackett._base.errors import DataError, MeasureError
from plackett._kernels.fenwick import distinct, level_of, tree_add, tree_sum
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.scratch import longest
from plackett.data.dataset import RankingDataset
from plackett.measures.ranking import Scored

__all__ = ["pair_precision"]


def pair_precision(
    data: RankingDataset, scores: Any, percent: float | Iterable[float] = (20, 40, 60, 80, 100)
) -> np.ndarray:
    r"""Precision at K %: share of matched pairs among the K % of pairs with the largest difference of scores.

    Sort all pairs of unequal labels of all queries by :math:`|s_u - s_v|`, largest first, and take the share of the
    first K % whose scores are in the order of the labels. At 100 it is the share of matched pairs of the dataset.

    Rules: a pair of equal scores is half matched. Pairs with the same difference at the boundary count in proportion,
    so the result does not depend on any order. Unjudged documents form no pairs. Pairs are never stored: the boundary
    is found by bisection over counts that take one pass over the sorted scores of each query.

    Parameters
    ----------
    data
        Dataset with labels.
    scores
        One score per row; larger is better.
    percent
        One K or several, above 0 and up to 100.

    Returns
    -------
    numpy.ndarray
        One number for each K.

    References
    ----------
    Zheng, Zha, Sun: Query-level learning to rank using isotonic regression. Allerton 2008.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [2, 1, 0])
    >>> pair_precision(data, [3.0, 0.5, 1.0], [50, 100]).round(4).tolist()  # 2 > 1: 2.5, 2 > 0: 2, 1 > 0 wrong
    [1.0, 0.6667]
    """
    wanted = np.atleast_1d(np.asarray(percent, np.float64))
    if wanted.ndim != 1 or not ((wanted > 0) & (wanted <= 100)).all():
        raise MeasureError(f"percent={percent!r}; give numbers above 0 and up to 100")
    scored = Scored(data, scores)
    ranking = scored.ranking("expected")
    ranked = scored.scores[ranking.rows]
    if not np.isfinite(ranked).all():
        raise DataError("pair_precision compares differences of scores; every score must be finite")
    codes, n_levels = np.empty(data.n_rows, np.int64), np.empty(data.n_queries, np.int64)
    over_queries(_code, data.offsets, ranking.labels, data.sorted_labels, codes, n_levels)

    def count(kernel: Any, limit: float) -> float:
        out = np.empty(data.n_queries)
        over_queries(kernel, data.offsets, codes, n_levels, ranked, limit, out)
        return float(out.sum())

    all_pairs, all_matched = count(_beyond, -1.0), count(_matched_beyond, -1.0)
    if all_pairs == 0:
        raise MeasureError("there is no pair of unequal labels in any query")

    def share(size: float) -> float:
        """Share of matched pairs among the first ``size`` pairs."""
        if size >= all_pairs:
            return all_matched / all_pairs
        # Nonnegative floats sort like their bits. More than `size` pairs differ by more than `low` (all
        # pairs at the start), no more than `size` by more than `high`.
        low, high = -1, int(np.float64(np.inf).view(np.int64))
        while high - low > 1:
            middle = (low + high) // 2
            if count(_beyond, _number(middle)) > size:
                low = middle
            else:
                high = middle
        outer, outer_matched = count(_beyond, _number(high)), count(_matched_beyond, _number(high))
        inner, inner_matched = all_pairs, all_matched
        if low >= 0:
            inner, inner_matched = count(_beyond, _number(low)), count(_matched_beyond, _number(low))
        part = (size - outer) / (inner - outer)
        return (outer_matched + part * (inner_matched - outer_matched)) / size

    return np.array([share(k / 100.0 * all_pairs) for k in wanted])


def _number(bits: int) -> float:
    return float(np.int64(bits).view(np.float64))


@kernel
def _code(lo, hi, offsets, labels, ideal, codes, n_levels):  # type: ignore[no-untyped-def]
    n_max = longest(lo, hi, offsets)
    levels = np.empty(n_max)
    for q in range(lo, hi):
        n = distinct(ideal, offsets[q], offsets[q + 1], levels)
        n_levels[q] = n
        for i in range(offsets[q], offsets[q + 1]):
            codes[i] = level_of(levels, n, labels[i]) if labels[i] >= 0 else -1


@kernel
def _beyond(lo, hi, offsets, codes, n_levels, scores, limit, out):  # type: ignore[no-untyped-def]
    """Number of pairs of each query whose scores differ by more than the limit."""
    most = 0
    for q in range(lo, hi):
        most = max(most, n_levels[q])
    seen = np.empty(most)
    for q in range(lo, hi):
        seen[: n_levels[q]] = 0.0
        above = 0.0
        total = 0.0
        j = offsets[q]
        for i in range(offsets[q], offsets[q + 1]):
            while j < i and scores[j] - scores[i] > limit:
                if codes[j] >= 0:
                    seen[codes[j]] += 1.0
                    above += 1.0
                j += 1
            if codes[i] >= 0:
                total += above - seen[codes[i]]
        out[q] = total


@kernel
def _matched_beyond(lo, hi, offsets, codes, n_levels, scores, limit, out):  # type: ignore[no-untyped-def]
    """How many of those are matched; a limit below 0 includes pairs of equal scores, half of which are."""
    most = 0
    for q in range(lo, hi):
        most = max(most, n_levels[q])
    tree = np.empty(most + 1)
    seen = np.zeros(most)
    for q in range(lo, hi):
        n = n_levels[q]
        tree[: n + 1] = 0.0
        matched = 0.0
        inside = 0.0
        start = offsets[q]
        j = start
        for i in range(start, offsets[q + 1]):
            if scores[i] != scores[start]:
                for t in range(start, i):
                    if codes[t] >= 0:
                        seen[codes[t]] = 0.0
                inside = 0.0
                start = i
            while j < i and scores[j] - scores[i] > limit:
                if codes[j] >= 0:
                    tree_add(tree, n, codes[j], 1.0)
                j += 1
            if codes[i] >= 0:
                matched += tree_sum(tree, codes[i])
                if limit < 0.0:  # tied documents are listed by falling label: the sum took all of them as matched
                    matched -= 0.5 * (inside - seen[codes[i]])
                    seen[codes[i]] += 1.0
                    inside += 1.0
        seen[:n] = 0.0
        out[q] = matched
