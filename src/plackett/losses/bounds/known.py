"""What is known about a loss and a measure."""

from __future__ import annotations

from typing import Any

from plackett.losses.base import Loss
from plackett.losses.bounds.known_bound import KnownBound

__all__ = ["known_bounds"]

__home__ = "theory"


def known_bounds(loss: Loss, measure: Any = None) -> list[KnownBound]:
    r"""The bounds of a measure by a loss that are known: also ``loss.bounds(measure)``.

    Pair losses φ with φ ≥ φ(0) > 0 for wrong pairs, divided by φ(0), and ListMLE, divided by log 2, bound the essential
    loss times the largest weight, and through it 1 − nDCG, 1 − AP and 1 − RR (Theorems 5.1 to 5.3). For the logistic
    loss φ(0) is log 2: without the division the inequality fails. The square loss bounds nDCG where its targets are the
    gains.

    Parameters
    ----------
    measure
        A measure or its name; None gives the bounds for every measure that has one.

    References
    ----------
    Chen, Liu, Lan, Ma, Li: Ranking measures and loss functions in learning to rank. NIPS 2009.

    Examples
    --------
    >>> from plackett.losses import Hinge, ListNetLoss
    >>> for bound in known_bounds(Hinge(), "nDCG@10"):
    ...     print(bound)
    1 − nDCG@10 ≤ G(max) η(1) / Z · L  (Theorems 5.1 and 5.2)
    >>> known_bounds(ListNetLoss(), "AP")
    []
    """
    return loss.bounds(measure)
