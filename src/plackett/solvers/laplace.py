"""Laplace's approximation of Gaussian processes: mode, evidence and the gradient of the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.solvers.intervals import Intervals, LatentTerms

#: Added to the covariance of the points, so that it can be factored.
_JITTER = 1e-6
_CHUNK = 4096
_MOST_STEPS = 50


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

    It is defined at some points z: :math:`f(x) = k(x)^\top L^{-\top} w` with :math:`L L^\top = K(z, z)` and w standard
    normal. This is the exact process if the points are the documents, and the projected one (subset of regressors)
    otherwise. The mode is found by Newton's method in w, in time O(n m²) per step for n documents and m points.

    Parameters
    ----------
    X, points
        Standardised documents and points.
    observed
        Sparse matrix that maps latent values of documents to observed ones (differences for preferences), or None if
        the documents themselves are observed.
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
        """Initial parameters: log length-scales, then those of the observations."""
        return np.concatenate([np.full(self.n_scales, np.log(length_scale)), self.intervals.start()])

    def limits(self) -> list[tuple[float, float]]:
        """Minimum and maximum of each parameter."""
        most = np.log(1e3 * np.sqrt(self.X.shape[1]))
        return [(np.log(1e-2), most)] * self.n_scales + self.intervals.limits()

    def fit(self, parameters: np.ndarray) -> LaplaceFit:
        """Mode, evidence and the gradient of the evidence, for which the mode moves with the parameters."""
        from scipy.linalg import cho_solve, solve_triangular

        scale, rest = np.exp(parameters[: self.n_scales]), parameters[self.n_scales :]
        between = _covariance(self.points / scale, self.points / scale)
        lower = _factored(between + _JITTER * np.eye(between.shape[0]))
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

    def _mode(
        self, phi: np.ndarray, rest: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, LatentTerms, np.ndarray, np.ndarray]:
        """The most probable w, the observed latent values and terms there, the factor of B = I + ΦᵀWΦ, and WΦ."""
        from scipy.linalg import cho_solve

        weights = self.weights

        def look(w: np.ndarray) -> tuple[float, np.ndarray, LatentTerms]:
            latent = self._forth(phi @ w)
            terms = self.intervals.terms(latent, rest)
            return float(terms.value.sum() + 0.5 * w @ w), latent, terms

        value, latent, terms = look(weights)
        for _ in range(_MOST_STEPS):
            spread = self._weighted(phi, terms.bend)
            factor = _factored(np.eye(weights.size) + phi.T @ spread)
            slope = phi.T @ self._back(terms.slope) + weights
            step = -cho_solve((factor, True), slope)
            win = -slope @ step  # twice the gain of a full step if the function is a parabola
            if win <= 1e-24 * max(abs(value), 1.0):
                break
            length = 1.0
            while True:
                trial = weights + length * step
                at_trial = look(trial)
                # this close, rounding hides the difference between the values: trust Newton's step
                if at_trial[0] <= value - 1e-4 * length * win or win <= 1e-10 * max(abs(value), 1.0) or length < 1e-8:
                    break
                length *= 0.5
            weights = trial
            value, latent, terms = at_trial
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


def _factored(matrix: np.ndarray) -> np.ndarray:
    """Cholesky's factor."""
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise DataError(
            "the Gaussian process lost precision: the weights of the observations are too large; divide them by their "
            "mean"
        ) from None


def _covariance(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    return np.exp(-0.5 * cdist(X, Z, "sqeuclidean"))


def _square_sums(weight: np.ndarray, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Σ weight_ab (x_aj − z_bj)² of each feature j."""
    return weight.sum(axis=1) @ X**2 + weight.sum(axis=0) @ Z**2 - 2.0 * (X * (weight @ Z)).sum(axis=0)
