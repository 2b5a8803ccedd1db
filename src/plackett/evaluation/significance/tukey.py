"""The randomised Tukey test: all pairs of many systems at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.randomness import below, mix
from plackett.evaluation.significance.paired import check_draws, matrix, rounding

__all__ = ["tukey"]


class TukeyTest(NamedTuple):
    """Mean differences and p-values of all pairs, systems × systems, and the number of queries used."""

    difference: np.ndarray
    pvalue: np.ndarray
    n: int


def tukey(values: Any, *, n_permutations: int = 10_000, random_state: int = 0, n_jobs: int | None = None) -> TukeyTest:
    r"""Randomised test of honest significant differences (Tukey's HSD) between all pairs of systems.

    If the systems do not differ, the values of each query could just as well be in any other order over the systems.
    Each query's row is shuffled, and the largest difference between two systems' means is recorded. The p-value of a
    pair is the share of shuffles, including the observed one, whose largest difference is at least that of the pair:

    .. math:: p_{ij} = \frac{1 + \#\{b : \max_k \bar x^b_k - \min_k \bar x^b_k \ge |\bar x_i - \bar x_j|\}}{B + 1}

    The probability of any false finding among all pairs is kept below the level, so no further correction is needed.
    For two systems it is `fisher`'s test.

    Parameters
    ----------
    values
        Queries × systems. Queries with NaN for any system are left out.
    n_permutations
        Number of shuffles.
    random_state
        Seed. The same seed gives the same result for any number of threads.

    References
    ----------
    Carterette: Multiple testing in statistical analysis of systems-based information retrieval experiments. ACM
    Transactions on Information Systems 2012.

    Examples
    --------
    >>> tukey([[0.1, 0.1, 0.1], [0.7, 0.7, 0.7]]).pvalue[0].tolist()
    [1.0, 1.0, 1.0]
    """
    check_draws(n_permutations, "n_permutations")
    values = matrix(values)
    sums = values.sum(axis=0)
    observed = np.abs(sums[:, None] - sums)
    largest = np.empty(n_permutations)
    offsets = np.arange(n_permutations + 1) * values.size
    over_queries(_shuffled_range, offsets, values, np.uint64(random_state), largest, n_jobs=n_jobs)
    # Counting among sorted values: one search per pair, not B comparisons.
    at_least = n_permutations - np.searchsorted(np.sort(largest), observed - rounding(values), "left")
    return TukeyTest((sums[:, None] - sums) / len(values), (at_least + 1) / (n_permutations + 1), len(values))


@kernel
def _shuffled_range(lo, hi, offsets, values, seed, out):  # type: ignore[no-untyped-def]
    """Largest difference between two column sums after each row was shuffled, for each draw."""
    n, systems = values.shape
    start = mix(seed ^ np.uint64(0x70CE75))
    row = np.empty(systems)
    sums = np.empty(systems)
    for draw in range(lo, hi):
        state = mix(start + np.uint64(draw))
        sums[:] = 0.0
        for q in range(n):
            for c in range(systems):
                row[c] = values[q, c]
            for c in range(systems - 1, 0, -1):
                state = mix(state)
                j = below(state, c + 1)
                sums[c] += row[j]
                row[j] = row[c]
            sums[0] += row[0]
        out[draw] = sums.max() - sums.min()
