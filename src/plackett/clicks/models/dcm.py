"""The dependent click model: exact by EM, and the closed form of its bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.clicks.log import ClickLog
from plackett.clicks.models._chain import CLICKS, CLICKS_GONE_ON
from plackett.clicks.models._families import ChainModel
from plackett.clicks.models._prior import estimate_prior
from plackett.clicks.models.base import clipped
from plackett.clicks.models.statistics import Sums, Totals

__all__ = ["DCM", "DCMClosedForm"]


@dataclass(kw_only=True, eq=False)
class DCM(ChainModel):
    r"""Dependent click model: after a click at rank i users read on with probability :math:`\lambda_i`.

    Users read from the top; after a skip they always read on. With the last click at l, a page has the log-likelihood

    .. math:: \sum_{i \le l} [C_i \log r_i + (1 - C_i) \log(1 - r_i)] + \sum_{i<l} C_i \log \lambda_i
              + \log\Big(1 - \lambda_l + \lambda_l \prod_{j>l} (1 - r_j)\Big)

    Fitted by EM: exact maximum likelihood. `DCMClosedForm` is the paper's estimate, which takes every last click for
    the end of the reading; it is biased even on data of the model itself. :math:`\lambda` of the last rank is not
    identified.

    Attributes
    ----------
    continuation_
        :math:`\lambda` of each rank.

    References
    ----------
    Guo, Liu, Wang: Efficient multiple-click models in web search. WSDM 2009.
    """

    name: ClassVar[str] = "DCM"
    _arrays: ClassVar[tuple[str, ...]] = ("continuation_",)
    _shared: ClassVar[tuple[str, ...]] = ("continuation_",)

    def _start(self, totals: Totals) -> None:
        super()._start(totals)
        self.continuation_ = np.full(self.n_ranks_, 0.5)

    def _click_go(self) -> np.ndarray:
        return self.continuation_

    def _maximise(self, sums: Sums) -> None:
        self.informed_ = sums.pairs["informed"]
        self._attract(sums.pairs["examined"])
        clicks, gone_on = sums.shared["ranks"][CLICKS], sums.shared["ranks"][CLICKS_GONE_ON]
        self.continuation_ = clipped(np.where(clicks > 0, gone_on / np.maximum(clicks, 1e-12), self.continuation_))


@dataclass(kw_only=True, eq=False)
class DCMClosedForm(ChainModel):
    r"""Dependent click model with the paper's estimate in one pass: the maximum of a lower bound of the likelihood.

    .. math:: \hat r_d = \frac{\#\text{clicks}}{\#\text{impressions at ranks} \le l}, \qquad
              \hat\lambda_i = 1 - \frac{\#\text{last clicks at } i}{\#\text{clicks at } i}

    with l the last click, or the end of the page if there is none. It counts users who went on and clicked nothing as
    stopped: :math:`\hat\lambda` is too low and :math:`\hat r` too high, however large the log. `DCM` is exact.

    References
    ----------
    Guo, Liu, Wang: Efficient multiple-click models in web search. WSDM 2009.
    """

    name: ClassVar[str] = "DCMClosedForm"
    _arrays: ClassVar[tuple[str, ...]] = ("continuation_",)

    def _fit(self, log: ClickLog, verbose: bool) -> None:
        examined, last = rows_to_last_click(log)
        rank = log.rank - 1
        clicks = np.bincount(rank, log.row_weight * log.clicked, minlength=self.n_ranks_)
        ends = np.bincount(rank, log.row_weight * last, minlength=self.n_ranks_)
        self.continuation_ = clipped(1.0 - ends / np.maximum(clicks, 1e-12))
        total = np.bincount(log.pair, log.row_weight * examined, minlength=log.n_pairs)
        if isinstance(self.prior, str):
            self.prior_ = estimate_prior(self.clicks_, total)
        self._attract(total)
        self.log_likelihoods_.append(self.log_likelihood(log))
        self.n_iter_ = 1

    def _click_go(self) -> np.ndarray:
        return self.continuation_


def rows_to_last_click(log: ClickLog) -> tuple[np.ndarray, np.ndarray]:
    """Whether each row is at or above the last click (all rows of a page without clicks), and whether it is it."""
    lowest = np.repeat(log.last_click, log.lengths)
    return (log.rank <= lowest) | (lowest == 0), log.clicked & (log.rank == lowest)
