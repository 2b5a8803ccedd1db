"""Hinge and squared hinge over pairs with margins: value, gradient and products with the curvature, no pair formed.

The terms that the ranking support vector machines minimise. A pair (u, v) with margin m and weight c costs c·ξ or c·ξ²
with ξ = max(0, m − (s_u − s_v)). The pairs of a query come from its labels, as a sorted sweep sees them in O(n log n),
or are given one by one (`PreferencePairs`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError, LossError
from plackett._kernels.kernel import over_queries
from plackett.data.dataset import RankingDataset
from plackett.data.mapped import query_blocks, row_array
from plackett.data.weights import given_or_ones
from plackett.losses.pairwise._pair_sweeps import LOWER, SAME, TABLE, pair_sums, sort_sweep
from plackett.losses.pairwise.base import documents_weight, label_order


class MarginPairs(Protocol):
    """Pairs of documents that should be apart.

    Results are written to ``out`` where it is given; data that are on the disk leave no room for them in memory.
    """

    def evaluate(self, scores: np.ndarray, squared: bool, out: np.ndarray | None = None) -> tuple[float, np.ndarray]:
        """Σ c·ξ or Σ c·ξ², and its gradient for the scores."""

    def curvature(self, scores: np.ndarray) -> Callable[..., np.ndarray]:
        """Product with the (generalised) second derivative of Σ c·ξ²: a function ``times(direction, out=None)``."""


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
        number(name, value, least=0, error=LossError)
    if data.preferences is not None:
        if level_weights is not None or tie_weight > 0:
            raise LossError("preferences have weights of their own: level weights and tie_weight are for labels")
        return PreferencePairs(data, margin, normalize)
    return LabelPairs(data, margin, normalize, level_weights, tie_weight, tie_width, n_jobs)


class LabelPairs:
    """All pairs of unequal labels of each query, and optionally those of equal labels.

    Blocks of queries are swept one after another, so that only one of them is in memory for data that are on the disk:
    there, what is kept for each document is on the disk, too.
    """

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
        self.X, self.n_rows, self.n_jobs = data.X, data.n_rows, n_jobs
        table = np.empty((0, 0)) if level_weights is None else _table(level_weights)
        self.tables = np.stack([table, table.T])
        apart = 0.0 if isinstance(margin, str) else float(margin)
        self.forms = [(LOWER if level_weights is None else TABLE, apart, 1.0)]
        if tie_weight > 0:
            self.forms.append((SAME, -float(tie_width), float(tie_weight)))
        self.scale = np.empty(data.n_queries)
        self._terms: np.ndarray | None = None
        order, grade = (row_array(data.X, (data.n_rows,), np.int64) for _ in range(2))
        price = row_array(data.X, (data.n_rows,))
        ranges = list(query_blocks(data.offsets))
        ones = given_or_ones(None, max((int(data.offsets[hi] - data.offsets[lo]) for lo, hi in ranges), default=0))
        self.blocks = []
        for lo, hi in ranges:
            part = data if len(ranges) == 1 else data.select(np.arange(lo, hi))
            rows = slice(int(data.offsets[lo]), int(data.offsets[hi]))
            weight = ones[: part.n_rows] if part.sample_weight is None else part.sample_weight
            order[rows], below, judged = label_order(part, n_jobs)
            grade[rows], n_grades = _grades(part, order[rows], below, judged)
            if level_weights is not None:
                n_grades = np.full(part.n_queries, table.shape[0])
                grade[rows] = _rows_of_table(part.labels, table)
            scale = given_or_ones(part.query_weight, part.n_queries)
            if normalize:
                lower, same = _pair_weight(part, grade[rows], weight)
                total = lower + tie_weight * same
                scale = np.divide(scale, total, out=np.zeros_like(total), where=total > 0)
            self.scale[lo:hi] = scale
            price[rows] = np.repeat(scale, part.group) * weight
            # s_u − s_v ≥ y_u − y_v is (s − y)_u − (s − y)_v ≥ 0
            shift = part.labels if margin == "label" else None
            block = _Block(rows, part.offsets, judged, n_grades, order[rows], grade[rows], weight, price[rows], shift)
            self.blocks.append(block)

    def evaluate(self, scores: np.ndarray, squared: bool, out: np.ndarray | None = None) -> tuple[float, np.ndarray]:
        """Σ c·ξ or Σ c·ξ², and its gradient for the scores."""
        if out is None:
            out = row_array(self.X, (self.n_rows,))
        if self._terms is None:
            self._terms = row_array(self.X, (len(self.forms), self.n_rows))
        for block in self.blocks:
            gradient = np.zeros(block.n_rows)
            for terms, (form, margin, factor) in zip(self._terms, self.forms, strict=True):
                rows, keys = self._sorted(block, scores[block.rows], form)
                group = np.diff(block.offsets)
                x = keys - np.repeat(np.add.reduceat(keys, block.offsets[:-1]) / group, group)
                n_worse, worse, n_better, better = self._sums(block, form, rows, keys, margin, x)
                price = factor * block.price[rows]
                won = price * ((margin - x) * n_worse + worse)  # Σ c·ξ as the better one
                if squared:
                    lost = price * ((margin + x) * n_better - better)  # and as the worse one
                    terms[block.rows] = won * (margin - x) + lost * x  # Σ c·ξ², as ξ = margin − (x_u − x_v)
                    gradient[rows] += 2.0 * (lost - won)
                else:
                    terms[block.rows] = won
                    gradient[rows] += price * (n_better - n_worse)
            out[block.rows] = gradient
        # summed at once, as the rounding of a sum depends on how it is divided
        return sum((float(terms.sum()) for terms in self._terms), 0.0), out

    def curvature(self, scores: np.ndarray) -> Callable[..., np.ndarray]:
        """Product with the (generalised) second derivative of Σ c·ξ²: a function ``times(direction, out=None)``."""
        shape = len(self.forms), self.n_rows
        all_rows, all_keys = row_array(self.X, shape, np.int64), row_array(self.X, shape)
        for block in self.blocks:
            for i, (form, _, _) in enumerate(self.forms):
                all_rows[i, block.rows], all_keys[i, block.rows] = self._sorted(block, scores[block.rows], form)

        def times(direction: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
            if out is None:
                out = row_array(self.X, (self.n_rows,))
            for block in self.blocks:
                product, own = np.zeros(block.n_rows), direction[block.rows]
                for i, (form, margin, factor) in enumerate(self.forms):
                    rows, keys = all_rows[i, block.rows], all_keys[i, block.rows]
                    x = own[rows]
                    n_worse, worse, n_better, better = self._sums(block, form, rows, keys, margin, x)
                    product[rows] += 2.0 * factor * block.price[rows] * ((n_worse + n_better) * x - worse - better)
                out[block.rows] = product
            return out

        return times

    def _sorted(self, block: _Block, scores: np.ndarray, form: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows of each query by descending score, and those scores, less the labels where they are margins."""
        keys = scores if block.shift is None or form == SAME else scores - block.shift
        rows, sorted_keys = np.empty(keys.size, np.int64), np.empty(keys.size)
        self._over(sort_sweep, block, block.judged, block.order, keys, rows, sorted_keys)
        return rows, sorted_keys

    def _sums(
        self, block: _Block, form: int, rows: np.ndarray, keys: np.ndarray, margin: float, carried: np.ndarray
    ) -> np.ndarray:
        sums = np.zeros((4, rows.size))
        fixed = (block.judged, block.grade, block.n_grades, block.weight, self.tables)
        self._over(pair_sums, block, rows, keys, *fixed, form, margin, carried, sums)
        return sums

    def _over(self, sweep: Callable[..., None], block: _Block, *arguments: Any) -> None:
        over_queries(sweep, block.offsets, *arguments, n_jobs=self.n_jobs)


class _Block(NamedTuple):
    """Some whole queries: where their rows are, and what the sweeps read, by the row numbers of the block."""

    rows: slice
    offsets: np.ndarray
    judged: np.ndarray
    n_grades: np.ndarray
    order: np.ndarray
    grade: np.ndarray
    weight: np.ndarray
    price: np.ndarray
    shift: np.ndarray | None

    @property
    def n_rows(self) -> int:
        return int(self.offsets[-1])


class PreferencePairs:
    """The explicit preferences of a dataset."""

    def __init__(self, data: RankingDataset, margin: float | str, normalize: bool) -> None:
        pairs = data.preferences
        if pairs is None:
            raise LossError("the dataset has no preferences")
        self.winner, self.loser = pairs.winner, pairs.loser
        if pairs.margin is not None:
            self.margin = pairs.margin
        elif margin == "label":
            self.margin = data.labels[pairs.winner] - data.labels[pairs.loser]
        else:
            self.margin = np.full(len(pairs), float(margin))
        weight = documents_weight(data, pairs)
        query = data.query_of_row[pairs.winner]
        if normalize:
            total = np.bincount(query, weight, data.n_queries)[query]
            weight = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
        self.weight = weight * given_or_ones(data.query_weight, data.n_queries)[query]

    def evaluate(self, scores: np.ndarray, squared: bool, out: np.ndarray | None = None) -> tuple[float, np.ndarray]:
        """Σ c·ξ or Σ c·ξ², and its gradient for the scores."""
        miss = np.maximum(self.margin - (scores[self.winner] - scores[self.loser]), 0.0)
        slope = 2.0 * self.weight * miss if squared else self.weight * (miss > 0)
        value = self.weight @ (miss**2 if squared else miss)
        n = scores.size
        return float(value), np.subtract(np.bincount(self.loser, slope, n), np.bincount(self.winner, slope, n), out=out)

    def curvature(self, scores: np.ndarray) -> Callable[..., np.ndarray]:
        """Product with the (generalised) second derivative of Σ c·ξ²: a function ``times(direction, out=None)``."""
        active = scores[self.winner] - scores[self.loser] < self.margin
        winner, loser, weight = self.winner[active], self.loser[active], 2.0 * self.weight[active]

        def times(direction: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
            pull, n = weight * (direction[winner] - direction[loser]), direction.size
            return np.subtract(np.bincount(winner, pull, n), np.bincount(loser, pull, n), out=out)

        return times


def _grades(
    data: RankingDataset, order: np.ndarray, below: np.ndarray, judged: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Number of each judged document's label among those of its query, 0 the lowest; how many labels a query has."""
    position = np.arange(data.n_rows) - np.repeat(data.offsets[:-1], data.group)
    last = np.repeat(judged, data.group)
    # a new grade begins after every position whose next lower label is at the next position
    begins = np.zeros(data.n_rows + 1, np.int64)
    begins[1:] = (below == position + 1) & (position + 1 < last)
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


def _table(level_weights: np.ndarray) -> np.ndarray:
    try:
        table = np.array(level_weights, np.float64)
    except (TypeError, ValueError):
        raise LossError(f"level_weights={level_weights!r:.80}; give a square table of numbers") from None
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not (table >= 0).all() or not np.isfinite(table).all():
        raise LossError(f"level_weights must be a square table of numbers of 0 or more, got shape {table.shape}")
    return np.tril(table, -1)


def _rows_of_table(labels: np.ndarray, table: np.ndarray) -> np.ndarray:
    judged = labels[labels >= 0]
    bad = judged[(judged != np.floor(judged)) | (judged >= table.shape[0])]
    if bad.size:
        raise DataError(f"label {bad[0]:g} has no row in a table of level weights for labels 0..{table.shape[0] - 1}")
    return np.where(labels >= 0, labels, 0).astype(np.int64)
