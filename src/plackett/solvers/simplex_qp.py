"""Quadratic problems over weights that are not negative and keep their sum: the small problem of cutting planes."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import REASSOC, kernel

#: Steps between two planes before Newton's steps. With more of them, more planes gain weight that Newton must remove.
_INNER_STEPS, _PAIR_STEPS = 20_000, 3


@kernel(fastmath=REASSOC)
def _dot(a, b):
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@kernel
def _add_times(out, factor, row):
    for k in range(out.size):
        out[k] += factor * row[k]


@kernel
def _solve_positive(matrix, right, n):
    """Solve ``matrix[:n, :n] x = right[:n]`` in place (x lands in ``right``) by Cholesky's factors."""
    for i in range(n):
        for j in range(i):
            matrix[i, j] = (matrix[i, j] - _dot(matrix[i, :j], matrix[j, :j])) / matrix[j, j]
        matrix[i, i] = np.sqrt(max(matrix[i, i] - _dot(matrix[i, :i], matrix[i, :i]), 1e-300))
        right[i] = (right[i] - _dot(matrix[i, :i], right[:i])) / matrix[i, i]
    for i in range(n - 1, -1, -1):
        right[i] /= matrix[i, i]
        _add_times(right[:i], -right[i], matrix[i, :i])


@kernel
def _newton_step(products, alpha, slope, used, matrix, step):
    """Minimise over the planes that have weight, up to the first whose weight reaches 0; True if none does.

    The plane with the largest weight compensates to keep the sum, so the others move freely.
    """
    centre = np.argmax(alpha)
    n = 0
    for i in range(alpha.size):
        if alpha[i] > 0.0 and i != centre:
            used[n] = i
            n += 1
    largest = 0.0
    for a in range(n):
        i = used[a]
        step[a] = slope[centre] - slope[i]
        for b in range(a + 1):
            j = used[b]
            matrix[a, b] = products[i, j] - products[i, centre] - products[centre, j] + products[centre, centre]
        largest = max(largest, matrix[a, a])
    for a in range(n):
        matrix[a, a] += 1e-12 * largest + 1e-300  # planes may depend on each other
    _solve_positive(matrix, step, n)
    rest = 0.0
    length = 1.0
    block = np.int64(-1)
    for a in range(n):
        rest -= step[a]
        if alpha[used[a]] + length * step[a] < 0.0:
            length = -alpha[used[a]] / step[a]
            block = used[a]
    if alpha[centre] + length * rest < 0.0:
        length = -alpha[centre] / rest
        block = centre
    for a in range(n):
        alpha[used[a]] = max(alpha[used[a]] + length * step[a], 0.0)
    alpha[centre] = max(alpha[centre] + length * rest, 0.0)
    if block >= 0:
        alpha[block] = 0.0
    _add_times(slope, length * rest, products[centre, : slope.size])
    for a in range(n):
        _add_times(slope, length * step[a], products[used[a], : slope.size])
    return block < 0


@kernel
def _pair_step(products, alpha, slope, up):
    """Move weight to one plane from the one that gains most by it; False if none gains."""
    down = -1
    most = 0.0
    moved = 0.0
    for j in range(alpha.size):
        difference = slope[j] - slope[up]
        if alpha[j] > 0.0 and difference > 0.0:
            curvature = max(products[up, up] + products[j, j] - 2.0 * products[up, j], 1e-300)
            step = min(difference / curvature, alpha[j])
            gain = step * (difference - 0.5 * step * curvature)
            if gain > most:
                most = gain
                moved = step
                down = j
    if down < 0:
        return False
    alpha[down] = 0.0 if moved >= alpha[down] else alpha[down] - moved
    alpha[up] += moved
    _add_times(slope, moved, products[up, : slope.size])
    _add_times(slope, -moved, products[down, : slope.size])
    return True


@kernel
def simplex_qp(products, all_heights, all_alpha, n, accuracy):
    """Maximise heights·α − ½ α·products·α over α ≥ 0 with the sum that α has, from α, in place; returns the value.

    Only the first n entries of the arrays count. They are sliced here, so that kernels are compiled for one type only.

    Steps between two planes find which planes have weight, and Newton's steps over those find the weights; no step
    makes the value worse. Ends when the duality gap of this problem is at most `accuracy`.
    """
    heights, alpha = all_heights[:n], all_alpha[:n]
    slope = np.empty(n)  # of the function to be minimised
    for i in range(n):
        total = -heights[i]
        for j in range(n):
            total += products[i, j] * alpha[j]
        slope[i] = total
    used, matrix, step = np.empty(n, np.int64), np.empty((n, n)), np.empty(n)
    for t in range(_INNER_STEPS):
        up = np.argmin(slope)
        mass = 0.0
        inner = 0.0
        for i in range(n):
            mass += alpha[i]
            inner += alpha[i] * slope[i]
        if inner - mass * slope[up] <= accuracy or not _pair_step(products, alpha, slope, up):
            break
        if t % _PAIR_STEPS == _PAIR_STEPS - 1:
            while not _newton_step(products, alpha, slope, used, matrix, step):
                pass  # each one removes a plane
    value = 0.0
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += products[i, j] * alpha[j]
        value += alpha[i] * (heights[i] - 0.5 * total)
    return value
