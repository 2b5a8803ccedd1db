"""The margin loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.arguments import number
from plackett.data.arguments import array

__all__ = ["margin_loss"]


def margin_loss(margins: Any, rho: float) -> np.ndarray:
    r"""Margin loss :math:`\Phi_\rho(u) = \min(1, \max(0, 1 - u / \rho))`: 1 up to 0, then falling to 0 at ρ.

    It has slope 1/ρ and lies between :math:`1[u \le 0]` and :math:`1[u \le \rho]`. For pairs with signs see
    `pair_margin_loss`.

    >>> margin_loss([-1.0, 0.0, 0.5, 2.0], rho=1.0).tolist()
    [1.0, 1.0, 0.5, 0.0]

    References
    ----------
    Mohri, Rostamizadeh, Talwalkar: Foundations of machine learning. MIT Press 2018.
    """
    return np.clip(1.0 - array("margins", margins, None) / number("rho", rho, above=0.0), 0.0, 1.0)
