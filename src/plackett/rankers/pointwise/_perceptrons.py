"""Perceptrons with thresholds, many at a time: shared base of PRank, its average and the Bayes point machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError, LossError
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.randomness import below, mix
from plackett._kernels.scratch import longest
from plackett.data.dataset import RankingDataset
from plackett.data.mapped import query_blocks, row_array
from plackett.data.moments import deviation, moments, weight_of_rows
from plackett.data.parts import labels_that_occur
from plackett.rankers.base import Ranker
from plackett.scorers.ordinal import OrdinalScorer
from plackett.scorers.products import table_times
from plackett.solvers.monitor import Monitor
from plackett.solvers.training_vectors import measure, rows_of, signed

_MOST_GRADES = 256
_UNIT = 2.0**-32


@dataclass(kw_only=True, eq=False, repr=False)
class OrdinalPerceptron(Ranker):
    """Base class of the rankers built from perceptrons with thresholds between the grades.

    Parameters
    ----------
    margin
        Margin of a score from the threshold, on the right side. 0 is the plain perceptron. On inseparable data
        perceptrons never converge; a margin of a few times the squared norm of a document (about the number of
        features, if standardised) stabilises them.
    max_iter
        Maximum number of passes over the documents; training stops early if a pass changes nothing.
    standardize
        Scale each feature to mean 0 and standard deviation 1 while training. With features far from 0, all documents
        look alike to a perceptron, whose thresholds move in steps of 1. Sparse features stay sparse.
    """

    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = "max_iter"
    #: What is learned depends on the order of the documents; a weight is how often a pass visits a document.
    one_at_a_time: ClassVar[bool] = True

    margin: float = 0.0
    max_iter: int = 50
    standardize: bool = True

    def _shape(self) -> tuple[int, float]:
        """How many perceptrons, and the share of the documents that each sees in a pass."""
        raise NotImplementedError

    def _point(self, weights: np.ndarray, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """One perceptron of many."""
        raise NotImplementedError

    def predict_label(self, X: Any) -> np.ndarray:
        """Predict the label of each document, one of those seen in training."""
        scores = self.predict(X)
        return self.scorer_.labels_of(scores)

    @property
    def thresholds_(self) -> np.ndarray:
        """The thresholds between the grades."""
        self.check_fitted()
        return self.scorer_.thresholds

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        n_models, rate = self._shape()
        if self.max_iter < 1 or n_models < 1 or not 0.0 < rate <= 1.0 or not self.margin >= 0.0:
            raise LossError(
                f"{self}: passes and models must be 1 or more, a share of documents above 0 and at most 1, a margin 0 "
                "or more"
            )
        mean, scale = np.zeros(data.n_features), np.ones(data.n_features)
        if self.standardize:
            total, mean, square = moments(data.X, weight_of_rows(data))
            scale = deviation(total, mean, square)
        middle = mean / scale
        labels = labels_that_occur(data, lambda part: part.labels >= 0)
        if labels.size > _MOST_GRADES:
            raise DataError(f"{labels.size} different labels; {type(self).__name__} is for up to {_MOST_GRADES} grades")
        labels = labels if labels.size else np.zeros(1)
        times, grades = _times(data, rate), row_array(data.X, (data.n_rows,), np.int64)
        for part in _slices(data):
            grades[part] = np.searchsorted(labels, data.labels[part])
        rows = rows_of(data.X, scale)
        shift = row_array(data.X, (data.n_rows,))
        table_times(data.X, (middle / scale)[:, None], self.n_jobs, shift[:, None])
        order = row_array(data.X, (data.n_rows if n_models == 1 else 0,), np.int64)
        shifts = np.zeros((n_models, 2))
        w, b = np.zeros((n_models, data.n_features + 1)), np.zeros((n_models, labels.size - 1))
        seeds = np.random.default_rng(self.random_state).integers(2**63, size=n_models).astype(np.uint64)
        counts = np.zeros((n_models, 3), np.int64)
        self.mistakes_: list[int] = []
        start = OrdinalScorer(np.zeros(data.n_features), b[0], labels)
        with monitor.training(self.max_iter, type(self).__name__):
            for turn in range(self.max_iter):
                before = counts.sum(axis=0)
                over_queries(
                    _pass, np.arange(n_models + 1), turn, seeds, *rows, grades, times, order, float(self.margin),
                    middle, shift, w, b, shifts, counts, n_jobs=self.n_jobs, rows_per_thread=1,
                )  # fmt: skip
                missed, _, changed = (counts.sum(axis=0) - before).tolist()
                self.mistakes_.append(missed)
                point, thresholds = self._point(w[:, :-1] - shifts[:, :1] * middle, b)
                scorer = OrdinalScorer(point / scale, thresholds + point @ middle, labels)
                if monitor.keep(scorer) or changed == 0:
                    break
        self.rank_loss_ = int(counts[:, 1].sum())
        self.scorer_ = monitor.best or start


def _slices(data: RankingDataset) -> Iterator[slice]:
    """The rows of one block of queries after another."""
    for lo, hi in query_blocks(data.offsets):
        yield slice(int(data.offsets[lo]), int(data.offsets[hi]))


def _times(data: RankingDataset, rate: float) -> np.ndarray:
    """How often a pass has each document: ``rate`` on average over those that count."""
    weight, times = weight_of_rows(data), row_array(data.X, (data.n_rows,))
    some, n = row_array(data.X, (data.n_rows,)), 0
    for part in _slices(data):
        times[part] = np.where(data.labels[part] >= 0, 1.0 if weight is None else weight[part], 0.0)
        counted = times[part][times[part] > 0]
        some[n : n + counted.size] = counted
        n += counted.size
    if n:
        times *= rate / some[:n].mean()
    return times


@kernel
def step(grade, product, margin, b):
    """Move the thresholds for which a document is on the wrong side.

    Returns how many times its features are to be added to the weights, by how many grades it was missed, and the number
    of thresholds moved. Without a margin nothing moves unless the grade was missed.
    """
    predicted = 0
    while predicted < b.size and product >= b[predicted]:
        predicted += 1
    total = 0.0
    moved = 0
    if margin == 0.0 and predicted == grade:
        return total, 0, moved
    for r in range(b.size):
        side = 1.0 if grade > r else -1.0
        if side * (product - b[r]) <= margin:
            b[r] -= side
            total += side
            moved += 1
    return total, abs(predicted - grade), moved


@kernel
def _shuffle(order, seed):
    for i in range(order.size):
        order[i] = i
    for i in range(order.size - 1, 0, -1):
        j = below(mix(seed + np.uint64(i)), i + 1)
        kept = order[i]
        order[i] = order[j]
        order[j] = kept


@kernel
def _pass(
    lo,
    hi,
    offsets,
    turn,
    seeds,
    values,
    columns,
    pointers,
    inverse,
    grades,
    times,
    order,
    margin,
    middle,
    shift,
    w,
    b,
    shifts,
    counts,
):
    """One pass of each perceptron over the documents, each in its own order.

    A document is visited ``times`` times on average: the whole part, and once more with the probability of the rest.
    The centred features z = x − m are never formed, so that sparse ones stay sparse: the weights Σ aᵢ zᵢ are w − c m
    with w = Σ aᵢ xᵢ and c = Σ aᵢ, and ``shifts`` has c and w · m; ``shift`` has x · m of each row.
    """
    square = 0.0
    for k in range(middle.size):
        square += middle[k] * middle[k]
    if order.size == 0:  # several perceptrons; one may have room on the disk
        order = np.empty(grades.size, np.int64)
    n_max = longest(0, grades.size, pointers)
    vector = np.empty(n_max + 1)
    indices = np.empty(n_max + 1 if columns.size else 0, np.uint32)
    for m in range(lo, hi):
        seed = mix(seeds[m] ^ mix(np.uint64(turn)))
        _shuffle(order, seed)
        draw = mix(seed)
        for i in range(order.size):
            row = order[i]
            share = np.float64(mix(draw + np.uint64(i)) >> np.uint64(32)) * _UNIT
            n = signed(values, columns, pointers, inverse, row, 1.0, 0.0, vector, indices)
            for _ in range(np.int64(times[row] + share)):
                product, _square = measure(vector, n, indices, columns.size == 0, w[m])
                product -= shifts[m, 0] * (shift[row] - square) + shifts[m, 1]
                add, missed, moved = step(grades[row], product, margin, b[m])
                counts[m, 0] += missed > 0
                counts[m, 1] += missed
                counts[m, 2] += moved
                if add != 0.0:
                    shifts[m, 0] += add
                    shifts[m, 1] += add * shift[row]
                    for k in range(n):
                        w[m, k if columns.size == 0 else indices[k]] += add * vector[k]
