"""Interpolated precision at a level of recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import MeasureError
from plackett._kernels.kernel import kernel
from plackett.measures.base import Measure
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import n_relevant

__all__ = ["InterpolatedPrecision"]

#: Added to recall · R before it is truncated to a whole number.
ROUNDING = {"up": 0.9, "nearest": 0.5}


def check_reach(reach: str, measure: str) -> None:
    """Reject an unknown rounding rule."""
    choice(f"{measure}: reach", reach, ROUNDING, error=MeasureError)


@dataclass(frozen=True, kw_only=True, repr=False)
class InterpolatedPrecision(Measure):
    r"""Interpolated precision at a level of recall: the best precision at that recall or any higher one.

    .. math:: \text{IPrec@}x = \max \{\text{P@}r : \text{R@}r \ge x\}

    Parameters
    ----------
    recall
        The level x between 0 and 1, written after ``@``.
    rel
        Lowest label that counts as relevant.
    reach
        How many of the R relevant documents are needed to reach the level: ``"up"``, ⌊x·R + 0.9⌋ (trec_eval 9,
        pytrec_eval and ir-measures, preset ``trec9``), or ``"nearest"``, ⌊x·R + 0.5⌋ (trec_eval 10, preset ``trec``).

    Notes
    -----
    Ties: estimated from seeded random orders. If the list does not reach the level, the precision is 0.

    References
    ----------
    van Rijsbergen: Information retrieval. Butterworths 1979.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([0, 1, 1, 0], [4, 3, 2, 1], ["IPrec@0.5"]).mean["IPrec@0.5"].__round__(4)
    0.6667
    """

    name: ClassVar[str] = "IPrec"
    aliases: ClassVar[tuple[str, ...]] = ("iprec", "iprec_at_recall", "interpolated_precision")
    exact_ties: ClassVar[bool] = False
    cutoff: ClassVar[str] = "recall"

    recall: float = 0.5
    rel: float = 1.0
    reach: str = "up"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.recall, (str, bool)) or not 0 <= self.recall <= 1:
            raise MeasureError(f"{self.name}: recall={self.recall!r}; a level of recall lies between 0 and 1")
        object.__setattr__(self, "recall", float(self.recall))
        check_reach(self.reach, self.name)

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        return interpolated(ranking, self.rel, self.recall, self.reach)


IPrec = InterpolatedPrecision()


def interpolated(ranking: Ranking, rel: float, recall: float, reach: str) -> np.ndarray:
    """Interpolated precision of each query; NaN without a relevant document."""
    total = n_relevant(ranking, rel)
    needed = np.floor(recall * total + ROUNDING[reach]).astype(np.int64)
    return ranking.run(_interpolated, total, needed, rel)


@kernel
def _interpolated(lo, hi, offsets, labels, depth, tie_end, total, needed, rel, out):
    for q in range(lo, hi):
        a = offsets[q]
        n_relevant = 0
        best = 0.0
        for i in range(a, a + depth[q]):
            if labels[i] >= rel:
                n_relevant += 1
                if n_relevant >= needed[q]:
                    best = max(best, n_relevant / (i - a + 1))
        out[q] = best if total[q] > 0 else np.nan
