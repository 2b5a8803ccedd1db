"""Weights of lists, fitted on judged queries."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett.aggregation.judged import Judged
from plackett.aggregation.lists import RankLists
from plackett.measures.language import parse

if TYPE_CHECKING:
    from plackett.aggregation.base import Aggregation

#: Factors to try on the weight of a list.
_FACTORS = (0.0, 0.5, 0.8, 1.25, 2.0)
_SWEEPS = 5
_LEAST_GAIN = 1e-5


def best_weights(
    method: Aggregation, lists: RankLists, judged: Judged, measure: Any, n_jobs: int | None = None
) -> tuple[float, ...]:
    """Weights whose aggregation has the largest mean of a measure, found by coordinate ascent.

    Starting from the method's own weights, the weight of each list in turn is multiplied by the best factor; the search
    stops when a sweep brings no improvement. Each step is a whole aggregation and evaluation, so this works for every
    method and measure, and the value on the training queries never falls. The weights have mean 1.
    """
    measure = parse(measure) if isinstance(measure, str) else measure
    weights = method.list_weights(lists)

    def value(candidate: np.ndarray) -> float:
        scores = dataclasses.replace(method, weights=tuple(candidate)).scores(lists, n_jobs=n_jobs)
        return judged.value(scores, measure, n_jobs)

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
