"""The click chain model: by EM, and the paper's Bayesian form in one pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett.clicks.log import ClickLog
from plackett.clicks.models._chain import SKIPS, SKIPS_GONE_ON
from plackett.clicks.models._families import ChainModel
from plackett.clicks.models._grid import GRID, grid_moments
from plackett.clicks.models._prior import beta_interval
from plackett.clicks.models.base import clipped
from plackett.clicks.models.cells import count_cells
from plackett.clicks.models.statistics import Sums, Totals

__all__ = ["CCM", "BayesianCCM"]


@dataclass(kw_only=True, eq=False)
class _ClickChain(ChainModel):
    alphas_: Any = field(init=False, repr=False)

    def _stop(self) -> np.ndarray:
        _, a2, a3 = self.alphas_
        return self.attraction_ * (1.0 - a3 / a2)

    def _unknown_stop(self) -> float:
        _, a2, a3 = self.alphas_
        return self._unknown() * (1.0 - a3 / a2)

    def _skip_go(self) -> np.ndarray:
        return np.full(self.n_ranks_, self.alphas_[0])

    def _click_go(self) -> np.ndarray:
        return np.full(self.n_ranks_, self.alphas_[1])

    def _numbers(self) -> dict[str, Any]:
        return {"alphas_": list(self.alphas_)}

    def _numbers_known(self) -> tuple[str, ...]:
        return ("alphas_",)

    def _check_restored(self) -> None:
        if len(self.alphas_) != 3 or not all(0 < a <= 1 for a in self.alphas_):
            raise DataError(f"alphas_ are {self.alphas_}")


@dataclass(kw_only=True, eq=False)
class CCM(_ClickChain):
    r"""Click chain model: how likely users read on after a click depends on the relevance of what they found.

    .. math:: P(E_{i+1} \mid E_i, C_i = 0) = \alpha_1, \qquad
              P(E_{i+1} \mid C_i = 1) = \alpha_2 (1 - r) + \alpha_3 r

    Fitted by EM with one r per pair, exact maximum likelihood. Because pairs differ, both :math:`\alpha_2` and
    :math:`\alpha_3` are identified. `BayesianCCM` is the paper's own, with a distribution of r.

    Attributes
    ----------
    alphas_
        :math:`\alpha_1, \alpha_2, \alpha_3`.

    References
    ----------
    Guo, Liu, Kannan, Minka, Taylor, Wang, Faloutsos: Click chain model in web search. WWW 2009.
    """

    name: ClassVar[str] = "CCM"
    _shared: ClassVar[tuple[str, ...]] = ("alphas_",)

    def _start(self, totals: Totals) -> None:
        super()._start(totals)
        self.alphas_ = (0.8, 0.7, 0.4)

    def _maximise(self, sums: Sums) -> None:
        clicks, gone_on, ranks = sums.pairs["clicks"], sums.pairs["gone_on"], sums.shared["ranks"]
        a1, a2, a3 = self.alphas_
        r = self.attraction_
        go = a2 * (1 - r) + a3 * r
        good_gone = gone_on * r * a3 / go
        good_stopped = (clicks - gone_on) * r * (1 - a3) / np.maximum(1 - go, 1e-12)
        good = good_gone + good_stopped
        bad, bad_gone = clicks.sum() - good.sum(), gone_on.sum() - good_gone.sum()
        skips = ranks[SKIPS].sum()
        a1 = float(ranks[SKIPS_GONE_ON].sum() / skips) if skips > 0 else a1
        a2 = float(bad_gone / bad) if bad > 0 else a2
        a3 = float(good_gone.sum() / good.sum()) if good.sum() > 0 else a3
        a1, a2, a3 = (float(np.clip(a, 1e-6, 1 - 1e-9)) for a in (a1, a2, a3))
        self.alphas_ = (a1, a2, a3)
        a, b = self.prior_
        self.informed_, self.examined_ = sums.pairs["informed"], sums.pairs["examined"]
        # r is the chance of a click and, after it, of a satisfied user: a second trial per click
        total = self.examined_ + clicks + a + b
        self.attraction_ = clipped((self.clicks_ + good + a) / np.maximum(total, 1e-12))


@dataclass(kw_only=True, eq=False)
class BayesianCCM(_ClickChain):
    r"""Click chain model as published: uniform prior of relevance, posterior and parameters in one pass.

    The posterior of the relevance R of a document is a product of one factor per impression: 1 − R for a skip above the
    last click, :math:`R(1 - (1 - \alpha_3/\alpha_2) R)` for a click above it,
    :math:`R(1 + \frac{\alpha_2-\alpha_3}{2-\alpha_1-\alpha_2} R)` for the last click, and for a document d places below
    the last click, or at rank i of a page without clicks,

    .. math:: 1 - \frac{2R}{1 + \frac{6-3\alpha_1-\alpha_2-2\alpha_3}{(1-\alpha_1)(\alpha_2+2\alpha_3)}
              (2/\alpha_1)^{d-1}}, \qquad 1 - \frac{2R}{1 + (2/\alpha_1)^{i-1}}

    The formulas assume an endless list; short pages bias them. Only :math:`\alpha_2 + 2\alpha_3` is identified, their
    ratio is set.

    Parameters
    ----------
    ratio
        :math:`\alpha_3 / \alpha_2`: how much less likely users read on after a relevant document.

    References
    ----------
    Guo, Liu, Kannan, Minka, Taylor, Wang, Faloutsos: Click chain model in web search. WWW 2009.
    """

    name: ClassVar[str] = "BayesianCCM"
    _arrays: ClassVar[tuple[str, ...]] = ("posterior_",)

    prior: Any = None
    ratio: float = 0.5

    def _fit(self, log: ClickLog, verbose: bool) -> None:
        number("ratio", self.ratio, above=0, most=1)
        if self.prior is not None:
            raise DataError(f"prior={self.prior!r}; the prior of BayesianCCM is uniform: leave it at None")
        lowest = np.repeat(log.last_click, log.lengths)
        weight, m = log.row_weight, log.longest
        above = log.rank < lowest
        n1 = float(weight[above & ~log.clicked].sum())
        n2 = float(weight[above & log.clicked].sum())
        n3 = float(log.page_weight[log.last_click > 0].sum())
        n5 = float(log.page_weight[(log.last_click == 0) & (log.lengths > 0)].sum())
        self.alphas_ = self._alphas(n1, n2, n3, n5)
        # cells: skip above the last click, click above it, last click, 1 … m below it, ranks 1 … m without clicks
        cell = np.where(log.clicked, np.where(above, 1, 2), 0)
        cell = np.where(~log.clicked & ~above & (lowest > 0), 2 + log.rank - lowest, cell)
        cell = np.where(lowest == 0, 2 + m + log.rank, cell).astype(np.int32)
        counts = count_cells(log, cell, 3 + 2 * m, self.n_jobs)
        posterior = grid_moments(
            counts.starts,
            counts.cell,
            counts.clicks + counts.skips,
            np.zeros(log.n_pairs),
            np.log(np.maximum(factors(self.alphas_, m, GRID), 1e-300)),
            n_jobs=self.n_jobs,
        )
        self.attraction_, self.posterior_ = clipped(posterior[0]), posterior
        self.examined_ = self.shown_
        self.log_likelihoods_.append(self.log_likelihood(log))
        self.n_iter_ = 1

    def _alphas(self, n1: float, n2: float, n3: float, n5: float) -> tuple[float, float, float]:
        a1 = 0.5
        if n1 + n2 > 0:
            b = 3 * n1 + n2 + n5
            a1 = (b - np.sqrt(max(b * b - 8 * n1 * (n1 + n2), 0.0))) / (2 * (n1 + n2))
        a1 = float(np.clip(a1, 1e-3, 1 - 1e-3))
        total = 3 * n2 * (2 - a1) / (n2 + n3) if n2 + n3 > 0 else 1.0
        a2 = float(np.clip(total / (1 + 2 * self.ratio), 1e-3, 1 - 1e-3))
        return a1, a2, a2 * self.ratio

    def _unknown(self) -> float:
        return 0.5

    def _posterior(self, level: float) -> np.ndarray:
        mean, variance, _, _ = self.posterior_
        return np.array([mean, variance, *beta_interval(mean, variance, level)])


def factors(alphas: tuple[float, float, float], m: int, r: np.ndarray) -> np.ndarray:
    """Factors of the posterior at relevances r, one row per cell; see `BayesianCCM`."""
    a1, a2, a3 = alphas
    rows = [1 - r, r * (1 - (1 - a3 / a2) * r), r * (1 + (a2 - a3) / (2 - a1 - a2) * r)]
    growth = (2 / a1) ** np.arange(min(m, 400))
    growth = np.concatenate((growth, np.full(m - growth.size, np.inf)))
    start = (6 - 3 * a1 - a2 - 2 * a3) / ((1 - a1) * (a2 + 2 * a3))
    rows += [1 - 2 * r / (1 + start * g) for g in growth]
    rows += [1 - 2 * r / (1 + g) for g in growth]
    return np.array(rows)
