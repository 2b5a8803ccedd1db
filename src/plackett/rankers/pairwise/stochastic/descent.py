"""The weights that a learner moves: stored with a common factor, so that shrinking them all costs one product."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._kernels.kernel import kernel, template
from plackett.rankers.pairwise.stochastic.loops import RELEVANT, Draws, draw
from plackett.solvers.training_vectors import TrainingRows, ask_for, difference, measure, signed, squared_length

#: Indices into the numbers of a descent: factor of the weights, their squared length, sum of the factors, steps taken.
FACTOR, NORM, SUM, STEP = 0, 1, 2, 3
#: Indices into the parameters of a learner: λ, the rate RATE / (BASE + PER_STEP · t), a parameter specific to the
#: learner, the maximum squared length, the constant feature of single documents, and whether steps use the length of an
#: example.
PENALTY, RATE, BASE, PER_STEP, EXTRA, LIMIT, CONSTANT, NEEDS_LENGTH = 0, 1, 2, 3, 4, 5, 6, 7

_LEAST_FACTOR = 1e-9
#: Examples drawn before the steps are taken.
_AT_ONCE = 4096
#: How many examples ahead the rows are fetched.
_AHEAD = 4
_REFRESH = 1 << 16


def parameters(
    penalty: float, rate: tuple[float, float, float], extra: float, projected: bool, constant: float, needs_length: bool
) -> np.ndarray:
    """What a learner's kernel reads. With a projection the weights are kept inside the ball of radius 1/√λ."""
    limit = 1.0 / penalty if projected and penalty > 0.0 else np.inf
    return np.array([penalty, *rate, extra, limit, constant, needs_length])


class Descent:
    r"""Weights :math:`w = a v` with a factor a, and the sum of all weights so far; moving both takes O(entries).

    When :math:`v` moves by δ, the update :math:`U \leftarrow U + \beta \delta` keeps the sum
    :math:`S = \beta v - U` correct (β is the sum of the factors), so averaging costs no more than the steps.
    """

    def __init__(self, n_features: int, scale: np.ndarray, seed: int) -> None:
        self.scale = scale
        self.v, self.u = np.zeros(n_features + 1), np.zeros(n_features + 1)
        self.numbers = np.array([1.0, 0.0, 0.0, 0.0])
        self.seed = seed
        self.marks = [(0, np.zeros(n_features + 1))] * 2

    @property
    def steps(self) -> int:
        """Number of steps taken."""
        return int(self.numbers[STEP])

    def run(self, kernel: Any, rows: TrainingRows, draws: Draws, settings: np.ndarray, n: int) -> None:
        """Take n steps. Whenever the number of steps is a power of two, the sum of the weights is recorded."""
        if draws.empty:
            return
        example = np.empty(2 * int(np.diff(rows.pointers).max()) + 1 if rows.columns.size else self.v.size)
        indices = np.empty(example.size if rows.columns.size else 0, np.uint32)
        scratch = np.zeros(self.v.size if rows.columns.size else 0)
        examples = np.empty(_AT_ONCE, np.int64), np.empty(_AT_ONCE, np.int64), np.empty(_AT_ONCE)
        end = self.steps + n
        while self.steps < end:
            mark = 1 << self.steps.bit_length()
            n_now = min(end, mark) - self.steps
            first, second, margin = (part[:n_now] for part in examples)
            draw(np.uint64(self.seed + self.steps), first, second, margin, draws)
            kernel(first, second, margin, *rows, settings, self.v, self.u, self.numbers, example, indices, scratch)
            if self.steps == mark:
                self.marks = [self.marks[1], (mark, self._sum())]

    def _sum(self) -> np.ndarray:
        return self.numbers[SUM] * self.v - self.u

    def weights(self, average: bool) -> tuple[np.ndarray, float]:
        """Weights for the unscaled features, and the constant.

        Averaged: over the steps since the last power of two but one, which is the last half to three quarters.
        """
        w = self.numbers[FACTOR] * self.v
        if average and self.steps:
            since, before = self.marks[0]
            w = (self._sum() - before) / (self.steps - since)
        return w[:-1] / self.scale, float(w[-1])


@kernel(inline=True)
def take(i, first, second, values, columns, pointers, inverse, settings, weights, numbers, example, indices, scratch):
    """Begin a step: number of entries of example i, its score and squared length, the rate."""
    soon = min(i + _AHEAD, first.size - 1)
    ask_for(values, columns, pointers, first[soon])
    ask_for(values, columns, pointers, max(second[soon], 0))
    u = first[i]
    v = second[i]
    if v >= 0:
        n = difference(values, columns, pointers, inverse, u, v, example, indices)
    else:
        side = 1.0 if v == RELEVANT else -1.0
        n = signed(values, columns, pointers, inverse, u, side, settings[CONSTANT], example, indices)
    product, square = measure(example, n, indices, columns.size == 0, weights)
    if v >= 0 and columns.size and settings[NEEDS_LENGTH]:
        square = squared_length(square, values, columns, pointers, inverse, u, v, scratch)
    numbers[STEP] += 1.0
    rate = settings[RATE] / (settings[BASE] + settings[PER_STEP] * numbers[STEP])
    return n, numbers[FACTOR] * product, square, rate


@kernel(inline=True)
def _add(v, u, example, n, indices, dense, delta, weighted):
    """Add delta x to v and weighted x to u; returns the growth of |v|² if sparse, otherwise 0."""
    grown = 0.0
    if dense:
        for k in range(n):
            v[k] += delta * example[k]
            u[k] += weighted * example[k]
    else:
        for k in range(n):
            old = v[indices[k]]
            step = delta * example[k]
            grown += step * (2.0 * old + step)
            v[indices[k]] = old + step
            u[indices[k]] += weighted * example[k]
    return grown


@kernel(inline=True)
def move(shrink, add, n, product, square, dense, settings, v, u, numbers, example, indices):
    """End a step: w ← shrink · w + add · x, and back into the ball."""
    factor = numbers[FACTOR] * shrink
    if abs(factor) < _LEAST_FACTOR:  # the factor goes into the weights, and the sum of the factors into the drift
        for k in range(v.size):
            u[k] -= numbers[SUM] * v[k]
            v[k] *= factor
        factor = 1.0
        numbers[SUM] = 0.0
    norm = shrink * shrink * numbers[NORM]
    if add != 0.0:
        delta = add / factor
        grown = _add(v, u, example, n, indices, dense, delta, numbers[SUM] * delta)
        norm += 2.0 * shrink * add * product + add * add * square if dense else factor * factor * grown
    if np.int64(numbers[STEP]) % _REFRESH == 0:  # before rounding adds up
        norm = 0.0
        for k in range(v.size):
            norm += v[k] * v[k]
        norm *= factor * factor
    if norm > settings[LIMIT]:
        factor *= np.sqrt(settings[LIMIT] / norm)
        norm = settings[LIMIT]
    numbers[NORM] = max(norm, 0.0)
    numbers[FACTOR] = factor
    numbers[SUM] += factor


@template
def step(product, margin, square, norm, rate, settings):
    """Stands for the formula of a learner: the factor of the weights, and how much of the example is added to them."""
    raise NotImplementedError


@template
def run(first, second, margin, values, columns, pointers, inverse, settings, v, u, numbers, example, indices, scratch):
    """A step for each example, as far as ``step`` says."""
    for i in range(first.size):
        n, product, square, rate = take(
            i, first, second, values, columns, pointers, inverse, settings, v, numbers, example, indices, scratch
        )
        shrink, add = step(product, margin[i], square, numbers[NORM], rate, settings)
        move(shrink, add, n, product, square, columns.size == 0, settings, v, u, numbers, example, indices)
