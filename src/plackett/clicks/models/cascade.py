"""The cascade model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett.clicks.log import ClickLog
from plackett.clicks.models._families import ChainModel
from plackett.clicks.models._prior import estimate_prior

__all__ = ["CascadeModel"]


@dataclass(kw_only=True, eq=False)
class CascadeModel(ChainModel):
    r"""Cascade model: users read from the top and stop at the first click.

    .. math:: P(\text{click at } i) = r_{d_i} \prod_{j<i} (1 - r_{d_j})

    Exact maximum likelihood in one pass: clicks on a document per impression at or above the first click.

    Parameters
    ----------
    several
        Pages with several clicks have probability 0. ``"first"`` fits their part down to the first click, ``"drop"``
        leaves them out.

    References
    ----------
    Craswell, Zoeter, Taylor, Ramsey: An experimental comparison of click position-bias models. WSDM 2008.
    """

    name: ClassVar[str] = "Cascade"
    several_clicks: ClassVar[bool] = False

    several: str = "first"

    def _fit(self, log: ClickLog, verbose: bool) -> None:
        choice("several", self.several, ("first", "drop"))
        before = _clicks_above(log)
        read = before == 0
        if self.several == "drop":
            counts = np.bincount(log.page, log.clicked, minlength=log.n_pages)
            read &= np.repeat(counts <= 1, log.lengths)
        weight = log.row_weight * read
        self.clicks_ = np.bincount(log.pair, weight * log.clicked, minlength=log.n_pairs)
        examined = np.bincount(log.pair, weight, minlength=log.n_pairs)
        if isinstance(self.prior, str):
            self.prior_ = estimate_prior(self.clicks_, examined)
        self._attract(examined)
        self.log_likelihoods_.append(self.log_likelihood(log))
        self.n_iter_ = 1

    def _click_go(self) -> np.ndarray:
        return np.zeros(self.n_ranks_)


def _clicks_above(log: ClickLog) -> np.ndarray:
    """Number of clicked rows above each row of its page."""
    total = np.concatenate(([0], np.cumsum(log.clicked)))
    return total[:-1] - np.repeat(total[log.offsets[:-1]], log.lengths)
