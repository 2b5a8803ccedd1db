"""F-measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import MeasureError
from plackett.measures.base import Measure
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import hits, n_relevant, relevance, where_relevant
from plackett.measures.swaps import linear_state

__all__ = ["FMeasure"]


@dataclass(frozen=True, kw_only=True, repr=False)
class FMeasure(Measure):
    r"""F-measure: weighted harmonic mean of precision and recall of the first k documents.

    .. math:: F_\beta\text{@}k = \frac{(1 + \beta^2)\, P R}{\beta^2 P + R} = \frac{(1 + \beta^2)\, h}{\beta^2 R_q + k}

    with h relevant documents among the first k and :math:`R_q` relevant ones in all.

    Parameters
    ----------
    k
        Cut-off; None is all retrieved documents (trec_eval's set_F).
    rel
        Lowest label that counts as relevant.
    beta
        Recall weighs ``beta`` times as much as precision.

    Notes
    -----
    Ties: exact mean over all orders, since the measure is linear in h.

    References
    ----------
    van Rijsbergen: Information retrieval. Butterworths 1979.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([1, 0, 1], [3, 2, 1], ["F@2"]).mean["F@2"]
    0.5
    """

    name: ClassVar[str] = "F"
    aliases: ClassVar[tuple[str, ...]] = ("F1", "f1", "f_measure", "set_F", "SetF")
    swaps: ClassVar[bool] = True
    linear_swaps: ClassVar[bool] = True

    k: int | None = None
    rel: float = 1.0
    beta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.beta, str) or not 0 < self.beta <= 1e100:
            raise MeasureError(f"{self.name}: beta={self.beta!r}; give a positive number up to 1e100")
        object.__setattr__(self, "beta", float(self.beta))

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        return where_relevant(
            ranking, self.rel, (1.0 + self.beta**2) * hits(ranking, self.rel, self.k) / self._divisor(ranking)
        )

    def swap_state(self, ranking: Ranking) -> np.ndarray:
        """What `swap` reads."""
        cut = ranking.depth if self.k is None else self.k
        weights = np.ones(ranking.longest)
        scale = (1.0 + self.beta**2) / self._divisor(ranking)
        return linear_state(ranking, relevance(ranking, self.rel), scale, cut, weights)

    def _divisor(self, ranking: Ranking) -> np.ndarray:
        n = ranking.depth if self.k is None else self.k
        return np.maximum(self.beta**2 * n_relevant(ranking, self.rel) + n, 1e-300)


F = FMeasure()
