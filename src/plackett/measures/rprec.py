"""Precision after R documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import MeasureError
from plackett.measures.base import Measure
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import hits, n_relevant, relevance, where_relevant
from plackett.measures.swaps import linear_state

__all__ = ["RPrecision"]


@dataclass(frozen=True, kw_only=True, repr=False)
class RPrecision(Measure):
    r"""Precision among the first R documents, where R is the number of relevant documents of the query.

    Parameters
    ----------
    rel
        Lowest label that counts as relevant.
    mult
        Take the first ⌊mult · R + 0.9⌋ documents instead (trec_eval's Rprec_mult).

    Notes
    -----
    Ties: exact mean over all orders.

    References
    ----------
    Buckley, Voorhees: Evaluating evaluation measure stability. SIGIR 2000.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([1, 0, 1], [3, 2, 1], ["Rprec"]).mean["Rprec"]
    0.5
    """

    name: ClassVar[str] = "Rprec"
    aliases: ClassVar[tuple[str, ...]] = ("RPrec", "r_precision", "r-precision", "R-Precision")
    swaps: ClassVar[bool] = True
    linear_swaps: ClassVar[bool] = True

    rel: float = 1.0
    mult: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.mult, str) or not 0 < self.mult <= 1e9:
            raise MeasureError(f"{self.name}: mult={self.mult!r}; give a positive number up to 1e9")
        object.__setattr__(self, "mult", float(self.mult))

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        cut = self._cut(ranking)
        return where_relevant(ranking, self.rel, hits(ranking, self.rel, cut) / np.maximum(cut, 1))

    def swap_state(self, ranking: Ranking) -> np.ndarray:
        """What `swap` reads."""
        cut = self._cut(ranking)
        weights = np.ones(ranking.longest)
        return linear_state(ranking, relevance(ranking, self.rel), 1.0 / np.maximum(cut, 1), cut, weights)

    def _cut(self, ranking: Ranking) -> np.ndarray:
        return np.floor(self.mult * n_relevant(ranking, self.rel) + 0.9).astype(np.int64)


Rprec = RPrecision()
