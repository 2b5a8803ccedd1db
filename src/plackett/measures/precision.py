"""Precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import MeasureError
from plackett.measures._hits import ShareOfHits
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import n_relevant

__all__ = ["Precision"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Precision(ShareOfHits):
    r"""Precision: the share of relevant documents among the first k.

    .. math:: \text{P@}k = \frac1k \sum_{r=1}^{k} [l_r \ge \text{rel}]

    Parameters
    ----------
    k
        Cut-off; None is all retrieved documents (trec_eval's set_P).
    rel
        Lowest label that counts as relevant.
    short
        How to score a list of n < k documents: ``"pad"``, its hits divided by k; ``"list"``, divided by n (XGBoost);
        ``"zero"``, 0, as in the LETOR 3.0 script.
    relative
        Divide by the largest possible number of hits, min(k, R), so that a perfect list scores 1 (trec_eval's
        relative_P).

    Notes
    -----
    Ties: exact mean over all orders.

    References
    ----------
    Cleverdon: The Cranfield tests on index language devices. Aslib Proceedings 1967.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([1, 0, 1], [3, 2, 1], ["P@1", "P@2", "P@4"]).mean
    {'P@1': 1.0, 'P@2': 0.5, 'P@4': 0.5}
    """

    name: ClassVar[str] = "P"
    aliases: ClassVar[tuple[str, ...]] = ("Precision", "precision", "pre", "set_P", "SetP")

    short: str = "pad"
    relative: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        choice(f"{self.name}: short", self.short, ("pad", "list", "zero"), error=MeasureError)

    def divisor(self, ranking: Ranking) -> np.ndarray:
        """The documents among which hits are counted."""
        if self.k is None:
            n = ranking.depth
        else:
            n = np.minimum(ranking.depth, self.k) if self.short == "list" else np.full(ranking.depth.size, self.k)
        if self.relative:
            n = np.minimum(n, n_relevant(ranking, self.rel))
        divisor = np.maximum(n, 1.0)
        if self.short == "zero" and self.k is not None:
            divisor[ranking.depth < self.k] = np.inf
        return divisor


P = Precision()
