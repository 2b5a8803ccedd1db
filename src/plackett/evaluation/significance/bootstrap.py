"""The bootstrap test: what other samples of queries would have shown."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import REASSOC, kernel, over_queries
from plackett._kernels.randomness import below, mix
from plackett.evaluation.significance.fisher import fisher
from plackett.evaluation.significance.paired import PairedTest, check_draws, differences, p_value, rounding

__all__ = ["bootstrap"]


def bootstrap(
    a: Any,
    b: Any,
    *,
    alternative: str = "two-sided",
    n_resamples: int = 10_000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> PairedTest:
    r"""Bootstrap test of the mean difference by the shift method, studentised.

    The differences are shifted to mean 0, as under the null hypothesis, and samples of n queries are drawn from them
    with replacement. With :math:`t = \bar d / s`, the mean over the spread, p is the share of samples whose t is as far
    from 0 as the observed one, including the observed one, (c + 1) / (B + 1). Means that are not divided by their
    spread reject too often when queries are few: 7.6 % of equal systems at the level 5 % with 30 queries.

    If all differences are equal, samples say nothing about the spread, and p is that of `fisher`.

    Parameters
    ----------
    a, b
        One value per query, in the same order. Queries with NaN in either are left out.
    alternative
        ``"two-sided"``; ``"greater"``: a is better (larger); ``"less"``.
    n_resamples
        Number of samples.
    random_state
        Seed. The same seed gives the same result for any number of threads and any order of the queries.

    References
    ----------
    Efron, Tibshirani: An introduction to the bootstrap. Chapman & Hall 1993.
    Sakai: Evaluating evaluation metrics based on the bootstrap. SIGIR 2006.

    Examples
    --------
    >>> bootstrap([0.5, 0.5], [0.5, 0.5]).pvalue
    1.0
    """
    d = np.sort(differences(a, b))  # the result does not depend on the order of the queries
    mean, spread = float(d.mean()), float(d.std())
    if spread <= rounding(d) / d.size:
        return fisher(a, b, alternative=alternative, random_state=random_state, n_jobs=n_jobs)
    shifted = (d - mean) / spread
    moments = resampled_means(
        np.column_stack([shifted, shifted**2]), n_resamples, random_state=random_state, n_jobs=n_jobs
    )
    variance = moments[:, 1] - moments[:, 0] ** 2
    flat = variance <= 1e-12  # one query drawn n times has no spread: as extreme as possible
    null = moments[:, 0] / np.where(flat, 1.0, np.sqrt(np.maximum(variance, 1e-12)))
    null[flat] = np.sign(null[flat]) * np.inf
    p = p_value(null, mean / spread, alternative, 1e-12 * abs(mean / spread), exact=False)
    return PairedTest(mean, mean / spread * np.sqrt(d.size - 1), p, d.size)


def resampled_means(
    values: Any, n_resamples: int = 10_000, *, random_state: int = 0, n_jobs: int | None = None
) -> np.ndarray:
    """Means of ``n_resamples`` samples of the rows with replacement, of the size of the data.

    For a queries × systems matrix, all columns use the same sampled queries, so differences between columns are
    paired.
    """
    check_draws(n_resamples, "n_resamples")
    rows = np.asarray(values, dtype=np.float64)
    columns = np.ascontiguousarray(rows.reshape(len(rows), -1).T)
    if not columns.size or np.isnan(columns).any():
        raise DataError("resampling needs at least one query and no NaN; drop the queries that a measure skipped")
    out = np.empty((n_resamples, len(columns)))
    offsets = np.arange(n_resamples + 1) * len(rows)
    over_queries(_resample, offsets, columns, np.uint64(random_state), out, n_jobs=n_jobs)
    return out.reshape(n_resamples, *rows.shape[1:])


@kernel(fastmath=REASSOC)
def _resample(lo, hi, offsets, columns, seed, out):  # type: ignore[no-untyped-def]
    n = columns.shape[1]
    start = mix(seed ^ np.uint64(0xB0075742A9))
    half = (n + 1) // 2
    drawn = np.empty(n, np.int32)  # how often each row; a sum over the rows in order is faster than one over the draws
    for sample in range(lo, hi):
        drawn[:] = 0
        for i in range(half):  # two draws from each word
            bits = mix(start + np.uint64(sample) * np.uint64(half) + np.uint64(i))
            drawn[below(bits, n)] += 1
            if 2 * i + 1 < n:
                drawn[below(bits >> np.uint64(32), n)] += 1
        for c in range(columns.shape[0]):
            total = 0.0
            for q in range(n):
                total += drawn[q] * columns[c, q]
            out[sample, c] = total / n
