"""The Bradley–Terry model of comparisons."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from plackett.permutation_models._base import also_on_class
from plackett.permutation_models._orders import as_pairs
from plackett.permutation_models.plackett_luce import PlackettLuce

__all__ = ["BradleyTerry"]


class BradleyTerry(PlackettLuce):
    r"""Bradley–Terry model of pairwise comparisons.

    .. math:: P(u \succ v) = \frac{1}{1 + e^{-(s_u - s_v)}}

    This is RankNet's probability, and the Plackett–Luce model for two items; longer orders follow Plackett–Luce.
    `fit` takes pairs (winner, loser), `fit_wins` a table of counts.

    Parameters
    ----------
    scores
        One score per item, if known; None leaves them to `fit`.
    among
        Which items an order was chosen from: those ``"listed"``, or ``"all"``.
    transform, n_items, prior, max_iter, tol
        As in `PlackettLuce`.

    Attributes
    ----------
    scores_
        One score per item. Without a prior their mean is 0.
    n_iter_
        Newton steps of the fit.

    Examples
    --------
    >>> model = BradleyTerry().fit([[0, 1], [0, 1], [0, 1], [1, 0]])  # item 0 won 3 of 4
    >>> round(float(model.pair_probability(0, 1)), 4)
    0.75
    >>> BradleyTerry().fit_wins([[0, 3], [1, 0]])  # the same as a table
    <BradleyTerry() fitted to 2 items, best first 0, 1>

    References
    ----------
    Bradley, Terry: Rank analysis of incomplete block designs. Biometrika 1952.
    """

    def __init__(
        self,
        scores: Any = None,
        *,
        transform: str = "exp",
        among: str = "listed",
        n_items: int | None = None,
        prior: tuple[float, float] = (1.0, 0.0),
        max_iter: int = 200,
        tol: float = 1e-9,
    ) -> None:
        super().__init__(
            scores, transform=transform, among=among, n_items=n_items, prior=prior, max_iter=max_iter, tol=tol
        )

    @also_on_class
    def fit_wins(self, wins: Any) -> Self:
        """Most probable scores from a square table: how often the item of the row beat that of the column."""
        pairs, counts, n_items = as_pairs(wins)
        return self._fit(pairs, n_items, counts)

    def log_likelihood(self, wins: Any) -> float:
        """Log-probability of a table of comparisons."""
        pairs, counts, _ = as_pairs(wins)
        gap = self.log_strengths[pairs[:, 0]] - self.log_strengths[pairs[:, 1]]
        return float(-counts @ np.logaddexp(0.0, -gap))
