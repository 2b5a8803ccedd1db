"""The Bradley–Terry model of comparisons."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from plackett.permutation_models._orders import as_pairs
from plackett.permutation_models.plackett_luce import PlackettLuce

__all__ = ["BradleyTerry"]


class BradleyTerry(PlackettLuce):
    r"""Bradley–Terry model of comparisons of two items.

    .. math:: P(u \succ v) = \frac{1}{1 + e^{-(s_u - s_v)}}

    It is RankNet's probability, and the Plackett–Luce model of two items; orders of more items are Plackett–Luce's.

    Parameters
    ----------
    scores
        One score per item.

    Examples
    --------
    >>> model = BradleyTerry.fit_wins([[0, 3], [1, 0]])  # item 0 won 3 of 4
    >>> round(float(model.pair_probability(0, 1)), 4)
    0.75

    References
    ----------
    Bradley, Terry: Rank analysis of incomplete block designs. Biometrika 1952.
    """

    ids: ClassVar[tuple[str, ...]] = ("perm.pair_models",)
    paper: ClassVar[str] = "Bradley, Terry 1952"

    @classmethod
    def fit_wins(cls, wins: Any, *, prior: tuple[float, float] = (1.0, 0.0), **options: Any) -> Self:
        """Most probable scores from a square table: how often the item of the row beat that of the column.

        ``prior`` and further options are those of `PlackettLuce.fit`.
        """
        pairs, counts, n_items = as_pairs(wins)
        return cls.fit(pairs, n_items=n_items, among="listed", weights=counts, prior=prior, **options)

    def log_likelihood(self, wins: Any) -> float:
        """Log-probability of a table of comparisons."""
        pairs, counts, _ = as_pairs(wins)
        gap = self.log_strengths[pairs[:, 0]] - self.log_strengths[pairs[:, 1]]
        return float(-counts @ np.logaddexp(0.0, -gap))
