"""What an order of ads earns: generalised second price with quality and a reserve price."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett.data.dataset import RankingDataset

__all__ = ["Auction", "best_reserve", "second_price"]


class Auction(NamedTuple):
    """Outcome of the auctions of some lists; arrays have an entry per ad."""

    #: Slot of each ad, from 1; 0 if it is not shown.
    slot: np.ndarray
    #: Price of a click.
    price: np.ndarray
    #: Expected payment: examination of the slot × quality × price.
    payment: np.ndarray

    @property
    def revenue(self) -> float:
        """Expected revenue of all lists."""
        return float(self.payment.sum())


@kernel
def _auction(offsets, order, bid, quality, reserve, examination, slot, price, payment):
    for q in range(offsets.size - 1):
        shown = 0
        above = -1
        for i in range(offsets[q], offsets[q + 1]):
            ad = order[i]
            if bid[ad] < reserve or bid[ad] * quality[ad] <= 0.0:
                continue
            if above >= 0:  # enough to stay above this one
                price[above] = min(bid[above], max(reserve, bid[ad] * quality[ad] / quality[above]))
            if shown == examination.size:
                above = -1
                break
            slot[ad] = shown + 1
            shown += 1
            above = ad
        if above >= 0:
            price[above] = reserve
        for ad in range(offsets[q], offsets[q + 1]):
            if slot[ad] > 0:
                payment[ad] = examination[slot[ad] - 1] * quality[ad] * price[ad]


def second_price(
    data: RankingDataset, bids: Any, quality: Any, *, reserve: float = 0.0, examination: Any = (1.0,)
) -> Auction:
    r"""Generalised second price auctions: ads in the order of bid × quality, each pays the least that keeps its slot.

    .. math:: p_j = \max\Big(r, \frac{b_{j+1} q_{j+1}}{q_j}\Big), \qquad
              \text{revenue} = \sum_j x_j \, q_j \, p_j

    j counts the slots of a list, b is the bid, q the quality (the probability of a click when the slot is examined), x
    the examination of the slot and r the reserve price. Ads whose bid is below r are not shown; the last ad pays
    r if nobody is below it. With equal products the ad that stands first gets the higher slot. The order is
    the one with the largest expected value :math:`\sum_j x_j q_j b_j`, if examination falls with the slots.

    Parameters
    ----------
    data
        The lists; documents are ads.
    bids, quality
        For each ad: what it offers for a click, and the probability that it is clicked when it is examined. Qualities
        come from a model: those of a calibrated ranker (``ranker.calibration_``), or of a regression on clicks.
    reserve
        Minimum price of a click.
    examination
        Probability that each slot is examined, from the top; there are as many slots as entries.

    References
    ----------
    Edelman, Ostrovsky, Schwarz: Internet advertising and the generalized second-price auction. American Economic Review
    2007.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [0, 0, 0], ["shoes"] * 3)
    >>> outcome = second_price(data, [2.0, 1.0, 3.0], [0.1, 0.5, 0.2], examination=[1.0, 0.5])
    >>> outcome.slot.tolist(), outcome.price.round(2).tolist()  # the products are .2, .5 and .6
    ([0, 2, 1], [0.0, 0.4, 2.5])
    >>> round(outcome.revenue, 4)  # .2 · 2.5 + .5 · .5 · .4
    0.6
    """
    bid, chance, look = _checked(data, bids, quality, reserve, examination)
    order = np.lexsort((-bid * chance, data.query_of_row))
    out = Auction(np.zeros(bid.size, np.int64), np.zeros(bid.size), np.zeros(bid.size))
    _auction(data.offsets, order, bid, chance, float(reserve), look, *out)
    return out


def best_reserve(data: RankingDataset, bids: Any, quality: Any, *, examination: Any = (1.0,)) -> tuple[float, float]:
    """The reserve price with the largest expected revenue, and that revenue.

    Between two bids the ads that are shown stay the same and prices can only rise with the reserve, so that the best
    reserve is one of the bids, or 0. All are tried. Bids are taken as they are, although advertisers who notice a
    reserve may change theirs.

    References
    ----------
    Ostrovsky, Schwarz: Reserve prices in internet advertising auctions. EC 2011.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [0, 0, 0, 0], [1, 1, 2, 2])
    >>> best_reserve(data, [3.0, 1.0, 2.0, 0.5], [1.0, 1.0, 1.0, 1.0])
    (2.0, 4.0)
    """
    bid, chance, look = _checked(data, bids, quality, 0.0, examination)
    best = 0.0, second_price(data, bid, chance, examination=look).revenue
    for reserve in np.unique(bid).tolist():
        revenue = second_price(data, bid, chance, reserve=reserve, examination=look).revenue
        if revenue > best[1]:
            best = reserve, revenue
    return best


def _checked(
    data: RankingDataset, bids: Any, quality: Any, reserve: float, examination: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    bid, chance, look = (np.asarray(values, np.float64) for values in (bids, quality, examination))
    for name, values in (("bids", bid), ("quality", chance)):
        if values.shape != (data.n_rows,):
            raise DataError(f"{name} has shape {values.shape}, but there are {data.n_rows} ads")
        if not (np.isfinite(values) & (values >= 0)).all():
            raise DataError(f"{name} must be 0 or more")
    if look.ndim != 1 or not look.size or not ((look >= 0) & (look <= 1)).all():
        raise DataError("examination needs a probability for each slot, from the top")
    number("reserve", reserve, least=0)
    return bid, chance, look
