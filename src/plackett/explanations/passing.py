"""What would lift a document above another."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

__all__ = ["ways_to_pass"]

#: Values tried per feature, and features that may change together.
_VALUES = 64
_TOGETHER = 8


def ways_to_pass(
    score: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    x: np.ndarray,
    seen: np.ndarray,
    names: list[str],
) -> pl.DataFrame:
    """The nearest single changes of a document that lift it above another one, or a small set of changes.

    Parameters
    ----------
    score
        Scores of versions of the document, and of the other one beside each.
    x
        The document.
    seen
        Documents whose values may be taken.
    names
        Names of the features.
    """
    candidates = [_values(seen[:, j]) for j in range(x.size)]
    spread = np.nanstd(seen.astype(np.float64), axis=0)
    spread[spread == 0] = 1.0
    feature = np.repeat(np.arange(x.size), [c.size for c in candidates])
    value = np.concatenate(candidates)
    distance = np.abs(np.nan_to_num(value, nan=np.inf) - np.nan_to_num(x[feature])) / spread[feature]
    current = x.copy()
    changed: list[int] = []
    after: list[float] = []
    while len(changed) < _TOGETHER:
        scores, others = score(_versions(current, feature, value))
        passes = scores > others
        if passes.any():
            if not changed:
                return _alone(feature, value, distance, scores, passes, x, names)
            k = int(np.flatnonzero(passes)[np.argmin(distance[passes])])
        else:
            k = int(np.argmax(np.where(np.isin(feature, changed), -np.inf, scores - others)))
        if feature[k] in changed:
            break
        current[feature[k]] = value[k]
        changed.append(int(feature[k]))
        after.append(float(scores[k]))
        if passes.any():
            values = [float(current[j]) for j in changed]
            steps = [abs(float(current[j]) - float(x[j])) / spread[j] for j in changed]
            return _frame(changed, x, values, steps, after, names, together=True)
    return _frame([], x, [], [], [], names, together=False)


def _values(column: np.ndarray) -> np.ndarray:
    found = np.unique(column[~np.isnan(column)])
    if found.size <= _VALUES:
        return found
    return found[np.unique(np.linspace(0, found.size - 1, _VALUES).round().astype(int))]


def _versions(x: np.ndarray, feature: np.ndarray, value: np.ndarray) -> np.ndarray:
    rows = np.tile(x, (feature.size, 1))
    rows[np.arange(feature.size), feature] = value
    return rows


def _alone(
    feature: np.ndarray,
    value: np.ndarray,
    distance: np.ndarray,
    scores: np.ndarray,
    passes: np.ndarray,
    x: np.ndarray,
    names: list[str],
) -> pl.DataFrame:
    """The nearest passing value of each feature that has one, nearest first."""
    found = np.flatnonzero(passes)
    found = found[np.argsort(distance[found], kind="stable")]
    _, first = np.unique(feature[found], return_index=True)
    found = found[np.sort(first)]
    values, distances, after = (column[found].tolist() for column in (value, distance, scores))
    return _frame(feature[found].tolist(), x, values, distances, after, names, together=False)


def _frame(
    features: list[int],
    x: np.ndarray,
    values: list[float],
    distances: list[float],
    scores: list[float],
    names: list[str],
    together: bool,
) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "feature": [names[j] for j in features],
            "from": [float(x[j]) for j in features],
            "to": values,
            "deviations": distances,
            "score": scores,
            "together": [together] * len(features),
        },
        schema={
            "feature": pl.String,
            "from": pl.Float64,
            "to": pl.Float64,
            "deviations": pl.Float64,
            "score": pl.Float64,
            "together": pl.Boolean,
        },
    )
