"""Linear utility of the retrieved set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import MeasureError
from plackett.measures.base import Measure
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import hits, n_relevant

__all__ = ["LinearUtility"]


@dataclass(frozen=True, kw_only=True, repr=False)
class LinearUtility(Measure):
    """Linear utility of the retrieved set: a · relevant + b · irrelevant retrieved + c · relevant not retrieved.

    Parameters
    ----------
    k
        Cut-off; None is all retrieved documents.
    a, b, c
        Value of each such document; by default 1, −1 and 0.
    rel
        Lowest label that counts as relevant.

    Notes
    -----
    Ties: exact mean over all orders. Every query has a value; `empty` is not used.

    References
    ----------
    Lewis: The TREC-4 filtering track. TREC 1996.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([1, 0, 1], [3, 2, 1], ["Utility"]).mean["Utility"]
    1.0
    """

    name: ClassVar[str] = "Utility"
    aliases: ClassVar[tuple[str, ...]] = ("utility",)
    bounds: ClassVar[tuple[float, float]] = (-float("inf"), float("inf"))

    k: int | None = None
    a: float = 1.0
    b: float = -1.0
    c: float = 0.0
    rel: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in "abc":
            value = getattr(self, name)
            if isinstance(value, str) or not np.isfinite(value):
                raise MeasureError(f"{self.name}: {name}={value!r}; give a number")
            object.__setattr__(self, name, float(value))

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        n_hits = hits(ranking, self.rel, self.k)
        n = ranking.depth if self.k is None else np.minimum(ranking.depth, self.k)
        return self.a * n_hits + self.b * (n - n_hits) + self.c * (n_relevant(ranking, self.rel) - n_hits)


Utility = LinearUtility()
