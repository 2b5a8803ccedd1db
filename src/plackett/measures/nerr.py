"""Normalised expected reciprocal rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.measures.err import ExpectedReciprocalRank, err_state, stop_chance, top_label
from plackett.measures.gains import gain_at
from plackett.measures.ranking import Ranking

__all__ = ["NormalisedERR"]


@dataclass(frozen=True, kw_only=True, repr=False)
class NormalisedERR(ExpectedReciprocalRank):
    """Expected reciprocal rank divided by its value for the ideal order: all documents by descending label.

    Parameters
    ----------
    k, max_label
        As for `plackett.measures.ERR`.

    Notes
    -----
    Ties: exact mean over all orders.

    References
    ----------
    Chapelle, Metzler, Zhang, Grinspan: Expected reciprocal rank for graded relevance. CIKM 2009.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([0, 1], [2, 1], ["nERR"]).mean["nERR"]
    0.5
    """

    name: ClassVar[str] = "nERR"
    aliases: ClassVar[tuple[str, ...]] = ("NERR", "nerr")

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        best = self._best(ranking)
        return np.divide(super().values(ranking), best, where=best > 0, out=np.full(best.size, np.nan))

    def swap_state(self, ranking: Ranking) -> np.ndarray:
        """What `swap` reads."""
        best = self._best(ranking)
        scale = np.divide(1.0, best, where=best > 0, out=np.zeros(best.size))
        return err_state(ranking, top_label(ranking, self.max_label, self.name), self.k, scale)

    def _best(self, ranking: Ranking) -> np.ndarray:
        data = ranking.data
        top = top_label(ranking, self.max_label, self.name)
        if data.max_grade is not None:
            values, table = data.sorted_labels, stop_chance(np.arange(data.max_grade + 1.0), top)
        else:
            values, table = stop_chance(data.sorted_labels, top), np.empty(0)
        out = np.empty(data.n_queries)
        over_queries(_ideal_err, data.offsets, values, table, self.k or ranking.longest, out, n_jobs=ranking.n_jobs)
        return out


nERR = NormalisedERR()


@kernel
def _ideal_err(lo, hi, offsets, values, table, k, out):  # type: ignore[no-untyped-def]
    for q in range(lo, hi):
        a = offsets[q]
        value = 0.0
        reach = 1.0
        for i in range(a, min(a + k, offsets[q + 1])):
            stops = gain_at(values[i], table)
            value += reach * stops / (i - a + 1)
            reach *= 1.0 - stops
        out[q] = value
