"""The distribution of the Kendall distance of a Mallows draw: independent skips, one per rank."""

from __future__ import annotations

import numpy as np

#: Largest θ of a fit: e^−40 is negligible compared with 1.
_LARGEST = 40.0


def fit_theta(distance: float, sizes: np.ndarray, share: np.ndarray) -> float:
    """Most probable θ for a total distance, given ``share`` draws from each number of items in ``sizes``.

    The expected distance falls with θ; at most 40.
    """
    from scipy.optimize import brentq

    def excess(theta: float) -> float:
        return float(share @ mean_skips(theta, sizes)) - distance

    if excess(0.0) <= 0:
        return 0.0
    return _LARGEST if excess(_LARGEST) >= 0 else float(brentq(excess, 0.0, _LARGEST, xtol=1e-12))


def log_sizes(sizes: np.ndarray, theta: float) -> np.ndarray:
    """Logarithm of Σ e^(−θv) over v = 0..n−1, for each n."""
    if theta == 0:
        return np.log(sizes)
    return np.log(np.expm1(-theta * sizes) / np.expm1(-theta))


def mean_skips(theta: float, sizes: np.ndarray) -> np.ndarray:
    """E[V] for each number of items to draw from."""
    if theta < 1e-6:  # the difference below would lose its digits
        return (sizes - 1) / 2 - theta * (sizes**2 - 1) / 12
    return 1.0 / np.expm1(theta) - sizes / np.expm1(np.minimum(theta * sizes, 700.0))  # e^709 overflows
