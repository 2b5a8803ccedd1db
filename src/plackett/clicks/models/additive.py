"""The additive two-tower model: a logistic regression on document and rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.clicks.log import ClickLog
from plackett.clicks.models.base import ClickModel
from plackett.clicks.models.cells import CellCounts, count_ranks, rank_cells
from plackett.clicks.models.statistics import Sums, Totals

__all__ = ["AdditiveTwoTower"]


@kernel
def _additive_pass(lo, hi, part_entries, part_pairs, counts, ranks, precision, effects, bends, by_rank, value):
    starts, cell, clicks, skips = counts
    for part in range(lo, hi):
        for p in range(part_pairs[part], part_pairs[part + 1]):
            effect = effects[p]
            for _ in range(3):  # Newton steps in one dimension; the function is concave
                slope = -precision * effect
                bend = precision
                for i in range(starts[p], starts[p + 1]):
                    chance = 1.0 / (1.0 + np.exp(-(effect + ranks[cell[i]])))
                    n = clicks[i] + skips[i]
                    slope += clicks[i] - n * chance
                    bend += n * chance * (1.0 - chance)
                effect += min(max(slope / max(bend, 1e-12), -2.0), 2.0)
                effect = min(max(effect, -15.0), 15.0)
            effects[p] = effect
            bend = 0.0
            for i in range(starts[p], starts[p + 1]):
                level = effect + ranks[cell[i]]
                chance = 1.0 / (1.0 + np.exp(-level))
                n = clicks[i] + skips[i]
                bend += n * chance * (1.0 - chance)
                by_rank[part, 0, cell[i]] += clicks[i] - n * chance
                by_rank[part, 1, cell[i]] += n * chance * (1.0 - chance)
                value[part] += clicks[i] * level + n * np.log(max(1.0 - chance, 1e-300))
            bends[p] = bend


@dataclass(kw_only=True, eq=False)
class AdditiveTwoTower(ClickModel):
    r"""Additive two-tower model: the log-odds of a click are those of the document plus those of the rank.

    .. math:: P(C = 1 \mid d, i) = \sigma(a_d + b_i)

    Craswell's logistic model. :math:`a` has a normal prior with mean 0 whose variance is estimated (``prior``:
    ``"estimated"``, a precision, or None for 10⁻⁴). By Newton's method on pairs and ranks in turn.

    Attributes
    ----------
    pair_effect_, rank_effect_
        a and b. ``attraction_`` is the click probability at the first rank, :math:`\sigma(a_d + b_1)`.
    precision_
        Inverse of the variance of the prior of a.

    References
    ----------
    Craswell, Zoeter, Taylor, Ramsey: An experimental comparison of click position-bias models. WSDM 2008.
    """

    name: ClassVar[str] = "AdditiveTwoTower"
    aliases: ClassVar[tuple[str, ...]] = ("Logistic",)
    _arrays: ClassVar[tuple[str, ...]] = ("pair_effect_", "rank_effect_", "curvature_")
    needs_moves: ClassVar[bool] = True
    _by_pair: ClassVar[tuple[str, ...]] = ("pair_effect_",)
    _shared: ClassVar[tuple[str, ...]] = ("rank_effect_", "precision_")

    def _given_prior(self) -> Any:
        from plackett.clicks.models._prior import FLAT

        self.precision_ = 1.0 if isinstance(self.prior, str) else 1e-4 if self.prior is None else float(self.prior)
        return FLAT

    def pages_of(self, log: ClickLog) -> CellCounts:
        """What passes over the log need."""
        return count_ranks(log, self.n_ranks_, self.n_jobs)

    def _start(self, totals: Totals) -> None:
        rate = (totals.cell_clicks + 0.5) / (totals.cell_shown + 1.0)
        self.rank_effect_ = np.log(rate / (1 - rate))
        self.pair_effect_ = np.zeros(self.shown_.size)
        self.examined_ = self.shown_

    def expectations(self, pages: CellCounts) -> Sums:
        """Expectation step for a log or a part of it."""
        part_pairs, part_entries = pages.parts
        n_parts = part_pairs.size - 1
        effect, curvature = self.pair_effect_.copy(), np.empty(self.pair_effect_.size)
        by_rank, value = np.zeros((n_parts, 2, self.n_ranks_)), np.zeros(n_parts)
        over_queries(
            _additive_pass,
            part_entries,
            part_pairs,
            (pages.starts, pages.cell, pages.clicks, pages.skips),
            self.rank_effect_,
            self.precision_,
            effect,
            curvature,
            by_rank,
            value,
            n_jobs=self.n_jobs,
        )
        penalised = float(value.sum()) - 0.5 * self.precision_ * float((effect**2).sum())
        return Sums(penalised, {"effect": effect, "curvature": curvature}, {"slope_and_bend": by_rank.sum(axis=0)})

    def _maximise(self, sums: Sums) -> None:
        self.pair_effect_, self.curvature_ = sums.pairs["effect"], sums.pairs["curvature"]
        slope, bend = sums.shared["slope_and_bend"]
        self.rank_effect_ = self.rank_effect_ + np.clip(slope / np.maximum(bend, 1e-9), -2.0, 2.0)
        self.attraction_ = _sigmoid(self.pair_effect_ + self.rank_effect_[0])

    def _estimate_priors(self) -> None:
        # the variance under which the effects are most probable, with their uncertainty
        spread = float((self.pair_effect_**2 + 1.0 / (self.curvature_ + self.precision_)).mean())
        self.precision_ = float(np.clip(1.0 / max(spread, 1e-9), 1e-3, 1e4))

    def _numbers(self) -> dict[str, Any]:
        return {"precision_": self.precision_}

    def _numbers_known(self) -> tuple[str, ...]:
        return ("precision_",)

    def _unknown(self) -> float:
        return float(_sigmoid(self.rank_effect_[0]))

    def _interval(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        from scipy.special import ndtri

        half = float(ndtri((1 + level) / 2)) / np.sqrt(self.curvature_ + self.precision_)
        at = self.pair_effect_ + self.rank_effect_[0]
        return _sigmoid(at - half), _sigmoid(at + half)

    def click_probabilities(self, log: ClickLog) -> np.ndarray:
        """Probability of a click on each row, before any click of the page is known."""
        self.check_fitted()
        effect = self._of_pairs(self.pair_effect_, log, 0.0)[log.pair]
        return _sigmoid(effect + self.rank_effect_[rank_cells(log, self.n_ranks_)])

    def conditional_probabilities(self, log: ClickLog) -> np.ndarray:
        """Probability of a click on each row, given what was clicked above it."""
        return self.click_probabilities(log)

    def _draw(self, log: ClickLog, rng: np.random.Generator) -> np.ndarray:
        return rng.random(log.n_rows) < self.click_probabilities(log)


def _sigmoid(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-np.clip(x, -500, 500)))
