"""The pairwise 0–1 loss and its surrogates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plackett._base.arguments import number
from plackett.data.arguments import array
from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss

__all__ = ["pair_loss_curve", "pair_loss_shape"]


class PairLossShape(NamedTuple):
    """Whether a pair loss is an upper bound of the 0–1 loss, and whether it is convex in the difference of scores."""

    bounds: bool
    convex: bool


def pair_loss_curve(loss: Loss, gaps: np.ndarray) -> np.ndarray:
    r"""Value of a pair loss at differences :math:`\Delta = s_u - s_v` of the scores of a better and a worse document.

    >>> from plackett.losses.pairwise.hinge import Hinge
    >>> pair_loss_curve(Hinge(), np.array([-1.0, 0.0, 2.0])).tolist()
    [2.0, 1.0, 0.0]

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 3.2.3.
    """
    gaps = array("gaps", gaps)
    data = RankingDataset.from_arrays(None, np.tile([1.0, 0.0], gaps.size), np.repeat(np.arange(gaps.size), 2))
    bound = loss.bind(data)
    scores = np.stack([gaps, np.zeros(gaps.size)], axis=1).ravel()
    return bound.evaluate(bound.check(scores))[0]


def pair_loss_shape(loss: Loss, scale: float = 1.0) -> PairLossShape:
    r"""Whether a pair loss, times ``scale``, bounds :math:`[\Delta < 0]` from above and is convex, on a grid.

    The hinge and exponential losses are bounds. The logistic loss is a bound if divided by log 2, but not in natural
    logarithms. The fidelity and sigmoid losses are not.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 3.2.3.

    Examples
    --------
    >>> from plackett.losses.pairwise.logistic import Logistic
    >>> pair_loss_shape(Logistic()), pair_loss_shape(Logistic(), scale=1 / np.log(2))
    (PairLossShape(bounds=False, convex=True), PairLossShape(bounds=True, convex=True))
    """
    number("scale", scale, above=0.0)
    gaps = np.linspace(-6.0, 6.0, 1202)  # without 0, so that just below it there is a point
    values = scale * pair_loss_curve(loss, gaps)
    slack = 1e-9 * max(1.0, float(np.abs(values).max()))
    # a bound just below 0 must be at least 1 at 0: follow the line through the two points before it
    below = values[gaps < 0]
    at_zero = 1.5 * below[-1] - 0.5 * below[-2]
    bounds = (values >= (gaps < 0) - slack).all() and at_zero >= 1.0 - 1e-4
    bends = values[2:] - 2.0 * values[1:-1] + values[:-2]
    return PairLossShape(bool(bounds), bool((bends >= -slack).all()))
