"""Logistic regression of rates: hits out of trials."""

from __future__ import annotations

from typing import Any, Self

import numpy as np


class LogisticRates:
    r"""Logistic regression of rates: :math:`\sigma(w^\top x + b)` fitted to hits out of trials, with an L2 penalty.

    Newton's method, which converges in a few steps.

    Parameters
    ----------
    alpha
        Strength of the penalty of w (not of b), in units of one trial.
    """

    def __init__(self, alpha: float = 1.0, max_iter: int = 50) -> None:
        self.alpha, self.max_iter = alpha, max_iter

    def fit(self, X: np.ndarray, hits: np.ndarray, trials: np.ndarray) -> Self:
        """Fit to hits out of trials per row."""
        X = np.asarray(X, np.float64)
        self.mean_, self.scale_ = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-9)
        Z = np.column_stack(((X - self.mean_) / self.scale_, np.ones(len(X))))
        w = getattr(self, "coef_", np.zeros(Z.shape[1]))
        penalty = np.full(Z.shape[1], self.alpha)
        penalty[-1] = 1e-8
        value = self._value(Z, w, hits, trials, penalty)
        for _ in range(self.max_iter):
            chance = sigmoid(Z @ w)
            slope = Z.T @ (hits - trials * chance) - penalty * w
            bend = (Z * (trials * chance * (1 - chance))[:, None]).T @ Z + np.diag(penalty)
            step = np.linalg.solve(bend, slope)
            size = 1.0
            while size > 1e-6 and self._value(Z, w + size * step, hits, trials, penalty) < value - 1e-12:
                size /= 2
            w = w + size * step
            new = self._value(Z, w, hits, trials, penalty)
            if new - value < 1e-9 * max(trials.sum(), 1.0):
                break
            value = new
        self.coef_ = w
        return self

    def _value(self, Z: np.ndarray, w: np.ndarray, hits: np.ndarray, trials: np.ndarray, penalty: np.ndarray) -> float:
        level = Z @ w
        return float((hits * level - trials * np.logaddexp(0, level)).sum() - 0.5 * (penalty * w**2).sum())

    def rates(self, X: np.ndarray) -> np.ndarray:
        """Rates of rows."""
        Z = (np.asarray(X, np.float64) - self.mean_) / self.scale_
        return sigmoid(Z @ self.coef_[:-1] + self.coef_[-1])


def sigmoid(x: Any) -> Any:
    """The logistic function; its argument is clipped at ±500, where it is 0 or 1."""
    return 1.0 / (1.0 + np.exp(-np.clip(x, -500, 500)))
