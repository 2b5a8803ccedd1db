"""The Comb methods: sums and order statistics of the scores that a document has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.aggregation.base import Aggregation
from plackett.aggregation.lists import RankLists
from plackett.aggregation.normalising import normalize

__all__ = ["CombANZ", "CombMAX", "CombMED", "CombMIN", "CombMNZ", "CombSUM"]


@dataclass(frozen=True, kw_only=True)
class CombBySum(Aggregation):
    """Methods that combine the sum of a document's scores with their number."""

    normalize: str | None = "min-max"

    def _combine(self, total: np.ndarray, count: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _scores(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        total, count = np.empty(lists.n_rows), np.empty(lists.n_rows)
        values = normalize(lists, self.normalize, n_jobs)
        over_queries(_sums, lists.offsets, values, weights, total, count, n_jobs=n_jobs)
        return self._combine(total, count)


@dataclass(frozen=True, kw_only=True)
class CombByOrder(Aggregation):
    """Methods that take a quantile of a document's scores."""

    #: 0 is the smallest, 1 the largest, ½ the median.
    quantile: ClassVar[float]

    normalize: str | None = "min-max"

    def _scores(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        out = np.empty(lists.n_rows)
        values = normalize(lists, self.normalize, n_jobs)
        over_queries(_quantiles, lists.offsets, values, weights, self.quantile, out, n_jobs=n_jobs)
        return out


@kernel
def _sums(lo, hi, offsets, values, weights, total, count):  # type: ignore[no-untyped-def]
    for row in range(offsets[lo], offsets[hi]):
        s = 0.0
        n = 0
        for m in range(weights.size):
            x = values[row, m]
            if not np.isnan(x) and weights[m] > 0.0:
                s += weights[m] * x
                n += 1
        total[row] = s
        count[row] = n


@kernel
def _quantiles(lo, hi, offsets, values, weights, quantile, out):  # type: ignore[no-untyped-def]
    ascending = np.empty(weights.size, np.float64)
    for row in range(offsets[lo], offsets[hi]):
        n = 0
        for m in range(weights.size):
            x = weights[m] * values[row, m]
            if not np.isnan(x) and weights[m] > 0.0:
                i = n
                while i > 0 and ascending[i - 1] > x:
                    ascending[i] = ascending[i - 1]
                    i -= 1
                ascending[i] = x
                n += 1
        if n == 0:
            out[row] = -np.inf
            continue
        at = quantile * (n - 1)
        low = int(at)
        out[row] = ascending[low] if at == low else 0.5 * (ascending[low] + ascending[low + 1])


@dataclass(frozen=True, kw_only=True)
class CombSUM(CombBySum):
    r"""CombSUM: the weighted sum of the scores.

    .. math:: s(d) = \sum_{m \ni d} w_m x_m(d)

    where x is the normalised score that a list gives the document; lists that lack it do not count.

    Parameters
    ----------
    normalize
        How to make scores of different lists comparable: ``min-max``, ``max``, ``sum``, ``zmuv`` (z-scores),
        ``rank``, ``borda``, or None to use them unchanged.

    Examples
    --------
    >>> from plackett.aggregation import RankLists
    >>> lists = RankLists.from_runs([{"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"b": 1.0}}])
    >>> CombSUM(normalize=None).scores(lists).tolist()
    [3.0, 3.0, 1.0]

    References
    ----------
    Fox, Shaw: Combination of multiple searches. TREC-2, 1993.
    """

    name: ClassVar[str] = "CombSUM"
    aliases: ClassVar[tuple[str, ...]] = ("wsum", "WeightedSum")

    def _combine(self, total: np.ndarray, count: np.ndarray) -> np.ndarray:
        return total


@dataclass(frozen=True, kw_only=True)
class CombMNZ(CombBySum):
    r"""CombMNZ: the weighted sum of the scores times the number N(d) of lists that have the document.

    .. math:: s(d) = N(d) \sum_{m \ni d} w_m x_m(d)

    where x is the normalised score that a list gives the document; lists that lack it do not count.

    Parameters
    ----------
    normalize
        How to make scores of different lists comparable: ``min-max``, ``max``, ``sum``, ``zmuv`` (z-scores),
        ``rank``, ``borda``, or None to use them unchanged.

    Examples
    --------
    >>> from plackett.aggregation import RankLists
    >>> lists = RankLists.from_runs([{"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"b": 1.0}}])
    >>> CombMNZ(normalize=None).scores(lists).tolist()
    [3.0, 6.0, 1.0]

    References
    ----------
    Fox, Shaw: Combination of multiple searches. TREC-2, 1993.
    """

    name: ClassVar[str] = "CombMNZ"
    aliases: ClassVar[tuple[str, ...]] = ("wmnz",)

    def _combine(self, total: np.ndarray, count: np.ndarray) -> np.ndarray:
        return total * count


@dataclass(frozen=True, kw_only=True)
class CombANZ(CombBySum):
    r"""CombANZ: the weighted sum of the scores over the number N(d) of lists that have the document.

    .. math:: s(d) = \frac{1}{N(d)} \sum_{m \ni d} w_m x_m(d)

    where x is the normalised score that a list gives the document; lists that lack it do not count.

    Parameters
    ----------
    normalize
        How to make scores of different lists comparable: ``min-max``, ``max``, ``sum``, ``zmuv`` (z-scores),
        ``rank``, ``borda``, or None to use them unchanged.

    Examples
    --------
    >>> from plackett.aggregation import RankLists
    >>> lists = RankLists.from_runs([{"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"b": 1.0}}])
    >>> CombANZ(normalize=None).scores(lists).tolist()
    [3.0, 1.5, 1.0]

    References
    ----------
    Fox, Shaw: Combination of multiple searches. TREC-2, 1993.
    """

    name: ClassVar[str] = "CombANZ"

    def _combine(self, total: np.ndarray, count: np.ndarray) -> np.ndarray:
        return total / np.maximum(count, 1.0)


@dataclass(frozen=True, kw_only=True)
class CombMAX(CombByOrder):
    r"""CombMAX: the largest score that any list gives the document.

    .. math:: s(d) = \max_{m \ni d} w_m x_m(d)

    where x is the normalised score that a list gives the document; lists that lack it do not count.

    Parameters
    ----------
    normalize
        How to make scores of different lists comparable: ``min-max``, ``max``, ``sum``, ``zmuv`` (z-scores),
        ``rank``, ``borda``, or None to use them unchanged.

    Examples
    --------
    >>> from plackett.aggregation import RankLists
    >>> lists = RankLists.from_runs([{"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"b": 1.0}}])
    >>> CombMAX(normalize=None).scores(lists).tolist()
    [3.0, 2.0, 1.0]

    References
    ----------
    Fox, Shaw: Combination of multiple searches. TREC-2, 1993.
    """

    name: ClassVar[str] = "CombMAX"
    quantile: ClassVar[float] = 1.0


@dataclass(frozen=True, kw_only=True)
class CombMED(CombByOrder):
    r"""CombMED: the median of the scores that the lists give the document.

    .. math:: s(d) = \operatorname{median}_{m \ni d} w_m x_m(d)

    where x is the normalised score that a list gives the document; lists that lack it do not count.

    Parameters
    ----------
    normalize
        How to make scores of different lists comparable: ``min-max``, ``max``, ``sum``, ``zmuv`` (z-scores),
        ``rank``, ``borda``, or None to use them unchanged.

    Examples
    --------
    >>> from plackett.aggregation import RankLists
    >>> lists = RankLists.from_runs([{"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"b": 1.0}}])
    >>> CombMED(normalize=None).scores(lists).tolist()
    [3.0, 1.5, 1.0]

    References
    ----------
    Fox, Shaw: Combination of multiple searches. TREC-2, 1993.
    """

    name: ClassVar[str] = "CombMED"
    quantile: ClassVar[float] = 0.5


@dataclass(frozen=True, kw_only=True)
class CombMIN(CombByOrder):
    r"""CombMIN: the smallest score that any list gives the document.

    .. math:: s(d) = \min_{m \ni d} w_m x_m(d)

    where x is the normalised score that a list gives the document; lists that lack it do not count.

    Parameters
    ----------
    normalize
        How to make scores of different lists comparable: ``min-max``, ``max``, ``sum``, ``zmuv`` (z-scores),
        ``rank``, ``borda``, or None to use them unchanged.

    Examples
    --------
    >>> from plackett.aggregation import RankLists
    >>> lists = RankLists.from_runs([{"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"b": 1.0}}])
    >>> CombMIN(normalize=None).scores(lists).tolist()
    [3.0, 1.0, 1.0]

    References
    ----------
    Fox, Shaw: Combination of multiple searches. TREC-2, 1993.
    """

    name: ClassVar[str] = "CombMIN"
    quantile: ClassVar[float] = 0.0
