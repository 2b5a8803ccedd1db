"""Fisher's randomisation test: if two systems are the same, the sign of each difference is a coin flip."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.randomness import mix
from plackett.evaluation.significance.paired import PairedTest, check_draws, differences, p_value, rounding

__all__ = ["fisher"]


def fisher(
    a: Any,
    b: Any,
    *,
    alternative: str = "two-sided",
    n_permutations: int = 100_000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> PairedTest:
    r"""Fisher's randomisation test of the mean difference of two systems on the same queries.

    If the systems do not differ, each query's pair of values could just as well be swapped. The p-value
    is the share of the sign vectors :math:`s \in \{-1, 1\}^n` with

    .. math:: \Big|\sum_q s_q (a_q - b_q)\Big| \ge \Big|\sum_q (a_q - b_q)\Big| .

    If ``n_permutations`` is large enough, all :math:`2^m` of them are enumerated (m is the number of queries with a
    difference) and the p-value is exact. Otherwise ``n_permutations`` are drawn and the observed one is counted with
    them, (c + 1) / (B + 1). The test assumes nothing about the distribution of the values.

    Parameters
    ----------
    a, b
        One value per query, in the same order. Queries with NaN in either are left out.
    alternative
        ``"two-sided"``; ``"greater"``: a is better (larger); ``"less"``.
    n_permutations
        Number of sign vectors.
    random_state
        Seed. The same seed gives the same result for any number of threads and any order of the queries.

    References
    ----------
    Smucker, Allan, Carterette: A comparison of statistical significance tests for information retrieval evaluation.
    CIKM 2007.

    Examples
    --------
    >>> fisher([0.9, 0.8, 0.7], [0.5, 0.7, 0.4]).pvalue  # 2 of 8 sign vectors: all plus and all minus
    0.25
    """
    check_draws(n_permutations, "n_permutations")
    given = differences(a, b)
    total = float(given.sum())
    # A zero has no sign to flip. Sorted sizes: the result depends neither on the order of the queries nor on which of
    # the two systems comes first.
    moved = np.sort(np.abs(given[given != 0]))
    exact = moved.size < 63 and 2**moved.size <= n_permutations
    draws = 2**moved.size if exact else n_permutations
    sums = np.full(draws, -moved.sum())
    n_words = -(-moved.size // 64)
    # Sums over a random half of the differences, from tables of the sums of all 256 subsets of eight of them.
    tables = _subset_sums(2.0 * np.append(moved, np.zeros(n_words * 64 - moved.size)))
    over_queries(
        _flip, np.arange(draws + 1) * (8 * n_words), tables, np.uint64(random_state), exact, sums, n_jobs=n_jobs
    )
    p = p_value(sums, total, alternative, rounding(given), exact=exact)
    return PairedTest(total / given.size, total / given.size, p, given.size)


def _subset_sums(values: np.ndarray) -> np.ndarray:
    """The 256 subset sums of each group of eight values, numbered by bits."""
    bits = (np.arange(256)[:, None] >> np.arange(8)) & 1
    return values.reshape(-1, 8) @ bits.T


@kernel
def _flip(lo, hi, offsets, tables, seed, exact, sums):  # type: ignore[no-untyped-def]
    """Add to each sum the subset of the values that the bits of its draw, or its own number, choose."""
    n_words = tables.shape[0] // 8
    start = mix(seed)
    for word in range(n_words):
        for draw in range(lo, hi):
            bits = np.uint64(draw) if exact else mix(start + np.uint64(draw) * np.uint64(n_words) + np.uint64(word))
            total = 0.0
            for byte in range(8):
                total += tables[word * 8 + byte, np.int64(bits & np.uint64(255))]
                bits >>= np.uint64(8)
            sums[draw] += total
