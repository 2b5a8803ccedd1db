"""Find changes that would lift a document above another."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

#: Features that may change together, and versions of the document scored at once.
_TOGETHER = 8
_BATCH_ROWS = 20_000


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
        Scores of versions of the document, and of the other one with each version.
    x
        The document.
    seen
        Documents whose values may be used.
    names
        Names of the features.
    """
    candidates = [np.unique(column[~np.isnan(column)]) for column in seen.T]
    spread = np.nanstd(seen.astype(np.float64), axis=0)
    spread[spread == 0] = 1.0
    feature = np.repeat(np.arange(x.size), [c.size for c in candidates])
    value = np.concatenate(candidates)
    distance = np.abs(np.nan_to_num(value, nan=np.inf) - np.nan_to_num(x[feature])) / spread[feature]
    current = x.copy()
    changed: list[int] = []
    after: list[float] = []
    while len(changed) < _TOGETHER:
        scores, others = _scores(score, current, feature, value)
        passes = scores > others
        if passes.any():
            if not changed:
                return _alone(feature, value, distance, scores, passes, x, names)
            k = int(np.flatnonzero(passes)[np.argmin(distance[passes])])
        else:
            k = int(np.argmax(np.where(np.isin(feature, changed), -np.inf, scores - others)))
        if feature[k] in changed:
            if not passes.any():  # all features were changed
                break
            after.pop(changed.index(int(feature[k])))
            changed.remove(int(feature[k]))
        current[feature[k]] = value[k]
        changed.append(int(feature[k]))
        after.append(float(scores[k]))
        if passes.any():
            values = [float(current[j]) for j in changed]
            steps = [abs(float(current[j]) - float(x[j])) / spread[j] for j in changed]
            return _frame(changed, x, values, steps, after, names, together=True)
    return _frame([], x, [], [], [], names, together=False)


def _scores(
    score: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], x: np.ndarray, feature: np.ndarray, value: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the document with one feature changed, and of the other document with it."""
    scored = []
    for lo in range(0, feature.size, _BATCH_ROWS):
        columns = feature[lo : lo + _BATCH_ROWS]
        rows = np.tile(x, (columns.size, 1))
        rows[np.arange(columns.size), columns] = value[lo : lo + _BATCH_ROWS]
        scored.append(score(rows))
    scores, others = zip(*scored, strict=True)
    return np.concatenate(scores), np.concatenate(others)


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
    kept = np.flatnonzero(passes)
    kept = kept[np.argsort(distance[kept], kind="stable")]
    _, first = np.unique(feature[kept], return_index=True)
    kept = kept[np.sort(first)]
    values, distances, after = (column[kept].tolist() for column in (value, distance, scores))
    return _frame(feature[kept].tolist(), x, values, distances, after, names, together=False)


def _frame(
    features: list[int],
    x: np.ndarray,
    values: list[float],
    distances: list[float],
    scores: list[float],
    names: list[str],
    together: bool,
) -> pl.DataFrame:
    changed, before = [names[j] for j in features], [float(x[j]) for j in features]
    return pl.DataFrame(
        [changed, before, values, distances, scores, [together] * len(features)],
        orient="col",
        schema={
            "feature": pl.String,
            "from": pl.Float64,
            "to": pl.Float64,
            "deviations": pl.Float64,
            "score": pl.Float64,
            "together": pl.Boolean,
        },
    )
