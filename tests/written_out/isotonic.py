"""Isotonic updates as a general quadratic program, for tests."""

from __future__ import annotations

import numpy as np
from scipy.optimize import lsq_linear, nnls


def least_moves(scores, weights, pairs, margins, slack, tied=(), ties=0.0):
    """Moves, slack and gap of ties by Lawson and Hanson's least-distance programming on explicit constraints.

    The shortest x with G x ≥ b is -r[:-1] / r[-1], r the residual of the non-negative least squares problem
    min |E μ - f| with E = (Gᵀ; bᵀ), f = (0, …, 0, 1). Scaled so that the objective is |x|²: δ by the root of its
    weight, ζ by that of its price. Infinite prices take the variable out, a price of 0 puts ζ at 1.
    """
    n = len(scores)
    mass = sum(weights)
    price, price_ties = slack * mass, ties * mass
    rows, bounds = [], []

    def constrain(moves, zeta, tie_gap, bound):
        row = np.zeros(n + 2)
        for i, factor in moves:
            row[i] += factor / np.sqrt(weights[i])
        if 0 < slack < np.inf:
            row[n] = zeta / np.sqrt(price)
        if 0 < ties < np.inf:
            row[n + 1] = tie_gap / np.sqrt(price_ties)
        rows.append(row)
        bounds.append(bound)

    for (i, j), margin in zip(pairs, margins, strict=True):
        full = 0.0 if slack == 0 else margin
        constrain([(i, 1), (j, -1)], full, 0.0, full + scores[j] - scores[i])
    if ties > 0:
        for i, j in tied:
            constrain([(i, 1), (j, -1)], 0.0, 1.0, scores[j] - scores[i])
            constrain([(j, 1), (i, -1)], 0.0, 1.0, scores[i] - scores[j])
    if 0 < slack < np.inf:
        constrain([], -1.0, 0.0, -1.0)  # ζ ≤ 1
    if not rows:
        return np.zeros(n), 0.0, 0.0
    size = max(1.0, np.abs(bounds).max())  # x scales with the bounds
    E = np.vstack([np.array(rows).T, np.array(bounds) / size])
    f = np.zeros(n + 3)
    f[-1] = 1.0
    r = _residual(E, f)
    x = -r[:-1] / r[-1] * size
    zeta = 1.0 if slack == 0 else 0.0 if slack == np.inf else x[n] / np.sqrt(price)
    tie_gap = x[n + 1] / np.sqrt(price_ties) if 0 < ties < np.inf else 0.0
    return x[:n] / np.sqrt(weights), zeta, tie_gap


def _residual(E, f):
    """E μ - f for the best μ ≥ 0; SciPy's `nnls` is not always optimal, and then `lsq_linear` is."""
    size = 1e-12 * max(1.0, np.abs(E).max() ** 2)
    for solve in (_nnls, _bounded):
        mu = solve(E, f)
        r = E @ mu - f
        slope = E.T @ r
        if slope.min() > -size and np.abs(slope[mu > 0]).max(initial=0.0) < size:
            return r
    raise RuntimeError("no optimum found")


def _nnls(E, f):
    return nnls(E, f, maxiter=100 * E.shape[1])[0]


def _bounded(E, f):
    return lsq_linear(E, f, (0.0, np.inf), method="bvls", tol=1e-16, max_iter=10_000).x
