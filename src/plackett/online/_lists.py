"""Kernels on one list of candidates: random numbers, the best k, drawn lists, clicks, nDCG."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel
from plackett._kernels.randomness import mix


@kernel
def uniform(state):
    """The next number in (0, 1) of the sequence whose state is ``state[0]``."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return (np.float64(mix(state[0]) >> np.uint64(12)) + 0.5) * 2.0**-52


@kernel
def normal(state):
    """A normal number."""
    return np.sqrt(-2.0 * np.log(uniform(state))) * np.cos(2.0 * np.pi * uniform(state))


@kernel
def logistic(x):
    """1 / (1 + e^−x)."""
    return 1.0 / (1.0 + np.exp(-min(max(x, -500.0), 500.0)))


@kernel
def scores_of(w, X, rows, n, parameters, out):
    """Linear scores of the rows."""
    for j in range(n):
        s = 0.0
        for f in range(w.size):
            s += w[f] * X[rows[j], f]
        out[j] = s


@kernel
def best_first(keys, n, k, order):
    """Numbers of the k largest keys, equal ones in order; overwrites the keys. Returns how many there are."""
    k = min(k, n)
    for i in range(k):
        best = 0
        for j in range(1, n):
            if keys[j] > keys[best]:
                best = j
        order[i] = best
        keys[best] = -np.inf
    return k


@kernel
def draw_list(scores, n, k, state, keys, order):
    """The first k of a Plackett–Luce list with strengths exp(score). Returns how many there are."""
    for j in range(n):
        keys[j] = scores[j] - np.log(-np.log(uniform(state)))
    return best_first(keys, n, k, order)


@kernel
def click(rows, order, k, attraction, stop, look, right, wrong, leave, state, clicks):
    """What a user clicks of the list. Returns the number of clicks."""
    total, reading = 0, True
    for i in range(k):
        clicks[i] = False
        if not reading:
            continue
        row = rows[order[i]]
        a = attraction[row]
        if uniform(state) < look[i] * (right[i] * a + wrong[i] * (1.0 - a)):
            clicks[i] = True
            total += 1
            reading = uniform(state) >= stop[row]
        if leave > 0.0 and uniform(state) < leave:
            reading = False
    return total


@kernel
def dcg(rows, order, k, gains):
    """DCG of the first k of the list."""
    total = 0.0
    for i in range(k):
        total += gains[rows[order[i]]] / np.log2(i + 2.0)
    return total


@kernel
def page_quality(scores, n, order, k, keys, ideal):
    """Quality (nDCG) of a page by the model's own gains: the logistic function of scores centred on the candidates."""
    mean = 0.0
    for j in range(n):
        mean += scores[j] / n
        keys[j] = scores[j]
    best_first(keys, n, k, ideal)
    shown, best = 0.0, 0.0
    for i in range(k):
        shown += logistic(scores[order[i]] - mean) / np.log2(i + 2.0)
        best += logistic(scores[ideal[i]] - mean) / np.log2(i + 2.0)
    return shown / best
