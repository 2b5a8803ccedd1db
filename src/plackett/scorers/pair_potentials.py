"""Scores that also compare each document with the others of its list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett.scorers.base import Scorer
from plackett.scorers.fields import array
from plackett.scorers.products import table_times

__all__ = ["PairPotentialScorer"]


@dataclass(frozen=True)
class PairPotentialScorer(Scorer):
    r"""Scores :math:`w \cdot x_j + \frac{1}{m-1} \sum_{k \ne j} \sum_h u_h \tanh(a_h \cdot x_j + b_h \cdot x_k + c_h)`.

    ``here`` and ``there`` have one column per unit, :math:`a_h` and :math:`b_h`.
    """

    kind: ClassVar[str] = "pair_potentials"
    list_aware: ClassVar[bool] = True
    weights: np.ndarray = array("features")
    here: np.ndarray = array("features units")
    there: np.ndarray = array("features units")
    shift: np.ndarray = array("units")
    height: np.ndarray = array("units")

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row in its list, whatever the order of the rows."""
        here, there = table_times(X, self.here, n_jobs) + self.shift, table_times(X, self.there, n_jobs)
        compared = mean_comparisons(here, there, offsets, n_jobs)
        return table_times(X, self.weights[:, None], n_jobs)[:, 0] + table_times(compared, self.height[:, None])[:, 0]


def mean_comparisons(here: np.ndarray, there: np.ndarray, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """For each row and unit the mean of tanh(here + there of another row) over the other rows of its list."""
    out = np.zeros(here.shape)
    over_queries(_compare, offsets, np.ascontiguousarray(here), np.ascontiguousarray(there), out, n_jobs=n_jobs)
    return out


def pull_back_comparisons(
    here: np.ndarray, there: np.ndarray, offsets: np.ndarray, slopes: np.ndarray, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Gradients for ``here`` and ``there`` from those for the means."""
    parts = np.zeros(here.shape), np.zeros(here.shape)
    tables = np.ascontiguousarray(here), np.ascontiguousarray(there), np.ascontiguousarray(slopes)
    over_queries(_pull_back, offsets, *tables, *parts, n_jobs=n_jobs)
    return parts


@kernel
def _compare(lo, hi, offsets, here, there, out):
    n = longest(lo, hi, offsets)
    values, order, spare, spare_order = sorting_memory(n)
    for q in range(lo, hi):
        a, b = offsets[q], offsets[q + 1]
        if b - a < 2:
            continue
        for h in range(here.shape[1]):
            for i in range(a, b):
                values[i - a] = there[i, h]
            argsort_descending(
                values, order, spare, spare_order, b - a
            )  # the sum must not depend on the order of the rows
            for i in range(a, b):
                total = 0.0
                for k in range(b - a):
                    total += np.tanh(here[i, h] + values[k])
                out[i, h] = (total - np.tanh(here[i, h] + there[i, h])) / (b - a - 1)


@kernel
def _pull_back(lo, hi, offsets, here, there, slopes, d_here, d_there):
    for q in range(lo, hi):
        a, b = offsets[q], offsets[q + 1]
        for i in range(a, b):
            for k in range(a, b):
                if i == k:
                    continue
                for h in range(here.shape[1]):
                    t = np.tanh(here[i, h] + there[k, h])
                    slope = slopes[i, h] * (1.0 - t * t) / (b - a - 1)
                    d_here[i, h] += slope
                    d_there[k, h] += slope
