"""Multinomial logistic regression from query features to classes."""

from __future__ import annotations

import numpy as np

__all__ = ["fit_softmax", "k_means", "log_loss"]


def log_loss(
    flat: np.ndarray, z: np.ndarray, targets: np.ndarray, weight: np.ndarray, penalty: float
) -> tuple[float, np.ndarray]:
    """Value and gradient of the weighted mean cross entropy plus ½ penalty ‖W‖²; the last row is the intercept."""
    c = targets.shape[1]
    table = flat.reshape(-1, c)
    logits = z @ table[:-1] + table[-1]
    top = logits.max(axis=1, keepdims=True)
    e = np.exp(logits - top)
    total = e.sum(axis=1, keepdims=True)
    share = weight / max(weight.sum(), 1e-300)
    value = float(share @ (np.log(total[:, 0]) * targets.sum(axis=1) - ((logits - top) * targets).sum(axis=1)))
    slope = share[:, None] * (e / total * targets.sum(axis=1, keepdims=True) - targets)
    gradient = np.vstack([z.T @ slope + penalty * table[:-1], slope.sum(axis=0)])
    return value + 0.5 * penalty * float((table[:-1] ** 2).sum()), gradient.ravel()


def fit_softmax(
    z: np.ndarray, targets: np.ndarray, weight: np.ndarray, penalty: float
) -> tuple[np.ndarray, np.ndarray]:
    """Weights (features × classes) and intercepts that minimise `log_loss`; targets are probabilities of classes."""
    from scipy.optimize import minimize

    n_classes = targets.shape[1]
    start = np.zeros((z.shape[1] + 1) * n_classes)
    found = minimize(
        log_loss, start, args=(z, targets, weight, penalty), jac=True, method="L-BFGS-B", options={"maxiter": 500}
    )
    table = found.x.reshape(-1, n_classes)
    return np.ascontiguousarray(table[:-1]), table[-1].copy()


def k_means(z: np.ndarray, n: int, weight: np.ndarray, seed: int | None, n_starts: int = 4) -> np.ndarray:
    """Number of the cluster of each point: Lloyd's algorithm from k-means++ starts, the best of a few."""
    rng = np.random.default_rng(seed)
    best, assigned = np.inf, np.zeros(z.shape[0], np.int64)
    for _ in range(n_starts):
        centres = _first_centres(z, n, weight, rng)
        previous = np.inf
        for _ in range(100):
            far = ((z[:, None] - centres) ** 2).sum(axis=2)
            nearest = far.argmin(axis=1)
            value = float(weight @ far[np.arange(z.shape[0]), nearest])
            if value >= previous * (1.0 - 1e-12):
                break
            previous = value
            for j in range(centres.shape[0]):
                mine = nearest == j
                if weight[mine].sum() > 0:
                    centres[j] = np.average(z[mine], axis=0, weights=weight[mine])
        if previous < best:
            best, assigned = previous, nearest
    return np.unique(assigned, return_inverse=True)[1].ravel()


def _first_centres(z: np.ndarray, n: int, weight: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    chosen = [int(rng.choice(z.shape[0], p=weight / weight.sum()))]
    for _ in range(n - 1):
        far = ((z[:, None] - z[chosen]) ** 2).sum(axis=2).min(axis=1) * weight
        if far.sum() <= 0.0:
            break
        chosen.append(int(rng.choice(z.shape[0], p=far / far.sum())))
    return z[chosen].astype(np.float64)
