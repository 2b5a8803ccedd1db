"""The trust-bias model: high ranks are not only seen more, they are also believed more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.clicks.log import ClickLog
from plackett.clicks.models._cells import CellCounts, count_cells, rank_cells
from plackett.clicks.models.base import ClickModel, clipped

__all__ = ["TrustBias"]


@dataclass(kw_only=True, eq=False)
class TrustBias(ClickModel):
    r"""Clicks that depend on relevance in a way of their own at each rank (affine click model).

    .. math:: P(C = 1 \mid d, i) = \zeta^+_i\, r_d + \zeta^-_i\, (1 - r_d)

    with :math:`\zeta^\pm_i = \theta_i \epsilon^\pm_i`: examination times the chance that an examined document is
    clicked if it is relevant, or not. By EM. Where :math:`\zeta^- = 0` it is the position-based model. Click
    probabilities are identified; r only up to a shift and a scale, which depend on the start.

    A click is corrected to :math:`(C - \zeta^-_i) / (\zeta^+_i - \zeta^-_i)`, whose mean is r (`corrected_clicks`).

    Attributes
    ----------
    relevant_, irrelevant_
        :math:`\zeta^+` and :math:`\zeta^-` of each rank.

    References
    ----------
    Agarwal, Wang, Li, Bendersky, Najork: Addressing trust bias for unbiased learning-to-rank. WWW 2019. Vardasbi,
    Oosterhuis, de Rijke: When inverse propensity scoring does not work: affine corrections for unbiased learning to
    rank. CIKM 2020.
    """

    _ids: ClassVar[tuple[str, ...]] = ("logs.propensity",)
    name: ClassVar[str] = "TrustBias"
    paper: ClassVar[str] = "Agarwal, Wang, Li, Bendersky, Najork 2019"
    _arrays: ClassVar[tuple[str, ...]] = ("relevant_", "irrelevant_")

    def _prepare(self, log: ClickLog) -> CellCounts:
        return count_cells(log, rank_cells(log, self.n_ranks_), self.n_ranks_)

    def _start(self, log: ClickLog, state: CellCounts) -> None:
        rate = (state.cell_clicks + 0.5) / (state.cell_shown + 1.0)
        self.relevant_, self.irrelevant_ = clipped(np.minimum(2.5 * rate, 0.9)), clipped(0.3 * rate)
        self.attraction_ = clipped((self.clicks_ + 1.0) / (self.shown_ * 0.7 + 2.0))
        self._pair = np.repeat(np.arange(log.n_pairs), np.diff(state.starts))

    def _pass(self, state: CellCounts) -> float:
        r, cell = self.attraction_[self._pair], state.cell
        good, bad = self.relevant_[cell], self.irrelevant_[cell]
        chance = good * r + bad * (1 - r)
        value = float((state.clicks * np.log(chance) + state.skips * np.log1p(-chance)).sum())
        good_clicks = state.clicks * good * r / chance
        good_skips = state.skips * (1 - good) * r / (1 - chance)
        total = np.bincount(self._pair, good_clicks + good_skips, minlength=self.attraction_.size)
        a, b = self.prior_
        self._hits = total
        self.examined_ = self.shown_
        self.attraction_ = clipped((total + a) / np.maximum(self.shown_ + a + b, 1e-12))
        n = self.n_ranks_
        hits, all_good = (
            np.bincount(cell, good_clicks, minlength=n),
            np.bincount(cell, good_clicks + good_skips, minlength=n),
        )
        all_clicks = np.bincount(cell, state.clicks, minlength=n)
        all_bad = state.cell_shown - all_good
        self.relevant_ = clipped(np.where(all_good > 0, hits / np.maximum(all_good, 1e-12), self.relevant_))
        other = (all_clicks - hits) / np.maximum(all_bad, 1e-12)
        self.irrelevant_ = clipped(np.where(all_bad > 0, other, self.irrelevant_))
        return value

    def _estimate_priors(self, state: Any) -> None:
        """Imputed relevances are not counts: the prior stays."""

    def click_probabilities(self, log: ClickLog) -> np.ndarray:
        """Probability of a click on each row, before any click of the page is known."""
        r, rank = self.attraction(log)[log.pair], rank_cells(log, self.n_ranks_)
        return self.relevant_[rank] * r + self.irrelevant_[rank] * (1 - r)

    def conditional_probabilities(self, log: ClickLog) -> np.ndarray:
        """Probability of a click on each row, given what was clicked above it."""
        return self.click_probabilities(log)

    def corrected_clicks(self, log: ClickLog, *, smallest: float = 0.01) -> np.ndarray:
        """Clicks of each row corrected for rank and trust; they may be negative, their mean is the relevance.

        Parameters
        ----------
        smallest
            Spans ζ⁺ − ζ⁻ below this count as this.
        """
        rank = rank_cells(log, self.n_ranks_)
        span = np.maximum(self.relevant_ - self.irrelevant_, smallest)
        return (log.clicked - self.irrelevant_[rank]) / span[rank]

    def _draw(self, log: ClickLog, rng: np.random.Generator) -> np.ndarray:
        return rng.random(log.n_rows) < self.click_probabilities(log)
