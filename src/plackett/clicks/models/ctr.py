"""Click rates: the baselines that every model must beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.clicks.log import ClickLog
from plackett.clicks.models._cells import rank_cells
from plackett.clicks.models._prior import estimate_prior
from plackett.clicks.models.base import SMALLEST, ClickModel, clipped

__all__ = ["GlobalCTR", "IndependentClickModel", "RankCTR"]


@dataclass(kw_only=True, eq=False)
class _Independent(ClickModel):
    """Clicks that do not depend on each other."""

    def conditional_probabilities(self, log: ClickLog) -> np.ndarray:
        """Probability of a click on each row, given what was clicked above it."""
        return self.click_probabilities(log)

    def _draw(self, log: ClickLog, rng: np.random.Generator) -> np.ndarray:
        return rng.random(log.n_rows) < self.click_probabilities(log)


@dataclass(kw_only=True, eq=False)
class GlobalCTR(_Independent):
    """One click rate for everything (random click model)."""

    name: ClassVar[str] = "GlobalCTR"

    def _fit(self, log: ClickLog, verbose: bool) -> None:
        rate = float(clipped(self.clicks_.sum() / self.shown_.sum()))
        self.examined_ = self.shown_
        self.attraction_ = np.full(log.n_pairs, rate)
        self.log_likelihoods_.append(self.log_likelihood(log))
        self.n_iter_ = 1

    def click_probabilities(self, log: ClickLog) -> np.ndarray:
        """Probability of a click on each row, before any click of the page is known."""
        return np.full(log.n_rows, self.attraction_[0])


@dataclass(kw_only=True, eq=False)
class RankCTR(_Independent):
    """One click rate per rank, whatever is shown there."""

    name: ClassVar[str] = "RankCTR"
    _arrays: ClassVar[tuple[str, ...]] = ("rates_",)

    def _fit(self, log: ClickLog, verbose: bool) -> None:
        rank = rank_cells(log, self.n_ranks_)
        shown = np.bincount(rank, log.row_weight, minlength=self.n_ranks_)
        clicks = np.bincount(rank, log.row_weight * log.clicked, minlength=self.n_ranks_)
        self.rates_ = clipped(clicks / np.maximum(shown, 1e-12))
        self.examined_ = self.shown_
        self.attraction_ = np.full(log.n_pairs, float(clipped(clicks.sum() / shown.sum())))
        self.log_likelihoods_.append(self.log_likelihood(log))
        self.n_iter_ = 1

    def click_probabilities(self, log: ClickLog) -> np.ndarray:
        """Probability of a click on each row, before any click of the page is known."""
        return self.rates_[rank_cells(log, self.n_ranks_)]


@dataclass(kw_only=True, eq=False)
class IndependentClickModel(_Independent):
    r"""Every document is examined, and a click says how attractive it is: the rate of clicks of each pair.

    .. math:: P(C_i = 1) = r_{d_i}

    The baseline without position bias (Craswell's "no bias", the document click rate, the independent click model of
    Guo, Liu and Wang 2009).

    References
    ----------
    Guo, Liu, Wang: Efficient multiple-click models in web search. WSDM 2009.

    Examples
    --------
    >>> log = ClickLog.from_arrays(["q"] * 4, [["a", "b"]] * 4, [[1, 0], [1, 0], [0, 1], [1, 0]])
    >>> IndependentClickModel(prior=None).fit(log).attraction_.round(3).tolist()
    [0.75, 0.25]
    """

    name: ClassVar[str] = "ICM"
    aliases: ClassVar[tuple[str, ...]] = ("DocumentCTR", "DCTR")

    def _fit(self, log: ClickLog, verbose: bool) -> None:
        if isinstance(self.prior, str):
            self.prior_ = estimate_prior(self.clicks_, self.shown_)
        self._attract(self.shown_)
        chance = np.clip(self.attraction_, SMALLEST, 1 - SMALLEST)
        skips = self.shown_ - self.clicks_
        self.log_likelihoods_.append(float((self.clicks_ * np.log(chance) + skips * np.log(1.0 - chance)).sum()))
        self.n_iter_ = 1

    def click_probabilities(self, log: ClickLog) -> np.ndarray:
        """Probability of a click on each row, before any click of the page is known."""
        return self.attraction(log)[log.pair]
