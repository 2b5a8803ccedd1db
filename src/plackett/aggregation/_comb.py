"""What the Comb methods share: sums and order statistics of the scores that a document has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernel import kernel, over_queries
from plackett.aggregation.base import Aggregation
from plackett.aggregation.lists import RankLists
from plackett.aggregation.normalising import normalise

__all__ = ["CombByOrder", "CombBySum"]


@dataclass(frozen=True, kw_only=True)
class CombBySum(Aggregation):
    """Methods that combine the sum of a document's scores with their number."""

    normalise: str | None = "min-max"

    def _combine(self, total: np.ndarray, count: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _scores(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        total, count = np.empty(lists.n_rows), np.empty(lists.n_rows)
        values = normalise(lists, self.normalise, n_jobs)
        over_queries(_sums, lists.offsets, values, weights, total, count, n_jobs=n_jobs)
        return self._combine(total, count)


@dataclass(frozen=True, kw_only=True)
class CombByOrder(Aggregation):
    """Methods that take one of a document's scores: the share of them that may lie below it says which."""

    #: 0 the least, 1 the largest, ½ the median.
    quantile: ClassVar[float]

    normalise: str | None = "min-max"

    def _scores(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        out = np.empty(lists.n_rows)
        values = normalise(lists, self.normalise, n_jobs)
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
    found = np.empty(weights.size, np.float64)
    for row in range(offsets[lo], offsets[hi]):
        n = 0
        for m in range(weights.size):
            x = weights[m] * values[row, m]
            if not np.isnan(x) and weights[m] > 0.0:
                i = n
                while i > 0 and found[i - 1] > x:
                    found[i] = found[i - 1]
                    i -= 1
                found[i] = x
                n += 1
        if n == 0:
            out[row] = -np.inf
            continue
        at = quantile * (n - 1)
        low = int(at)
        out[row] = found[low] if at == low else 0.5 * (found[low] + found[low + 1])
