"""The trust-bias model: high ranks are not only seen more, they are also believed more."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from plackett._base.errors import PlackettWarning
from plackett.clicks.log import ClickLog
from plackett.clicks.models._prior import prior_of_scores
from plackett.clicks.models.base import ClickModel, clipped
from plackett.clicks.models.cells import CellCounts, count_ranks, rank_cells, rank_counts
from plackett.clicks.models.statistics import Sums, Totals
from plackett.clicks.profile import doubt_about_ranks

if TYPE_CHECKING:
    import polars as pl

__all__ = ["TrustBias"]


@dataclass(kw_only=True, eq=False)
class TrustBias(ClickModel):
    r"""Clicks that depend on relevance in a way of their own at each rank (affine click model).

    .. math:: P(C = 1 \mid d, i) = \zeta^+_i\, r_d + \zeta^-_i\, (1 - r_d)

    with :math:`\zeta^\pm_i = \theta_i \epsilon^\pm_i`: examination times the chance that an examined document is
    clicked if it is relevant, or not. By EM; the prior of r is estimated along the way. Where :math:`\zeta^- = 0` it is
    the position-based model. Click probabilities are identified; r only up to a shift and a scale, which depend on the
    start.

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

    name: ClassVar[str] = "TrustBias"
    _arrays: ClassVar[tuple[str, ...]] = ("relevant_", "irrelevant_")
    needs_moves: ClassVar[bool] = True
    _shared: ClassVar[tuple[str, ...]] = ("relevant_", "irrelevant_")

    def fit(self, log: ClickLog, *, verbose: bool = False) -> Self:
        """Fit the model to a log; warns if documents hardly moved, since then the relevances mean little."""
        super().fit(log, verbose=verbose)
        doubt = doubt_about_ranks(log)
        if doubt is not None:
            warnings.warn(f"TrustBias cannot tell trust from relevance here. {doubt}", PlackettWarning, stacklevel=2)
        return self

    def pages_of(self, log: ClickLog) -> CellCounts:
        """What passes over the log need."""
        return count_ranks(log, self.n_ranks_, self.n_jobs)

    def _start(self, totals: Totals) -> None:
        rate = (totals.cell_clicks + 0.5) / (totals.cell_shown + 1.0)
        self.relevant_, self.irrelevant_ = clipped(np.minimum(2.5 * rate, 0.9)), clipped(0.3 * rate)
        self.attraction_ = clipped((self.clicks_ + 1.0) / (self.shown_ * 0.7 + 2.0))
        self._cell_shown, self._cell_clicks = totals.cell_shown, totals.cell_clicks

    def expectations(self, pages: CellCounts) -> Sums:
        """Expectation step for a log or a part of it."""
        pair, cell, n = pages.pair, pages.cell, self.n_ranks_
        r, good, bad = self.attraction_[pair], self.relevant_[cell], self.irrelevant_[cell]
        chance = good * r + bad * (1 - r)
        value = float((pages.clicks * np.log(chance) + pages.skips * np.log1p(-chance)).sum())
        good_clicks = pages.clicks * good * r / chance
        good_all = good_clicks + pages.skips * (1 - good) * r / (1 - chance)
        slope = pages.clicks * (good - bad) / chance - pages.skips * (good - bad) / (1 - chance)
        known = (pages.clicks + pages.skips) * (good - bad) ** 2 / (chance * (1 - chance))
        by_pair = {"relevant": good_all, "slope": slope, "information": known}
        return Sums(
            value,
            {name: np.bincount(pair, each, minlength=self.attraction_.size) for name, each in by_pair.items()},
            {
                "relevant_clicks": np.bincount(cell, good_clicks, minlength=n),
                "relevant_shown": np.bincount(cell, good_all, minlength=n),
            },
        )

    def _maximise(self, sums: Sums) -> None:
        a, b = self.prior_
        self._last = self.attraction_, sums.pairs["slope"], sums.pairs["information"]
        self.examined_ = self.shown_
        self.attraction_ = clipped((sums.pairs["relevant"] + a) / np.maximum(self.shown_ + a + b, 1e-12))
        hits, good = sums.shared["relevant_clicks"], sums.shared["relevant_shown"]
        bad = self._cell_shown - good
        self.relevant_ = clipped(np.where(good > 0, hits / np.maximum(good, 1e-12), self.relevant_))
        other = (self._cell_clicks - hits) / np.maximum(bad, 1e-12)
        self.irrelevant_ = clipped(np.where(bad > 0, other, self.irrelevant_))

    def _estimate_priors(self) -> None:
        self.prior_ = prior_of_scores(*self._last, self.prior_)

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
            Smaller spans ζ⁺ − ζ⁻ are raised to this value.
        """
        rank = rank_cells(log, self.n_ranks_)
        span = np.maximum(self.relevant_ - self.irrelevant_, smallest)
        return (log.clicked - self.irrelevant_[rank]) / span[rank]

    def corrected_labels(self, log: ClickLog, *, smallest: float = 0.01) -> pl.DataFrame:
        r"""Click rate of each pair of a log corrected for rank and trust: query, document, label, weight.

        .. math:: \frac{\sum_i c_i - n_i\,\zeta^-_i}{\sum_i n_i\,(\zeta^+_i - \zeta^-_i)}

        0 where it would be negative. ``weight`` is the denominator, what was seen and told relevance: `ExposureSoftmax`
        learns from both.
        """
        pair, rank, clicks, shown = rank_counts(log)
        rank = np.minimum(rank, self.n_ranks_ - 1)
        span = np.maximum(self.relevant_ - self.irrelevant_, smallest)
        seen = np.bincount(pair, shown * span[rank], minlength=log.n_pairs)
        rest = np.bincount(pair, clicks - shown * self.irrelevant_[rank], minlength=log.n_pairs)
        return log.with_pairs(label=np.maximum(rest, 0.0) / np.maximum(seen, 1e-12), weight=seen)

    def _draw(self, log: ClickLog, rng: np.random.Generator) -> np.ndarray:
        return rng.random(log.n_rows) < self.click_probabilities(log)
