"""How similarly two features rank: Kendall's τ of all pairs of features at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError
from plackett._kernels.cores import n_threads
from plackett._kernels.kernel import kernel, ranges
from plackett.data.dataset import RankingDataset
from plackett.scorers.rules.bits import count_bits

__all__ = ["feature_similarity"]

#: Words of 64 document pairs that are compared at a time, so that the signs of all features stay in the cache.
_N_WORDS = 64
#: Lists longer than this are compared by sorting, O(n log n), rather than by 64 pairs at a time, O(n² / 64).
_LONG = 1024
#: Parts of the queries that are added up separately; a fixed number, so that threads do not change the result.
_PARTS = 16
_SCALES = ("tau", "agreement")


def feature_similarity(
    data: RankingDataset, directions: Any = None, *, scale: str = "tau", n_jobs: int | None = None
) -> np.ndarray:
    r"""Similarity of the rankings by each pair of features: Kendall's τ-b, averaged over queries.

    .. math:: e_{ij} = \frac{1}{|Q_{ij}|} \sum_{q \in Q_{ij}} \frac{C_q - D_q}{\sqrt{n_q^{(i)} n_q^{(j)}}}

    with C pairs of documents that both features order the same way, D those they order in opposite ways,
    :math:`n^{(i)}` the pairs that feature i does not tie and :math:`Q_{ij}` the queries in which neither feature is
    constant. Two features without such a query have similarity 0; a feature's similarity with itself is 1.

    The cost is F² n log n for lists of n documents. Lists of up to 1024 are compared with bit operations, 64 pairs of
    documents at a time, which is faster there. Memory is F² plus a small constant for each thread.

    Parameters
    ----------
    data
        The features. A missing value is ranked last, whatever the direction.
    directions
        1 for each feature whose large values come first, -1 where small ones do; None means 1 for all.
    scale
        ``"tau"``: τ, from −1 to 1. ``"agreement"``: (1 + τ) / 2, from 0 to 1; without ties this is the share of pairs
        in the same order.
    n_jobs
        Number of threads; None means all cores. The result does not depend on it.

    Returns
    -------
    numpy.ndarray
        Features × features, symmetric.

    References
    ----------
    Geng, Liu, Qin, Li: Feature selection for ranking. SIGIR 2007.

    Examples
    --------
    >>> data = RankingDataset.from_arrays([[1, 9, 1], [2, 8, 3], [3, 7, 2]], [0, 0, 1], qid=[1, 1, 1])
    >>> feature_similarity(data, [1, -1, 1]).round(3).tolist()
    [[1.0, 1.0, 0.333], [1.0, 1.0, 0.333], [0.333, 0.333, 1.0]]
    """
    choice("scale", scale, _SCALES)
    n = data.n_features
    signs = np.ones(n, np.float32) if directions is None else np.asarray(directions, np.float32)
    if signs.shape != (n,) or not np.isin(signs, (-1.0, 1.0)).all():
        raise DataError(f"directions must be 1 or -1 for each of the {n} features")

    def part(lo: int, hi: int) -> tuple[np.ndarray, np.ndarray]:
        total, count = np.zeros((n, n)), np.zeros((n, n), np.int32)
        step = 64  # queries whose features are made dense and signed at once
        for first in range(lo, hi, step):
            last = min(first + step, hi)
            rows = slice(int(data.offsets[first]), int(data.offsets[last]))
            X = data.X[rows]
            X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float32) * signs
            X[np.isnan(X)] = -np.inf
            _similarities(np.ascontiguousarray(data.offsets[first : last + 1]) - rows.start, X, total, count)
        return total, count

    total, count = np.zeros((n, n)), np.zeros((n, n), np.int64)
    parts = list(ranges(data.offsets, _PARTS))
    # a few parts at a time: each has two matrices of its own
    with ThreadPoolExecutor(n_threads(n_jobs)) as pool:
        width = n_threads(n_jobs)
        for i in range(0, len(parts), width):
            for sums, counts in pool.map(lambda edges: part(*edges), parts[i : i + width]):
                total += sums
                count += counts
    tau = np.divide(total, count, out=np.zeros((n, n)), where=count > 0)
    tau += tau.T  # the kernel fills one triangle
    np.fill_diagonal(tau, 1.0)
    return tau if scale == "tau" else (1.0 + tau) / 2.0


@kernel
def _similarities(offsets, X, total, count):
    """Add τ of each query to the lower triangle of ``total``, and 1 to ``count`` where it is defined."""
    f = X.shape[1]
    agree = np.empty((f, f), np.int64)  # pairs in the same order minus pairs in opposite orders
    untied = np.empty(f, np.int64)
    for q in range(offsets.size - 1):
        a, b = offsets[q], offsets[q + 1]
        if b - a < 2:
            continue
        agree[:] = 0
        untied[:] = 0
        if b - a > _LONG:
            _by_sorting(X[a:b], agree, untied)
        else:
            _by_bits(X[a:b], agree, untied)
        for i in range(f):
            if untied[i] == 0:
                continue
            for j in range(i):
                if untied[j] > 0:
                    total[i, j] += agree[i, j] / np.sqrt(float(untied[i]) * float(untied[j]))
                    count[i, j] += 1


@kernel
def _by_bits(X, agree, untied):
    m, f = X.shape
    first, second = np.empty(64 * _N_WORDS, np.int64), np.empty(64 * _N_WORDS, np.int64)
    above, differ = np.empty((f, _N_WORDS), np.uint64), np.empty((f, _N_WORDS), np.uint64)
    left, right = 0, 0
    while left < m - 1:
        n = 0
        while n < 64 * _N_WORDS and left < m - 1:
            right += 1
            if right == m:
                left += 1
                right = left
                continue
            first[n], second[n] = left, right
            n += 1
        n_words = (n + 63) // 64
        for j in range(f):
            for w in range(n_words):
                up, unequal = np.uint64(0), np.uint64(0)
                for k in range(64 * w, min(64 * w + 64, n)):
                    x, y = X[first[k], j], X[second[k], j]
                    bit = np.uint64(k - 64 * w)
                    up |= np.uint64(x > y) << bit
                    unequal |= np.uint64(x != y) << bit
                above[j, w], differ[j, w] = up, unequal
                untied[j] += count_bits(unequal)
        for i in range(f):
            for j in range(i):
                both, opposite = 0, 0
                for w in range(n_words):
                    shared = differ[i, w] & differ[j, w]
                    both += count_bits(shared)
                    opposite += count_bits((above[i, w] ^ above[j, w]) & shared)
                agree[i, j] += both - 2 * opposite


@kernel
def _by_sorting(X, agree, untied):
    """Knight's method: sort by one feature, count the exchanges that sort the other."""
    m, f = X.shape
    pairs = m * (m - 1) // 2
    level = np.empty((f, m), np.int64)
    for j in range(f):
        order = np.argsort(X[:, j])
        first = 0
        for k in range(m):
            if k > 0 and X[order[k], j] != X[order[k - 1], j]:
                first = k
            level[j, order[k]] = first
        untied[j] = pairs - _tied(np.sort(level[j]))
    other, spare = np.empty(m, np.int64), np.empty(m, np.int64)
    for i in range(f):
        for j in range(i):
            keys = np.sort(level[i] * m + level[j])
            for k in range(m):
                other[k] = keys[k] % m
            opposite = _exchanges(other, spare)
            both = untied[i] + untied[j] - (pairs - _tied(keys))
            agree[i, j] = both - 2 * opposite


@kernel
def _tied(ordered):
    """Number of equal pairs in a sorted array."""
    total, run = 0, 0
    for k in range(1, ordered.size):
        run = run + 1 if ordered[k] == ordered[k - 1] else 0
        total += run
    return total


@kernel
def _exchanges(values, spare):
    """Number of pairs in descending order; sorts ``values`` by merging."""
    n, total, width = values.size, 0, 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle, end = min(start + width, n), min(start + 2 * width, n)
            i, j = start, middle
            for k in range(start, end):
                if j >= end or (i < middle and values[i] <= values[j]):
                    spare[k] = values[i]
                    i += 1
                else:
                    total += middle - i
                    spare[k] = values[j]
                    j += 1
        values[:] = spare
        width *= 2
    return total
