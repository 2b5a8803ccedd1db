"""Rank correlation against all orders that agree with given preferences."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError, MeasureError
from plackett._kernels.kernel import kernel, over_queries
from plackett.data.dataset import RankingDataset
from plackett.measures.ranking import Scored

__all__ = ["weighted_kendall_omega"]

#: The exact method needs a table of 2^n entries.
_MOST_EXACT = 22


def weighted_kendall_omega(
    data: RankingDataset, scores: Any, *, weight: Any = None, exact_up_to: int = 14, n_jobs: int | None = None
) -> np.ndarray:
    r"""Rank correlation of scores with the nearest order that agrees with the preferences of each query.

    .. math:: \text{RC}(\pi, \Omega) = \max_{\pi_l \in \Omega}
        \frac{\sum_{u<v} w_{uv}\,(1 + \text{sgn}((\pi(u)-\pi(v))(\pi_l(u)-\pi_l(v))))}{2 \sum_{u<v} w_{uv}}

    where Ω are the linear extensions of ``data.preferences``. Finding the best one is NP-hard: queries of up to
    ``exact_up_to`` documents are solved exactly by dynamic programming over subsets, in 2^n n². Longer ones are solved
    greedily: at each position take the document with the best score to which no remaining document is preferred. This
    gives a lower bound. For preferences derived from labels the greedy order is optimal, and `RC` computes the same
    value in n log n.

    Parameters
    ----------
    data
        Dataset with preferences; their weights are ignored.
    scores
        One score per row, larger is better. A pair of equal scores counts one half.
    weight
        One weight per row, where a pair weighs the product of its two; None means 1.
    exact_up_to
        Longest query, in documents, that is solved exactly.

    Returns
    -------
    numpy.ndarray
        One number per query from 0 to 1; NaN where a query has no preference.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 1.2.2.

    Examples
    --------
    >>> from plackett.data.preferences import Preferences
    >>> data = RankingDataset.from_arrays(None, qid=[1, 1, 1], preferences=Preferences.from_pairs([(2, 0), (2, 1)]))
    >>> weighted_kendall_omega(data, [3, 2, 1]).round(4).tolist()  # the nearest order is 2, 0, 1
    [0.3333]
    """
    if data.preferences is None:
        raise DataError("weighted_kendall_omega needs preferences; for labels use the measure RC")
    if not 0 <= exact_up_to <= _MOST_EXACT:
        raise MeasureError(f"exact_up_to={exact_up_to}; the table of 2^n entries allows 0..{_MOST_EXACT}")
    values = Scored(data, scores).scores
    weights = np.ones(data.n_rows) if weight is None else np.ascontiguousarray(data.aligned_rows(weight), np.float64)
    pairs = data.preferences
    out = np.empty(data.n_queries)
    over_queries(
        _nearest_extension,
        data.offsets,
        values,
        weights,
        pairs.winner,
        pairs.loser,
        pairs.offsets(data.offsets),
        exact_up_to,
        out,
        n_jobs=n_jobs,
    )
    cyclic = np.flatnonzero(out < 0)
    if cyclic.size:
        raise DataError(
            f"the preferences of query {data.qids[cyclic[0]]} contradict each other in a cycle: no order agrees with "
            f"them ({cyclic.size} such queries)"
        )
    return out


@kernel(inline=True)
def _agreement(u, v, scores, weight):
    """Value of placing row u before row v."""
    order = 1.0 if scores[u] > scores[v] else (0.5 if scores[u] == scores[v] else 0.0)
    return weight[u] * weight[v] * order


@kernel
def _exact(a, n, scores, weight, winner, loser, first, last, before, gain, best):
    """Largest agreement over all linear extensions; below 0 if there are none."""
    for u in range(n):
        before[u] = 0
        for v in range(n):
            gain[u, v] = _agreement(a + u, a + v, scores, weight)
    for p in range(first, last):
        before[loser[p] - a] |= 1 << (winner[p] - a)
    best[: 1 << n] = -1.0
    best[0] = 0.0
    for placed in range(1 << n):
        if best[placed] < 0.0:
            continue
        for u in range(n):
            if placed >> u & 1 or before[u] & ~placed:
                continue
            total = best[placed]
            for v in range(n):
                if v != u and not placed >> v & 1:
                    total += gain[u, v]
            then = placed | 1 << u
            best[then] = max(best[then], total)
    return best[(1 << n) - 1]


@kernel
def _greedy(a, n, scores, weight, winner, loser, first, last, waits, start, losers):
    """Agreement of the order that always takes the free document with the best score; below 0 if there is a cycle."""
    waits[:n] = 0  # number of preferred documents still to place, -1 once placed
    start[: n + 1] = 0
    for p in range(first, last):
        waits[loser[p] - a] += 1
        start[winner[p] - a + 1] += 1
    for u in range(n):
        start[u + 1] += start[u]
    for p in range(first, last):  # the losers of document u end at start[u + 1] now, and begin there afterwards
        start[winner[p] - a + 1] -= 1
        losers[start[winner[p] - a + 1]] = loser[p] - a
    total = 0.0
    for _ in range(n):
        u = -1
        for v in range(n):
            if waits[v] == 0 and (u < 0 or scores[a + v] > scores[a + u]):
                u = v
        if u < 0:
            return -1.0
        waits[u] = -1
        for v in range(n):
            if waits[v] >= 0:
                total += _agreement(a + u, a + v, scores, weight)
        end = start[u + 2] if u + 1 < n else last - first
        for i in range(start[u + 1], end):
            waits[losers[i]] -= 1
    return total


@kernel
def _nearest_extension(lo, hi, offsets, scores, weight, winner, loser, pairs, most, out):
    longest = 0
    most_pairs = 0
    largest = 0
    for q in range(lo, hi):
        n = offsets[q + 1] - offsets[q]
        longest = max(longest, n)
        most_pairs = max(most_pairs, pairs[q + 1] - pairs[q])
        if n <= most:
            largest = max(largest, n)
    before = np.empty(largest, np.int64)
    gain = np.empty((largest, largest))
    best = np.empty(1 << largest)
    waits = np.empty(longest, np.int64)
    start = np.empty(longest + 1, np.int64)
    losers = np.empty(most_pairs, np.int64)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        total = 0.0
        behind = 0.0
        for i in range(a, a + n):
            total += weight[i] * behind
            behind += weight[i]
        if pairs[q + 1] == pairs[q] or total <= 0.0:
            out[q] = np.nan
        elif n <= most:
            out[q] = _exact(a, n, scores, weight, winner, loser, pairs[q], pairs[q + 1], before, gain, best) / total
        else:
            out[q] = _greedy(a, n, scores, weight, winner, loser, pairs[q], pairs[q + 1], waits, start, losers) / total
