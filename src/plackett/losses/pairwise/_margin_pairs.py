"""Hinge and squared hinge over pairs with margins: value, gradient and products with the curvature, no pair formed.

The terms that the ranking support vector machines minimise. A pair (u, v) with margin m and weight c costs c·ξ or c·ξ²
with ξ = max(0, m − (s_u − s_v)). The pairs of a query come from its labels, as a sorted sweep sees them in O(n log n),
or are given one by one (`PreferencePairs`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from plackett._errors import DataError, LossError
from plackett._kernel import PAIR_ROWS_PER_THREAD, over_queries
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss
from plackett.losses.pairwise._pair_sweeps import LOWER, SAME, TABLE, pair_sums, sort_sweep
from plackett.losses.pairwise.base import label_order

__all__ = ["LabelPairs", "MarginPairs", "PreferencePairs", "margin_pairs"]


class MarginPairs(Protocol):
    """Pairs of documents that should be apart."""

    def evaluate(self, scores: np.ndarray, squared: bool) -> tuple[float, np.ndarray]:
        """Σ c·ξ or Σ c·ξ², and its gradient for the scores."""

    def curvature(self, scores: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """Product with the (generalised) second derivative of Σ c·ξ² at these scores."""


def margin_pairs(
    data: RankingDataset,
    *,
    margin: float | str = 1.0,
    normalize: bool = False,
    level_weights: np.ndarray | None = None,
    tie_weight: float = 0.0,
    tie_width: float = 0.0,
    n_jobs: int | None = None,
) -> MarginPairs:
    """The preferences of a dataset if it has any, otherwise all its pairs of unequal labels.

    Parameters
    ----------
    margin
        Margin by which the better document should lead: a number, or ``"label"`` for the difference of the labels. A
        preference with a margin of its own uses that instead.
    normalize
        Divide the weights of a query's pairs by their sum.
    level_weights
        Weight of a pair by its labels: row of the better one, column of the worse one. Labels are row numbers then.
    tie_weight, tie_width
        With a positive weight, pairs of equal labels take part too: their scores should not be apart by more than the
        width.
    """
    if isinstance(margin, str) and margin != "label":
        raise LossError(f"margin={margin!r}; give a number, or 'label' for the difference of the labels")
    if not isinstance(margin, str) and not (margin >= 0 and np.isfinite(margin)):
        raise LossError(f"margin={margin}; give a number of 0 or more")
    for name, value in (("tie_weight", tie_weight), ("tie_width", tie_width)):
        if not (value >= 0 and np.isfinite(value)):
            raise LossError(f"{name}={value}; give a number of 0 or more")
    if data.preferences is not None:
        if level_weights is not None or tie_weight > 0:
            raise LossError("preferences have weights of their own: level weights and tie_weight are for labels")
        return PreferencePairs(data, margin, normalize)
    return LabelPairs(data, margin, normalize, level_weights, tie_weight, tie_width, n_jobs)


class LabelPairs:
    """All pairs of unequal labels of each query, and optionally those of equal labels."""

    def __init__(
        self,
        data: RankingDataset,
        margin: float | str,
        normalize: bool,
        level_weights: np.ndarray | None,
        tie_weight: float,
        tie_width: float,
        n_jobs: int | None,
    ) -> None:
        bound = BoundLoss(data)  # for the weights
        labels = data.labels
        self.data, self.weight, self.n_jobs = data, bound.sample_weight, n_jobs
        self.order, below, self.judged = label_order(data, n_jobs)
        # s_u − s_v ≥ y_u − y_v is (s − y)_u − (s − y)_v ≥ 0
        self.shift = labels if margin == "label" else None
        margin = 0.0 if isinstance(margin, str) else float(margin)
        self.grade, n_grades = _grades(data, self.order, below, self.judged)
        if level_weights is None:
            table = np.empty((0, 0))
            forms = [(LOWER, margin, 1.0)]
        else:
            table = _table(level_weights, labels)
            forms = [(TABLE, margin, 1.0)]
            n_grades = np.full(data.n_queries, table.shape[0])
            self.grade = np.where(labels >= 0, labels, 0).astype(np.int64)
        if tie_weight > 0:
            forms.append((SAME, -float(tie_width), float(tie_weight)))
        self.forms, self.tables, self.n_grades = forms, np.stack([table, table.T]), n_grades
        self.scale = bound.query_weight
        if normalize:
            lower, same = _pair_weight(data, self.grade, self.weight)
            total = lower + tie_weight * same
            self.scale = np.divide(self.scale, total, out=np.zeros_like(total), where=total > 0)
        self.price = self.scale[data.query_of_row] * self.weight

    def evaluate(self, scores: np.ndarray, squared: bool) -> tuple[float, np.ndarray]:
        """Σ c·ξ or Σ c·ξ², and its gradient for the scores."""
        gradient, value = np.zeros(scores.size), 0.0
        for form, margin, factor in self.forms:
            rows, keys = self._sorted(scores, form)
            x = keys - np.repeat(np.add.reduceat(keys, self.data.offsets[:-1]) / self.data.group, self.data.group)
            n_worse, worse, n_better, better = self._sums(form, rows, keys, margin, x)
            price = factor * self.price[rows]
            won = price * ((margin - x) * n_worse + worse)  # Σ c·ξ as the better one
            if squared:
                lost = price * ((margin + x) * n_better - better)  # and as the worse one
                value += float((won * (margin - x) + lost * x).sum())  # Σ c·ξ², as ξ = margin − (x_u − x_v)
                gradient[rows] += 2.0 * (lost - won)
            else:
                value += float(won.sum())
                gradient[rows] += price * (n_better - n_worse)
        return value, gradient

    def curvature(self, scores: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """Product with the (generalised) second derivative of Σ c·ξ² at these scores."""
        ready = [(form, *self._sorted(scores, form), margin, factor) for form, margin, factor in self.forms]

        def times(direction: np.ndarray) -> np.ndarray:
            out = np.zeros(direction.size)
            for form, rows, keys, margin, factor in ready:
                x = direction[rows]
                n_worse, worse, n_better, better = self._sums(form, rows, keys, margin, x)
                out[rows] += 2.0 * factor * self.price[rows] * ((n_worse + n_better) * x - worse - better)
            return out

        return times

    def _sorted(self, scores: np.ndarray, form: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows of each query by descending score, and those scores, less the labels where they are margins."""
        keys = scores if self.shift is None or form == SAME else scores - self.shift
        rows, sorted_keys = np.empty(keys.size, np.int64), np.empty(keys.size)
        self._over(sort_sweep, self.judged, self.order, keys, rows, sorted_keys)
        return rows, sorted_keys

    def _sums(self, form: int, rows: np.ndarray, keys: np.ndarray, margin: float, carried: np.ndarray) -> np.ndarray:
        sums = np.zeros((4, rows.size))
        fixed = (self.judged, self.grade, self.n_grades, self.weight, self.tables)
        self._over(pair_sums, rows, keys, *fixed, form, margin, carried, sums)
        return sums

    def _over(self, sweep: Callable[..., None], *arguments: Any) -> None:
        over_queries(sweep, self.data.offsets, *arguments, n_jobs=self.n_jobs, rows_per_thread=PAIR_ROWS_PER_THREAD)


class PreferencePairs:
    """The explicit preferences of a dataset."""

    def __init__(self, data: RankingDataset, margin: float | str, normalize: bool) -> None:
        pairs = data.preferences
        if pairs is None:
            raise LossError("the dataset has no preferences")
        bound = BoundLoss(data)
        self.winner, self.loser = pairs.winner, pairs.loser
        if pairs.margin is not None:
            self.margin = pairs.margin
        elif margin == "label":
            self.margin = data.labels[pairs.winner] - data.labels[pairs.loser]
        else:
            self.margin = np.full(len(pairs), float(margin))
        weight = bound.sample_weight[pairs.winner] * bound.sample_weight[pairs.loser]
        if pairs.weight is not None:
            weight = weight * pairs.weight
        query = data.query_of_row[pairs.winner]
        if normalize:
            total = np.bincount(query, weight, data.n_queries)[query]
            weight = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
        self.weight = weight * bound.query_weight[query]

    def evaluate(self, scores: np.ndarray, squared: bool) -> tuple[float, np.ndarray]:
        """Σ c·ξ or Σ c·ξ², and its gradient for the scores."""
        miss = np.maximum(self.margin - (scores[self.winner] - scores[self.loser]), 0.0)
        slope = 2.0 * self.weight * miss if squared else self.weight * (miss > 0)
        value = self.weight @ (miss**2 if squared else miss)
        n = scores.size
        return float(value), np.bincount(self.loser, slope, n) - np.bincount(self.winner, slope, n)

    def curvature(self, scores: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """Product with the (generalised) second derivative of Σ c·ξ² at these scores."""
        active = scores[self.winner] - scores[self.loser] < self.margin
        winner, loser, weight = self.winner[active], self.loser[active], 2.0 * self.weight[active]

        def times(direction: np.ndarray) -> np.ndarray:
            pull = weight * (direction[winner] - direction[loser])
            return np.bincount(winner, pull, direction.size) - np.bincount(loser, pull, direction.size)

        return times


def _grades(
    data: RankingDataset, order: np.ndarray, below: np.ndarray, judged: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Number of each judged document's label among those of its query, 0 the lowest; how many labels a query has."""
    place = np.arange(data.n_rows) - np.repeat(data.offsets[:-1], data.group)
    last = np.repeat(judged, data.group)
    # a new grade begins behind every place whose next lower label is the next place
    begins = np.zeros(data.n_rows + 1, np.int64)
    begins[1:] = (below == place + 1) & (place + 1 < last)
    counted = np.cumsum(begins)[:-1]
    counted -= np.repeat(counted[data.offsets[:-1]] if data.n_rows else counted, data.group)
    ends = data.offsets[:-1] + np.maximum(judged, 1) - 1
    most = counted[np.minimum(ends, max(data.n_rows - 1, 0))]
    grade = np.zeros(data.n_rows, np.int64)
    grade[order] = np.repeat(most, data.group) - counted
    return grade, most + 1


def _pair_weight(data: RankingDataset, grade: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weight of all pairs of unequal labels of each query, and of all pairs of equal ones."""
    judged = data.labels >= 0
    query, w = data.query_of_row[judged], weight[judged]
    group, index = np.unique(np.stack([query, grade[judged]]), axis=1, return_inverse=True)
    level, squares = np.bincount(index.ravel(), w), np.bincount(index.ravel(), w**2)
    same = np.bincount(group[0], 0.5 * np.maximum(level**2 - squares, 0.0), data.n_queries)
    whole = np.bincount(group[0], level, data.n_queries)
    lower = 0.5 * (whole**2 - np.bincount(group[0], level**2, data.n_queries))
    several = np.bincount(group[0], minlength=data.n_queries) > 1
    return np.where(several, np.maximum(lower, 0.0), 0.0), same


def _table(level_weights: np.ndarray, labels: np.ndarray) -> np.ndarray:
    try:
        table = np.array(level_weights, np.float64)
    except (TypeError, ValueError):
        raise LossError(f"level_weights={level_weights!r:.80}; give a square table of numbers") from None
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not (table >= 0).all() or not np.isfinite(table).all():
        raise LossError(f"level_weights must be a square table of numbers of 0 or more, got shape {table.shape}")
    judged = labels[labels >= 0]
    bad = judged[(judged != np.floor(judged)) | (judged >= table.shape[0])]
    if bad.size:
        raise DataError(f"label {bad[0]:g} has no row in a table of level weights for labels 0..{table.shape[0] - 1}")
    return np.tril(table, -1)
