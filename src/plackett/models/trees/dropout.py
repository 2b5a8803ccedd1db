"""Dropout of trees: how many to drop, which ones, and the weights of these and the new tree afterwards."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


class DropCount:
    """How many trees to drop.

    Parameters
    ----------
    rate
        Share of the trees or, if 1 or more, their number; at most half of them are dropped.
    growth
        None drops the same number in every round. Otherwise the number starts at 1, grows by this much after a round
        that is not a new best, up to what ``rate`` allows (at least 1), and decreases after one that is.
    restart
        Whether it decreases to 1, or by half.
    """

    def __init__(self, rate: float, growth: float | None, restart: bool) -> None:
        self.rate, self.growth, self.restart = rate, growth, restart
        self.number = 1.0

    def __call__(self, n_trees: int) -> int:
        """Number of trees to drop out of this many."""
        number = self._most(n_trees) if self.growth is None else self.number
        return min(int(number + 0.5), n_trees // 2) if self.rate > 0 else 0

    def note(self, n_trees: int, new_best: bool) -> None:
        """Adapt to the outcome of a round."""
        if self.growth is None:
            return
        if new_best:
            self.number = 1.0 if self.restart else self.number / 2
        else:
            self.number = min(self.number + self.growth, max(self._most(n_trees), 1.0))

    def _most(self, n_trees: int) -> float:
        return self.rate if self.rate >= 1 else self.rate * n_trees


# -------------------------------------------------------------------------------------------------- which trees
#
# Each gives a key per tree, from their weights and mean absolute outputs: those with the smallest keys are dropped.
# Exponential draws divided by the chances, as keys, sample without replacement with these chances.

Sample = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]


def _uniform(weights: np.ndarray, outputs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.random(weights.size)


def _first_half(weights: np.ndarray, outputs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.random(weights.size) + (np.arange(weights.size) >= weights.size // 2)


def _largest(weights: np.ndarray, outputs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return -weights * outputs


def _smallest(weights: np.ndarray, outputs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return weights * outputs


def _by(chance: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Sample:
    def sample(weights: np.ndarray, outputs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        with np.errstate(divide="ignore"):  # a tree without a chance goes last
            return rng.exponential(size=weights.size) / chance(weights, outputs)

    return sample


def _rest(part: np.ndarray) -> np.ndarray:
    total = part.sum()
    return 1.0 - part / total if part.size > 1 and total > 0 else np.ones(part.size)


#: Ways to draw trees by their weights and outputs.
SAMPLES: dict[str, Sample] = {
    "uniform": _uniform,
    "first_half": _first_half,
    "weight": _by(lambda weights, outputs: weights),
    "inverse_weight": _by(lambda weights, outputs: _rest(weights)),
    "output": _by(lambda weights, outputs: outputs),
    "inverse_output": _by(lambda weights, outputs: _rest(outputs)),
    "contribution": _by(lambda weights, outputs: weights * outputs),
    "inverse_contribution": _by(lambda weights, outputs: _rest(weights * outputs)),
    "largest": _largest,
    "smallest": _smallest,
}


# ------------------------------------------------------------------------------------------------- what they count
#
# Arguments: the step (the weight that the new tree would have without dropout), the weights and mean absolute outputs
# of the dropped trees (at least one), and the mean absolute output of the new tree (above 0). Results: the weight of
# the new tree if the dropped ones are removed for good, its weight if they stay, and the factor of their weights.

Rescale = Callable[[float, np.ndarray, np.ndarray, float], tuple[float, float, float]]


def _none(step: float, weights: np.ndarray, outputs: np.ndarray, new: float) -> tuple[float, float, float]:
    return step, step, 1.0


def _tree(step: float, weights: np.ndarray, outputs: np.ndarray, new: float) -> tuple[float, float, float]:
    k = weights.size
    return step, step / (k + step), k / (k + step)


def _tree_always(step: float, weights: np.ndarray, outputs: np.ndarray, new: float) -> tuple[float, float, float]:
    _, with_dropped, factor = _tree(step, weights, outputs, new)
    return with_dropped, with_dropped, factor


def _triple(step: float, weights: np.ndarray, outputs: np.ndarray, new: float) -> tuple[float, float, float]:
    return _tree_always(3.0 * step, weights, outputs, new)


def _forest(step: float, weights: np.ndarray, outputs: np.ndarray, new: float) -> tuple[float, float, float]:
    return step, step / (1.0 + step), 1.0 / (1.0 + step)


def _weight(step: float, weights: np.ndarray, outputs: np.ndarray, new: float) -> tuple[float, float, float]:
    total = float(weights.sum())
    return step, step / (total + step), total / (total + step)


def _output(step: float, weights: np.ndarray, outputs: np.ndarray, new: float) -> tuple[float, float, float]:
    old = float(outputs.sum())
    return step * old / new, new / (old + new), old / (old + new)


def _contribution(step: float, weights: np.ndarray, outputs: np.ndarray, new: float) -> tuple[float, float, float]:
    old, new_part = float((weights * outputs).sum()), step * new
    return old / new, new_part / (old + new_part), old / (old + new_part)


#: Ways to weigh the new tree and the dropped ones.
RESCALES: dict[str, Rescale] = {
    "tree": _tree,
    "tree_always": _tree_always,
    "triple": _triple,
    "forest": _forest,
    "weight": _weight,
    "output": _output,
    "contribution": _contribution,
    "line_search": _tree,
    "none": _none,
}
