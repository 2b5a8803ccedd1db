"""Classes of queries: by clusters of their features, and multinomial logistic regression from features to classes."""

from __future__ import annotations

import numpy as np

from plackett.solvers.quasi_newton import quasi_newton


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
    n_classes = targets.shape[1]
    start = np.zeros((z.shape[1] + 1) * n_classes)
    solution = quasi_newton(lambda flat: log_loss(flat, z, targets, weight, penalty), start, maxiter=500)
    table = solution.x.reshape(-1, n_classes)
    return np.ascontiguousarray(table[:-1]), table[-1].copy()


def k_means(z: np.ndarray, n: int, weight: np.ndarray, seed: int | None) -> np.ndarray:
    """Number of the cluster of each point, by scikit-learn; fewer than ``n`` clusters where points coincide."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    n = min(n, np.unique(z[weight > 0], axis=0).shape[0])
    if n < 2:
        return np.zeros(z.shape[0], np.int64)
    with threadpool_limits(1, "openmp"):  # several threads add up in any order, and the last bits would change
        clusters = KMeans(n, n_init=4, random_state=seed).fit(z, sample_weight=weight)
    return np.unique(clusters.labels_, return_inverse=True)[1].ravel()
