"""Weights of lists, fitted on judged queries."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

#: Factors to try on the weight of a list.
_FACTORS = (0.0, 0.5, 0.8, 1.25, 2.0)
_SWEEPS = 5
_LEAST_GAIN = 1e-5


def best_weights(weights: np.ndarray, value: Callable[[np.ndarray], float]) -> tuple[float, ...]:
    """Weights of the largest value, found by coordinate ascent from the given ones.

    The weight of each list in turn is multiplied by the best factor; the search stops when a sweep brings no
    improvement. Only values are needed, so this works for every method of aggregation and every measure, and the value
    never falls. The weights have mean 1.
    """
    best = value(weights)
    for _ in range(_SWEEPS):
        before = best
        for m in range(weights.size):
            kept = weights.copy()
            base = kept[m] or kept.mean()  # a dropped list may come back
            for factor in _FACTORS:
                candidate = kept.copy()
                candidate[m] = base * factor
                if candidate.any() and (reached := value(candidate)) > best + _LEAST_GAIN:
                    best, weights = reached, candidate
        if best <= before + _LEAST_GAIN:
            break
    return tuple((weights / weights.mean()).tolist())
