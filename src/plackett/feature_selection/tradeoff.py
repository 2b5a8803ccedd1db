"""One number for the quality of a ranking and the time that it takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError

__all__ = ["efficiency_tradeoff"]


def efficiency_tradeoff(quality: Any, time: Any, *, rate: float = 1.0, beta: float = 1.0) -> np.ndarray:
    r"""Efficiency–effectiveness trade-off of each query: one number for quality γ and time.

    .. math:: \sigma = e^{-a \cdot \text{time}}, \qquad
        \text{EET} = \frac{(1 + \beta^2)\,\gamma\,\sigma}{\beta^2 \sigma + \gamma}

    β = 1 is the harmonic mean of γ and σ, β → 0 gives σ, β → ∞ gives γ. 0 where both are 0.

    Parameters
    ----------
    quality
        γ, from 0 to 1.
    time
        Time or cost, 0 or more.
    rate
        a, how fast efficiency falls with time.
    beta
        Weight of quality.

    References
    ----------
    Wang, Lin, Metzler: Learning to efficiently rank. SIGIR 2010.

    Examples
    --------
    >>> efficiency_tradeoff([0.5, 1.0], [0.0, 0.0]).round(4).tolist()
    [0.6667, 1.0]
    """
    gamma, spent = np.broadcast_arrays(np.asarray(quality, np.float64), np.asarray(time, np.float64))
    if not ((gamma >= 0) & (gamma <= 1)).all() or not (spent >= 0).all():
        raise DataError("quality must be from 0 to 1, and time 0 or more")
    if not (rate >= 0 and beta >= 0):
        raise DataError(f"rate={rate!r}, beta={beta!r}; give 0 or more")
    sigma = np.exp(-rate * spent)
    if np.isinf(beta):
        return np.array(gamma)
    below = beta**2 * sigma + gamma
    return np.divide((1 + beta**2) * gamma * sigma, below, out=np.zeros(below.shape), where=below > 0)
