"""Ranking SVMs the slow way: every pair formed, and a generic solver on the differences."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from sklearn.svm import LinearSVC


def random_lists(seed, n_queries=6, n_features=3, grades=3, length=(2, 9)):
    """Features on a coarse grid, so that differences tie, with labels that partly follow them."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rng.integers(*length, n_queries))
    X = rng.integers(-4, 5, (qid.size, n_features)).astype(np.float32) / 4
    y = np.clip(np.round(X[:, 0] + rng.normal(size=qid.size) + grades / 2), -1, grades - 1)
    return X, y, qid


def label_pairs(y, qid):
    """Rows (better, worse) of all pairs of unequal judged labels."""
    result = [(u, v) for u in range(y.size) for v in range(y.size) if qid[u] == qid[v] and y[u] > y[v] >= 0]
    return np.array(result, np.int64).reshape(-1, 2)


def tie_pairs(y, qid):
    result = [(u, v) for u in range(y.size) for v in range(u) if qid[u] == qid[v] and y[u] == y[v] >= 0]
    return np.array(result, np.int64).reshape(-1, 2)


def objective(w, D, C, weight=None, margin=1.0, power=2):
    weight = np.ones(len(D)) if weight is None else weight
    return 0.5 * w @ w + C * weight @ np.maximum(margin - D @ w, 0.0) ** power


def linear_svc(D, C, weight=None, margin=1.0, power=2):
    """The minimum over all w; a margin m is the margin 1 on differences divided by m."""
    margin = np.broadcast_to(margin, len(D))
    weight = np.ones(len(D)) if weight is None else weight
    sign = np.where(np.arange(len(D)) % 2, 1, -1)
    machine = LinearSVC(
        loss="hinge" if power == 1 else "squared_hinge",
        C=C,
        fit_intercept=False,
        dual=True,
        tol=1e-10,
        max_iter=2_000_000,
        random_state=0,
    )
    machine.fit(D / margin[:, None] * sign[:, None], sign, sample_weight=weight * margin**power)
    return machine.coef_[0]


def dual_qp(K, C, weight, margin, power):
    """Multipliers of the dual by L-BFGS-B: max margin·α − ½ α·K·α, 0 ≤ α ≤ C·weight, or the form of squared slacks."""
    C = C * weight
    ridge = np.zeros(len(K)) if power == 1 else 1.0 / (2.0 * C)
    bounds = [(0.0, c if power == 1 else None) for c in C]

    def negative(alpha):
        product = K @ alpha + ridge * alpha
        return 0.5 * alpha @ product - margin @ alpha, product - margin

    result = minimize(
        negative,
        np.zeros(len(K)),
        jac=True,
        bounds=bounds,
        method="L-BFGS-B",
        options={"maxiter": 100_000, "maxfun": 1_000_000, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 50},
    )
    return result.x, -result.fun
