"""Observations that a latent value lies in an interval, with normal noise: grades, and comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np


class LatentTerms(NamedTuple):
    """Minus the log-likelihood of each observation and its derivatives for the latent value, up to the third."""

    value: np.ndarray
    slope: np.ndarray
    bend: np.ndarray
    third: np.ndarray


@dataclass(frozen=True)
class Intervals:
    r"""Observations that latent values f lie between two bounds, with normal noise: :math:`\Phi(\frac{b - f}{\sigma}) -
    \Phi(\frac{a - f}{\sigma})`.

    Parameters
    ----------
    lower, upper
        Which of the bounds −∞, b_1, …, b_p, ∞ are the ends of each observation.
    weight
        How often each observation was made.
    fixed
        The bounds, if they are fixed; None makes them learned parameters.
    """

    lower: np.ndarray
    upper: np.ndarray
    weight: np.ndarray
    n_bounds: int
    fixed: np.ndarray | None = None

    def start(self) -> np.ndarray:
        """Initial parameters: log σ and, if the bounds are learned, the first bound and the log widths."""
        from scipy.special import ndtri

        learned = 0 if self.fixed is not None else self.n_bounds
        share = np.cumsum(np.bincount(self.lower, self.weight, learned + 1))[:learned] / max(self.weight.sum(), 1e-300)
        bounds = np.sqrt(1.5) * ndtri(np.clip(share, 1e-3, 1 - 1e-3))  # from the shares of the grades alone
        widths = np.log(np.maximum(np.diff(bounds), 1e-2))
        return np.concatenate([[0.5 * np.log(0.5)], bounds[:1], widths])

    def limits(self) -> list[tuple[float, float]]:
        """Minimum and maximum of each parameter."""
        widths = max(self.n_bounds - 1, 0) if self.fixed is None else 0
        first = [(-20.0, 20.0)] * min(self.n_bounds, 1) if self.fixed is None else []
        return [(np.log(1e-2), np.log(1e2)), *first, *[(np.log(1e-3), np.log(20.0))] * widths]

    def bounds(self, parameters: np.ndarray) -> np.ndarray:
        """b_1, …, b_p."""
        if self.fixed is not None:
            return self.fixed
        return np.cumsum(np.concatenate([parameters[1:2], np.exp(parameters[2:])]))

    def terms(self, latent: np.ndarray, parameters: np.ndarray) -> LatentTerms:
        """Value and derivatives of each observation, weighted."""
        terms = interval_terms(*self._ends(latent, parameters), np.exp(parameters[0]))
        return LatentTerms(*(self.weight * part for part in terms[0]))

    def slopes(self, latent: np.ndarray, parameters: np.ndarray, half: np.ndarray, move: np.ndarray) -> np.ndarray:
        """Derivative for each parameter of Σ value + half · bend + move · slope, the latent values held fixed."""
        _, upper, lower, noise = interval_terms(*self._ends(latent, parameters), np.exp(parameters[0]))
        up, low, by_noise = (
            self.weight * (part[0] + move * part[1] + half * part[2]) for part in (upper, lower, noise)
        )
        out = np.zeros(parameters.size)
        out[0] = by_noise.sum()
        if self.fixed is None and self.n_bounds:
            n = self.n_bounds + 2
            by_bound = (np.bincount(self.upper, up, n) + np.bincount(self.lower, low, n))[1:-1]
            after = np.cumsum(by_bound[::-1])[::-1]  # a width moves all bounds above it
            out[1] = after[0]
            out[2:] = after[1:] * np.exp(parameters[2:])
        return out

    def _ends(self, latent: np.ndarray, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ends = np.concatenate([[-np.inf], self.bounds(parameters), [np.inf]])
        return ends[self.lower] - latent, ends[self.upper] - latent


def interval_terms(lower: np.ndarray, upper: np.ndarray, sigma: float) -> tuple[LatentTerms, Any, Any, Any]:
    """Terms of −log(Φ(upper/σ) − Φ(lower/σ)) for the latent value, which lower and upper are relative to.

    Also the derivatives of value, slope and bend with respect to the upper end, the lower end and log σ. Computed in
    logarithms, so that they are finite even for intervals far away.
    """
    from scipy.special import log_ndtr

    z1, z2 = upper / sigma, lower / sigma
    # an interval in the upper tail is mirrored; if one end is infinite, the other one decides
    from_end = np.where(np.isfinite(z2), z2, 0.0)
    flip = np.isfinite(z2) & (from_end + np.where(np.isfinite(z1), z1, np.abs(from_end)) > 0)
    high, low = np.where(flip, -z2, z1), np.where(flip, -z1, z2)
    log_high = log_ndtr(high)
    log_mass = log_high + np.log(-np.expm1(np.minimum(log_ndtr(low) - log_high, -1e-300)))
    log_root = 0.5 * np.log(2.0 * np.pi)
    n1, n2 = (np.exp(-0.5 * z * z - log_root - log_mass) for z in (z1, z2))
    z1, z2 = (np.where(np.isfinite(z), z, 0.0) for z in (z1, z2))
    a, b, c, d = (z1**i * n1 - z2**i * n2 for i in range(4))
    terms = LatentTerms(-log_mass, a / sigma, (a**2 + b) / sigma**2, (2 * a**3 + 3 * a * b - a + c) / sigma**3)
    upper_end = (
        -n1 / sigma,
        -n1 * (z1 + a) / sigma**2,
        n1 * (1 - z1**2 - b - 2 * a * (z1 + a)) / sigma**3,
    )
    lower_end = (
        n2 / sigma,
        n2 * (z2 + a) / sigma**2,
        n2 * (b - 1 + z2**2 + 2 * a * (z2 + a)) / sigma**3,
    )
    noise = (b, (c + a * b - a) / sigma, (2 * a * (c + a * b) - b + d + b**2 - 2 * (a**2 + b)) / sigma**2)
    return terms, upper_end, lower_end, noise
