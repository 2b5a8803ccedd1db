"""Interpolated precision averaged over levels of recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import MeasureError
from plackett.measures.base import Measure
from plackett.measures.iprec import check_reach, interpolated
from plackett.measures.ranking import Ranking

__all__ = ["AverageInterpolatedPrecision"]


@dataclass(frozen=True, kw_only=True, repr=False)
class AverageInterpolatedPrecision(Measure):
    """Mean of the interpolated precision at eleven levels of recall: 0, 0.1, …, 1.

    Parameters
    ----------
    levels
        The levels of recall.
    rel
        Lowest label that counts as relevant.
    reach
        As for `plackett.measures.IPrec`.

    Notes
    -----
    Ties: estimated from seeded random orders.

    References
    ----------
    van Rijsbergen: Information retrieval. Butterworths 1979.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([1, 1, 0], [3, 2, 1], ["IPrec11"]).mean["IPrec11"]
    1.0
    """

    name: ClassVar[str] = "IPrec11"
    aliases: ClassVar[tuple[str, ...]] = ("11pt_avg", "11pt", "eleven_point_average")
    exact_ties: ClassVar[bool] = False

    levels: Any = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    rel: float = 1.0
    reach: str = "up"

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            levels = tuple(float(level) for level in self.levels)
        except (TypeError, ValueError):
            levels = ()
        if not levels or not all(0 <= level <= 1 for level in levels):
            raise MeasureError(f"{self.name}: levels={self.levels!r}; give numbers between 0 and 1")
        object.__setattr__(self, "levels", levels)
        check_reach(self.reach, self.name)

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        total = np.zeros(ranking.data.n_queries)
        for level in self.levels:
            total += interpolated(ranking, self.rel, level, self.reach)
        return total / len(self.levels)


IPrec11 = AverageInterpolatedPrecision()
