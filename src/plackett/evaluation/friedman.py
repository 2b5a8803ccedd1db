"""Many algorithms on many datasets: mean ranks, Friedman's test, Nemenyi's critical difference."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett.evaluation.winning_number import Results, results_matrix

__all__ = ["friedman", "mean_ranks", "nemenyi"]

#: Number of permutations of the ranks drawn if there are more.
_PERMUTATIONS = 9_999


class FriedmanTest(NamedTuple):
    """Friedman's χ² and Iman and Davenport's F with their p-values."""

    chi_square: float
    pvalue: float
    f: float
    f_pvalue: float


class Nemenyi(NamedTuple):
    """Mean ranks, the critical difference at the given level, and the p-value of each pair (i before j)."""

    mean_ranks: dict[str, float]
    critical_difference: float
    pvalues: dict[tuple[str, str], float]


def mean_ranks(results: Results, *, ascending: bool = True) -> dict[str, float]:
    """Mean over datasets of each algorithm's rank, 1 being best; equal values share the mean of their ranks.

    >>> mean_ranks({"d1": {"a": 0.3, "b": 0.2, "c": 0.1}, "d2": {"a": 0.1, "b": 0.2, "c": 0.2}})
    {'a': 2.0, 'b': 1.75, 'c': 2.25}
    """
    algorithms, ranks = _ranks(results, ascending)
    return dict(zip(algorithms, ranks.mean(axis=0).tolist(), strict=True))


def friedman(results: Results, *, ascending: bool = True) -> FriedmanTest:
    r"""Friedman's test: do all algorithms have the same mean rank over the datasets?

    With N datasets, k algorithms and mean ranks :math:`R_i`,

    .. math:: \chi_F^2 = \frac{12 N}{k (k + 1)} \Big[\sum_i R_i^2 - \frac{k (k + 1)^2}{4}\Big], \qquad
        F = \frac{(N - 1) \chi_F^2}{N (k - 1) - \chi_F^2}

    with k − 1 degrees of freedom, and k − 1 and (k − 1)(N − 1) for the less cautious F. As in Demšar 2006 there is no
    correction for ties. Every algorithm needs a value on every dataset.

    >>> friedman({"d1": {"a": 0.3, "b": 0.2}, "d2": {"a": 0.2, "b": 0.3}}).pvalue
    1.0

    References
    ----------
    Friedman: The use of ranks to avoid the assumption of normality implicit in the analysis of variance. Journal of the
    American Statistical Association 1937.
    Demšar: Statistical comparisons of classifiers over multiple data sets. JMLR 2006.
    """
    from scipy.stats import chi2, f

    _, ranks = _ranks(results, ascending)
    n, k = ranks.shape
    means = ranks.mean(axis=0)
    chi_square = float(12 * n / (k * (k + 1)) * (means @ means - k * (k + 1) ** 2 / 4))
    chi_square = max(chi_square, 0.0)  # rounding
    rest = n * (k - 1) - chi_square
    statistic = (n - 1) * chi_square / rest if rest > 1e-9 else float("inf")
    f_pvalue = float(f.sf(statistic, k - 1, (k - 1) * (n - 1))) if n > 1 else 1.0
    return FriedmanTest(chi_square, float(chi2.sf(chi_square, k - 1)), statistic, f_pvalue)


def friedman_permuted(results: Results, *, ascending: bool = True, random_state: int = 0) -> float:
    r"""P-value of Friedman's test by permutation, for any number of datasets.

    χ² and F are approximations for many datasets. With few they are wrong: if two datasets agree, F is infinite.
    This function compares the observed ranks with all :math:`(k!)^{N - 1}` ways to permute the ranks within the
    datasets (the first dataset can stay fixed), or with 9,999 random ones if there are more.

    >>> friedman_permuted({"d1": {"a": 0.3, "b": 0.2}, "d2": {"a": 0.3, "b": 0.2}})  # half of the four orders agree
    0.5
    """
    _, ranks = _ranks(results, ascending)
    n, k = ranks.shape
    observed = (ranks.sum(axis=0) ** 2).sum() - 1e-9  # χ² grows with this
    if k < 8 and math.factorial(k) ** (n - 1) <= _PERMUTATIONS:
        orders = [np.array(list(itertools.permutations(row))) for row in ranks[1:]]
        sums = ranks[:1]
        for order in orders:
            sums = (sums[:, None] + order[None]).reshape(-1, k)
        return float(((sums**2).sum(axis=1) >= observed).mean())
    rng = np.random.default_rng(random_state)
    sums = np.zeros((_PERMUTATIONS, k))
    for row in ranks:
        sums += rng.permuted(np.tile(row, (_PERMUTATIONS, 1)), axis=1)
    return float((1 + ((sums**2).sum(axis=1) >= observed).sum()) / (1 + _PERMUTATIONS))


def nemenyi(results: Results, *, alpha: float = 0.05, ascending: bool = True) -> Nemenyi:
    r"""Nemenyi's test of all pairs after `friedman`: mean ranks further apart than the critical difference differ.

    .. math:: \text{CD} = q_\alpha \sqrt{\frac{k (k + 1)}{6 N}}

    with :math:`q_\alpha` the quantile of the studentised range of k groups and infinite degrees of freedom, divided by
    √2.

    >>> results = {f"d{i}": {"a": 0.3, "b": 0.2} for i in range(6)}
    >>> round(nemenyi(results).critical_difference, 3)  # 1.960 · √(2 · 3 / (6 · 6))
    0.8

    References
    ----------
    Nemenyi: Distribution-free multiple comparisons. PhD thesis, Princeton University 1963.
    Demšar: Statistical comparisons of classifiers over multiple data sets. JMLR 2006.
    """
    from scipy.stats import studentized_range

    algorithms, ranks = _ranks(results, ascending)
    n, k = ranks.shape
    means = ranks.mean(axis=0)
    error = np.sqrt(k * (k + 1) / (12 * n))
    i, j = np.triu_indices(k, 1)
    p = studentized_range.sf(np.abs(means[i] - means[j]) / error, k, np.inf)
    pairs = [(algorithms[a], algorithms[b]) for a, b in zip(i, j, strict=True)]
    return Nemenyi(
        dict(zip(algorithms, means.tolist(), strict=True)),
        float(studentized_range.ppf(1 - alpha, k, np.inf) * error),
        dict(zip(pairs, np.clip(p, 0.0, 1.0).tolist(), strict=True)),
    )


def _ranks(results: Results, ascending: bool) -> tuple[list[str], np.ndarray]:
    from scipy.stats import rankdata

    algorithms, values = results_matrix(results)
    if len(algorithms) < 2:
        raise DataError(f"ranks need two algorithms or more, got {algorithms}")
    missing = np.argwhere(np.isnan(values))
    if missing.size:
        dataset = list(results)[missing[0, 0]]
        raise DataError(f"{algorithms[missing[0, 1]]!r} has no value on {dataset!r}; ranks need every value")
    return algorithms, rankdata(-values if ascending else values, axis=1)
