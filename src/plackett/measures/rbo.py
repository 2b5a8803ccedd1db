"""Rank-biased overlap of two rankings."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError, MeasureError
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.scratch import longest
from plackett.data.dataset import RankingDataset
from plackett.measures.pairs import per_query_or_float
from plackett.measures.ranking import Ranking, Scored

__all__ = ["rbo"]


def rbo(a: Any, b: Any, qid: Any = None, *, p: float = 0.9) -> float | np.ndarray:
    r"""Rank-biased overlap of two rankings, extrapolated from the lists seen (RBO_EXT).

    For two lists of the same length k, with :math:`X_d` documents among the first d of both,

    .. math:: \frac{1-p}{p} \sum_{d=1}^{k} \frac{X_d}{d}\,p^d + \frac{X_k}{k}\,p^k

    and equation 32 of the paper for lists of different lengths. From 0 (nothing in common) to 1 (the same list).

    Parameters
    ----------
    a, b
        Scores of the same documents, larger is better; NaN if a document is not in the list. Ties: exact mean
        over all orders of both lists.
    qid
        Query of each document; without it, all documents form one list.
    p
        Weight of the depth, above 0 and below 1: with 0.9 the first ten ranks have 86 % of the weight.

    Returns
    -------
    float or numpy.ndarray
        One number, or with ``qid`` one per query; NaN where both lists are empty.

    References
    ----------
    Webber, Moffat, Zobel: A similarity measure for indefinite rankings. ACM Transactions on Information Systems 2010.

    Examples
    --------
    >>> rbo([3, 2, 1], [3, 2, 1]), round(rbo([3, 2, 1], [2, 3, 1], p=0.5), 4)
    (1.0, 0.5)
    """
    number("p", p, above=0.0, below=1.0, error=MeasureError)
    first, second = _column(a, "a"), _column(b, "b")
    data = RankingDataset.from_arrays(None, np.zeros(first.size), qid)
    one, two = _listed(data, first), _listed(data, second)
    out = np.empty(data.n_queries)
    over_queries(_rbo, data.offsets, one.rows, one.depth, one.tie_end, two.rows, two.depth, two.tie_end, float(p), out)
    return per_query_or_float(out, qid)


def _column(values: Any, name: str) -> np.ndarray:
    column = np.asarray(values, np.float64)
    if column.ndim != 1:
        raise DataError(f"{name} must be one column of scores, got shape {column.shape}")
    return column


def _listed(data: RankingDataset, scores: np.ndarray) -> Ranking:
    grouped = data.from_input_order(scores)
    inside = ~np.isnan(grouped)
    return Scored(data, np.where(inside, grouped, 0.0), inside).ranking("expected")


@kernel
def _spans(a, rows, depth, tie_end, begin, end):
    """Ranks 0.. that each listed document of a query may take: begin..end."""
    start = a
    while start < a + depth:
        for i in range(start, tie_end[start]):
            begin[rows[i] - a] = start - a
            end[rows[i] - a] = tie_end[start] - a
        start = tie_end[start]


@kernel(inline=True)
def _add(steps, power, first, last, value):
    """Add a coefficient to the polynomial in the depth that holds for depths first..last."""
    steps[power, first] += value
    steps[power, last + 1] -= value


@kernel
def _rbo(lo, hi, offsets, rows_a, depth_a, tie_end_a, rows_b, depth_b, tie_end_b, p, out):
    n_max = longest(lo, hi, offsets)
    begin_a = np.empty(n_max, np.int64)
    end_a = np.empty(n_max, np.int64)
    begin_b = np.empty(n_max, np.int64)
    end_b = np.empty(n_max, np.int64)
    # The mean overlap at depth d is a polynomial of degree two between the ends of blocks: a document is among the
    # first d of a list with a probability that grows by a constant over its block, and the two lists are independent.
    steps = np.empty((3, n_max + 2))
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        long = max(depth_a[q], depth_b[q])
        short = min(depth_a[q], depth_b[q])
        if short == 0:
            out[q] = 0.0 if long > 0 else np.nan
            continue
        begin_a[:n] = -1
        begin_b[:n] = -1
        _spans(a, rows_a, depth_a[q], tie_end_a, begin_a, end_a)
        _spans(a, rows_b, depth_b[q], tie_end_b, begin_b, end_b)
        steps[:, : n + 2] = 0.0
        for i in range(n):
            if begin_a[i] < 0 or begin_b[i] < 0:
                continue
            # of the two blocks: x ends first, y last
            x, x_end, y, y_end = begin_a[i], end_a[i], begin_b[i], end_b[i]
            if x_end > y_end:
                x, x_end, y, y_end = y, y_end, x, x_end
            if y_end - y > 1 or x_end - x > 1:
                both = 1.0 / ((x_end - x) * (y_end - y))
                if max(x, y) < x_end:
                    _add(steps, 0, max(x, y) + 1, x_end, x * y * both)
                    _add(steps, 1, max(x, y) + 1, x_end, -(x + y) * both)
                    _add(steps, 2, max(x, y) + 1, x_end, both)
                if max(x_end, y) + 1 < y_end:
                    _add(steps, 0, max(x_end, y) + 1, y_end - 1, -y / (y_end - y))
                    _add(steps, 1, max(x_end, y) + 1, y_end - 1, 1.0 / (y_end - y))
                if x_end == y_end:  # the product above holds for this depth already
                    y_end += 1
            steps[0, y_end] += 1.0
        zero = 0.0
        one = 0.0
        two = 0.0
        weight = 1.0
        total = 0.0
        overlap = 0.0
        at_short = 0.0
        for d in range(1, long + 1):
            zero += steps[0, d]
            one += steps[1, d]
            two += steps[2, d]
            overlap = zero + d * (one + d * two)
            weight *= p
            if d <= short:
                at_short = overlap
                total += overlap / d * weight
            else:
                total += (overlap / d + at_short * (d - short) / (short * d)) * weight
        out[q] = (1.0 - p) / p * total + ((overlap - at_short) / long + at_short / short) * weight
