"""Laplace's approximation of Gaussian processes whose observations are probit intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Intervals", "LaplaceFit", "LaplaceProcess", "interval_terms"]

#: Added to the covariance of the points, so that it can be factored.
_JITTER = 1e-6
_CHUNK = 4096
_MOST_STEPS = 50


class Terms(NamedTuple):
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
        The bounds where they are not to be learned; None makes them parameters.
    """

    lower: np.ndarray
    upper: np.ndarray
    weight: np.ndarray
    n_bounds: int
    fixed: np.ndarray | None = None

    def start(self) -> np.ndarray:
        """Parameters to begin with: log σ, and where they are learned the first bound and log widths."""
        learned = 0 if self.fixed is not None else self.n_bounds
        share = np.cumsum(np.bincount(self.lower, self.weight, learned + 1))[:learned] / max(self.weight.sum(), 1e-300)
        from scipy.special import ndtri

        bounds = np.sqrt(1.5) * ndtri(np.clip(share, 1e-3, 1 - 1e-3))  # as if nothing but the shares were known
        widths = np.log(np.maximum(np.diff(bounds), 1e-2))
        return np.concatenate([[0.5 * np.log(0.5)], bounds[:1], widths])

    def limits(self) -> list[tuple[float, float]]:
        """Least and largest value of each parameter."""
        widths = max(self.n_bounds - 1, 0) if self.fixed is None else 0
        first = [(-20.0, 20.0)] * min(self.n_bounds, 1) if self.fixed is None else []
        return [(np.log(1e-2), np.log(1e2)), *first, *[(np.log(1e-3), np.log(20.0))] * widths]

    def bounds(self, parameters: np.ndarray) -> np.ndarray:
        """b_1, …, b_p."""
        if self.fixed is not None:
            return self.fixed
        return np.cumsum(np.concatenate([parameters[1:2], np.exp(parameters[2:])]))

    def terms(self, latent: np.ndarray, parameters: np.ndarray) -> Terms:
        """Value and derivatives of each observation, weighted."""
        terms = interval_terms(*self._ends(latent, parameters), np.exp(parameters[0]))
        return Terms(*(self.weight * part for part in terms[0]))

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
            after = np.cumsum(by_bound[::-1])[::-1]  # a width moves all the bounds behind it
            out[1] = after[0]
            out[2:] = after[1:] * np.exp(parameters[2:])
        return out

    def _ends(self, latent: np.ndarray, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ends = np.concatenate([[-np.inf], self.bounds(parameters), [np.inf]])
        return ends[self.lower] - latent, ends[self.upper] - latent


def interval_terms(lower: np.ndarray, upper: np.ndarray, sigma: float) -> tuple[Terms, Any, Any, Any]:
    """Terms of −log(Φ(upper/σ) − Φ(lower/σ)) for the latent value, which lower and upper are relative to.

    And for the upper end, the lower end and log σ the derivatives of value, slope and bend. In logarithms, so that
    intervals far away have finite ones.
    """
    from scipy.special import log_ndtr

    z1, z2 = upper / sigma, lower / sigma
    # an interval in the upper tail is looked at from above; of two infinite ends neither has a tail
    flip = np.where(np.isfinite(z2), z2 + np.where(np.isfinite(z1), z1, np.abs(z2)), 0.0) > 0
    high, low = np.where(flip, -z2, z1), np.where(flip, -z1, z2)
    log_high = log_ndtr(high)
    log_mass = log_high + np.log(-np.expm1(np.minimum(log_ndtr(low) - log_high, -1e-300)))
    log_root = 0.5 * np.log(2.0 * np.pi)
    n1, n2 = (np.exp(-0.5 * z * z - log_root - log_mass) for z in (z1, z2))
    z1, z2 = (np.where(np.isfinite(z), z, 0.0) for z in (z1, z2))
    a, b, c, d = (z1**i * n1 - z2**i * n2 for i in range(4))
    terms = Terms(-log_mass, a / sigma, (a**2 + b) / sigma**2, (2 * a**3 + 3 * a * b - a + c) / sigma**3)
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


@dataclass(frozen=True)
class LaplaceFit:
    """The mode for given parameters: minus the log-evidence and its gradient, and what a posterior is made of."""

    value: float
    gradient: np.ndarray
    weights: np.ndarray
    heights: np.ndarray
    shrink: np.ndarray


class LaplaceProcess:
    r"""A Gaussian process with covariance :math:`\exp(-\tfrac12 \sum_j (x_j - x'_j)^2 / \ell_j^2)`.

    It lives at some points z: :math:`f(x) = k(x)^\top L^{-\top} w` with :math:`L L^\top = K(z, z)` and w standard
    normal, which is the exact process where the points are the documents, and the projected one (subset of regressors)
    otherwise. The mode is found by Newton's method in w, time O(n m²) a step for n documents and m points.

    Parameters
    ----------
    X, points
        Standardised documents and points.
    observed
        Sparse table that makes the observed latent values of those of the documents (differences for preferences), or
        None for the documents themselves.
    intervals
        The observations.
    ard
        A length-scale for each feature instead of one for all.
    """

    def __init__(self, X: np.ndarray, points: np.ndarray, observed: Any, intervals: Intervals, ard: bool) -> None:
        self.X, self.points, self.observed, self.intervals = X, points, observed, intervals
        self.n_scales = X.shape[1] if ard else 1
        self.weights = np.zeros(points.shape[0])  # the last mode: where Newton's method begins

    def start(self, length_scale: float) -> np.ndarray:
        """Parameters to begin with: log length-scales, then those of the observations."""
        return np.concatenate([np.full(self.n_scales, np.log(length_scale)), self.intervals.start()])

    def limits(self) -> list[tuple[float, float]]:
        """Least and largest value of each parameter."""
        most = np.log(1e3 * np.sqrt(self.X.shape[1]))
        return [(np.log(1e-2), most)] * self.n_scales + self.intervals.limits()

    def fit(self, parameters: np.ndarray) -> LaplaceFit:
        """Mode, evidence and the gradient of the evidence, for which the mode moves with the parameters."""
        from scipy.linalg import cho_solve, solve_triangular

        scale, rest = np.exp(parameters[: self.n_scales]), parameters[self.n_scales :]
        between = _covariance(self.points / scale, self.points / scale)
        lower = np.linalg.cholesky(between + _JITTER * np.eye(between.shape[0]))
        near = _covariance(self.X / scale, self.points / scale)
        phi = np.ascontiguousarray(solve_triangular(lower, near.T, lower=True).T)
        weights, latent, terms, factor, spread = self._mode(phi, rest)

        inverse = cho_solve((factor, True), np.eye(weights.size))
        root = solve_triangular(factor, phi.T, lower=True).T
        half = 0.5 * self._variances(root)
        value = terms.value.sum() + 0.5 * weights @ weights + np.log(np.diag(factor)).sum()

        # ½ log |B| moves with the mode: `pull` is its derivative for w, taken back through Newton's equation
        pull = inverse @ (phi.T @ self._back(half * terms.third))
        move = -self._forth(phi @ pull)
        by_latent = self._back(terms.slope + half * terms.third + terms.bend * move)
        back = np.outer(by_latent, weights) - np.outer(self._back(terms.slope), pull) + spread @ inverse
        likelihood = self.intervals.slopes(latent, rest, half, move)

        near_weight = solve_triangular(lower, back.T, lower=True, trans="T").T * near
        low = np.tril(back.T @ phi)
        low[np.diag_indices_from(low)] *= 0.5
        inner = solve_triangular(lower, 0.5 * (low + low.T), lower=True, trans="T")
        between_weight = -solve_triangular(lower, inner.T, lower=True, trans="T").T * between
        by_scale = (
            _square_sums(near_weight, self.X, self.points) + _square_sums(between_weight, self.points, self.points)
        ) / scale**2
        gradient = np.concatenate([by_scale if self.n_scales > 1 else [by_scale.sum()], likelihood])

        heights = solve_triangular(lower, weights, lower=True, trans="T")
        half_way = solve_triangular(lower, np.eye(weights.size) - inverse, lower=True, trans="T")
        shrink = solve_triangular(lower, half_way.T, lower=True, trans="T")
        return LaplaceFit(float(value), gradient, weights, heights, 0.5 * (shrink + shrink.T))

    def _mode(self, phi: np.ndarray, rest: np.ndarray) -> tuple[np.ndarray, np.ndarray, Terms, np.ndarray, np.ndarray]:
        """The most probable w, the observed latent values and terms there, the factor of B = I + ΦᵀWΦ, and WΦ."""
        from scipy.linalg import cho_solve

        weights = self.weights

        def look(w: np.ndarray) -> tuple[float, np.ndarray, Terms]:
            latent = self._forth(phi @ w)
            terms = self.intervals.terms(latent, rest)
            return float(terms.value.sum() + 0.5 * w @ w), latent, terms

        value, latent, terms = look(weights)
        for _ in range(_MOST_STEPS):
            spread = self._weighted(phi, terms.bend)
            factor = np.linalg.cholesky(np.eye(weights.size) + phi.T @ spread)
            slope = phi.T @ self._back(terms.slope) + weights
            step = -cho_solve((factor, True), slope)
            win = -slope @ step  # twice what a full step wins where the function is a parabola
            if win <= 1e-24 * max(abs(value), 1.0):
                break
            length = 1.0
            while True:
                trial = weights + length * step
                found = look(trial)
                # so near that rounding hides the difference of values, Newton's step is right
                if found[0] <= value - 1e-4 * length * win or win <= 1e-10 * max(abs(value), 1.0) or length < 1e-8:
                    break
                length *= 0.5
            weights = trial
            value, latent, terms = found
        self.weights = weights
        return weights, latent, terms, factor, spread

    def _forth(self, values: np.ndarray) -> np.ndarray:
        return values if self.observed is None else self.observed @ values

    def _back(self, values: np.ndarray) -> np.ndarray:
        return values if self.observed is None else self.observed.T @ values

    def _weighted(self, phi: np.ndarray, bend: np.ndarray) -> np.ndarray:
        """WΦ, where W is the curvature of the observations for the documents."""
        if self.observed is None:
            return phi * bend[:, None]
        return (self.observed.T @ self.observed.multiply(bend[:, None]).tocsr()) @ phi

    def _variances(self, root: np.ndarray) -> np.ndarray:
        """Posterior variance of each observed latent value, for Φ times the inverse root of B."""
        if self.observed is None:
            return np.square(root).sum(axis=1)
        out = np.empty(self.observed.shape[0])
        for start in range(0, out.size, _CHUNK):
            rows = slice(start, start + _CHUNK)
            out[rows] = np.square(self.observed[rows] @ root).sum(axis=1)
        return out


def _covariance(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    return np.exp(-0.5 * cdist(X, Z, "sqeuclidean"))


def _square_sums(weight: np.ndarray, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Σ weight_ab (x_aj − z_bj)² of each feature j."""
    return weight.sum(axis=1) @ X**2 + weight.sum(axis=0) @ Z**2 - 2.0 * (X * (weight @ Z)).sum(axis=0)
