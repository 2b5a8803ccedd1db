"""Bipartite misranking error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.measures.auc import relevant_pairs
from plackett.measures.base import Measure
from plackett.measures.ranking import Ranking

__all__ = ["BipartiteMisranking"]


@dataclass(frozen=True, kw_only=True, repr=False)
class BipartiteMisranking(Measure):
    r"""Bipartite misranking error: share of (relevant, irrelevant) pairs in the wrong order. Smaller is better.

    .. math:: \hat R = \frac{1}{mn} \sum_{i=1}^{m} \sum_{j=1}^{n} [s_i < s_j] + \tfrac{1}{2} [s_i = s_j]

    which is 1 − `AUC` under the same tie rule.

    Parameters
    ----------
    rel
        Lowest label that counts as relevant.

    Notes
    -----
    Ties: exact. Mohri et al. count strict errors only: ``ties="optimistic"``, one minus their AUC with ≥. A query
    without a pair scores `empty`.

    References
    ----------
    Mohri, Rostamizadeh, Talwalkar: Foundations of machine learning. MIT Press 2018, chapter 10.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett.measures.misranking import Misranking
    >>> pk.evaluate([1, 1, 1, 0, 0], [0.9, 0.5, 0.5, 0.5, 0.1], Misranking).mean["Misranking"].__round__(4)
    0.1667
    """

    name: ClassVar[str] = "Misranking"
    aliases: ClassVar[tuple[str, ...]] = ("misranking",)
    ascending: ClassVar[bool] = False

    rel: float = 1.0

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        return 1.0 - ranking.run(relevant_pairs, float(self.rel))


Misranking = BipartiteMisranking()
