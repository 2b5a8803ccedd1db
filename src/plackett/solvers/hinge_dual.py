"""The hinge loss of single documents, minimised in the dual by coordinate descent."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._kernels.kernel import kernel
from plackett._kernels.randomness import below, mix
from plackett._kernels.scratch import longest
from plackett.data.mapped import row_array
from plackett.solvers.training_vectors import measure, rows_of, signed

#: Documents are visited in random order inside windows of this many, so that those on the disk are read in sequence.
_WINDOW = 1 << 16


def minimise_hinge(
    X: Any,
    scale: np.ndarray,
    rows: np.ndarray,
    side: np.ndarray,
    cost: np.ndarray,
    *,
    constant: float,
    tol: float,
    max_iter: int,
    seed: int,
) -> tuple[np.ndarray, bool]:
    r"""Weights of the scaled features and of a constant feature (the last one) that minimise

    .. math:: \tfrac12 \lVert w \rVert^2 + \sum_i c_i \max(0, 1 - a_i\,w \cdot x_i),

    and whether the optimality conditions are met up to ``tol``.

    The multiplier of one document at a time is set to its optimum. Those that stay at a bound are left out until the
    others have converged. Multipliers are on the disk if the features are (`row_array`).

    Parameters
    ----------
    X, scale
        Features, and what they are divided by.
    rows
        Numbers of the documents that count; the order is changed.
    side, cost
        a and c, one number for each row of X.
    constant
        Value of the constant feature.
    tol, max_iter
        Largest difference between two projected gradients at which to stop, and maximum number of passes.

    References
    ----------
    Hsieh, Chang, Lin, Keerthi, Sundararajan: A dual coordinate descent method for large-scale linear SVM. ICML 2008.
    """
    weights, alpha = np.zeros(X.shape[1] + 1), row_array(X, (X.shape[0],))
    table, n, high, low = rows_of(X, scale), rows.size, np.inf, -np.inf
    for turn in range(max_iter):
        state = np.uint64(seed + turn)
        n, most, least = _one_pass(state, *table, rows, n, side, cost, alpha, float(constant), high, low, weights)
        if most - least <= tol:
            if n == rows.size:
                return weights, True
            n, high, low = rows.size, np.inf, -np.inf  # look at all of them again
        else:
            high, low = most if most > 0.0 else np.inf, least if least < 0.0 else -np.inf
    return weights, False


@kernel
def _shuffle(rows, start, stop, state):
    for i in range(stop - 1, start, -1):
        state = mix(state)
        j = start + below(state, i - start + 1)
        rows[i], rows[j] = rows[j], rows[i]
    return state


@kernel
def _one_pass(state, values, columns, pointers, inverse, rows, n, side, cost, alpha, constant, high, low, w):
    """Visit ``rows[:n]``; returns how many of them remain, and the largest and smallest projected gradient.

    A document at a bound is left out if its gradient points outwards by more than ``high`` or ``low``, the extremes of
    the pass before.
    """
    vector = np.empty(longest(0, pointers.size - 1, pointers) + 1)
    indices = np.empty(vector.size if columns.size else 0, np.uint32)
    most = -np.inf
    least = np.inf
    shuffled = 0
    s = 0
    while s < n:
        if s == shuffled:
            shuffled = min(s + _WINDOW, n)
            state = _shuffle(rows, s, shuffled, state)
        row = rows[s]
        count = signed(values, columns, pointers, inverse, row, side[row], constant, vector, indices)
        product, square = measure(vector, count, indices, columns.size == 0, w)
        gradient = product - 1.0
        if (alpha[row] == 0.0 and gradient > high) or (alpha[row] == cost[row] and gradient < low):
            n -= 1
            shuffled = min(shuffled, n)
            rows[s], rows[n] = rows[n], rows[s]
            continue
        projected = gradient
        if alpha[row] == 0.0:
            projected = min(gradient, 0.0)
        elif alpha[row] == cost[row]:
            projected = max(gradient, 0.0)
        most = max(most, projected)
        least = min(least, projected)
        if abs(projected) > 1e-12 and square > 0.0:
            new = min(max(alpha[row] - gradient / square, 0.0), cost[row])
            change = new - alpha[row]
            alpha[row] = new
            for k in range(count):
                w[k if columns.size == 0 else indices[k]] += change * vector[k]
        s += 1
    return n, most, least
