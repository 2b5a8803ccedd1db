"""Shared base of the pair losses: which pairs there are, and how they are weighted and summed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import LossError
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries, template
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett.data.dataset import RankingDataset
from plackett.data.preferences import Preferences
from plackett.data.weights import given_or_ones
from plackett.losses.base import BoundLoss, DeviceForm, Loss, LossOnData
from plackett.losses.bounds.known_bound import KnownBound
from plackett.losses.bounds.pairs import pair_bounds
from plackett.losses.pairwise.device import pair_gradient
from plackett.losses.pairwise.rows import add, gaps, sweep_of
from plackett.measures.base import Measure


@template
def _phi(z, value, slope, curvature, *shape):
    """Placeholder for the formula of a loss."""
    raise NotImplementedError


@template
def _of_lower_label(row, u, below, n, shape):
    """Pairs of a document with those of lower labels."""
    z, value, slope, bend = gaps(row, u, below, n, shape[0])
    _phi(z, value, slope, bend, *shape[1:])
    return add(row, u, below, n)


class SweptLoss(Loss):
    """Base of the losses that sum a formula over pairs of documents.

    On a dataset with labels the kernel reads the documents (the fields of `Pairs`), the numbers that decide the form
    of the loss, and whether the value is wanted. Explicit preferences are bound as `PreferenceTerms`.
    """

    approach: ClassVar[str] = "pairwise"
    rows_per_thread: ClassVar[int] = PAIR_ROWS_PER_THREAD

    def derivatives(self, bound: LossOnData, scores: np.ndarray, value: bool) -> tuple[Any, Any, Any]:
        """Loss of each query (wanted if ``value``), gradient and curvature of each score."""
        return bound.run(self.kernel, scores, *bound.constants, value)


@dataclass(frozen=True, kw_only=True, repr=False)
class PairLoss(SweptLoss):
    r"""A loss of the form :math:`\sum_{(u, v)} w_{uv}\,\varphi(s_u - s_v)` over pairs in which u is preferred to v.

    The pairs are the explicit preferences of the dataset if it has any, with their margins and weights; otherwise
    all pairs of unequal labels of a query. The weight of a pair is the product of the weights of its two documents.

    Parameters
    ----------
    margin
        Margin by which the preferred document should lead, as defined by the loss; a preference with a margin of its
        own uses that instead.
    normalize
        Divide the loss of a query by the weight of its pairs, so that queries with many pairs do not dominate.
    """

    margin: float = 0.0
    normalize: bool = False

    takes_preferences: ClassVar[bool] = True
    #: The formula: ``phi(z, value, slope, curvature, *shape)`` for an array of differences minus margins. The kernel
    #: goes over one row of pairs after another, unless the loss has a faster form.
    phi: ClassVar[Callable[..., Any]]
    #: ``device_slope(torch, z, *shape)``: φ' of a tensor of differences minus margins, for networks on an accelerator;
    #: None where the kernel of the host, which needs no pair by itself, is faster.
    device_slope: ClassVar[Callable[..., Any] | None] = None

    @property
    def shape(self) -> tuple[float, ...]:
        """Further numbers that decide the form of the loss."""
        return ()

    @property
    def numbers(self) -> tuple[float, ...]:
        """What the kernel reads of the parameters: the margin and the shape."""
        return (float(self.margin), *self.shape)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "phi" in vars(cls) and "kernel" not in vars(cls):
            cls.kernel = staticmethod(sweep_of(_of_lower_label, _phi=cls.phi))

    def bounds_of(self, measure: Measure) -> Iterable[KnownBound]:
        """Bounds of a measure by the number of wrong pairs, where φ bounds them."""
        return pair_bounds(self, measure)

    def pair_weight(self, data: RankingDataset, n_jobs: int | None = None) -> np.ndarray:
        """Weight of all pairs of each query, by which ``normalize`` divides."""
        return total_pair_weight(data, n_jobs)

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """The pairs of unequal labels."""
        if bound.data.y is None:
            raise LossError(f"{self.name} needs labels or preferences, but the dataset has neither")
        total = self.pair_weight(bound.data, bound.n_jobs) if self.normalize else None
        return all_pairs(bound, total), self.numbers

    def of_preferences(self, gap: np.ndarray, margin: Any, terms: tuple[np.ndarray, ...]) -> None:
        """Fill in loss, slope and curvature of each preference from the difference of its scores."""
        self.phi(gap - margin, *terms, *self.shape)

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on the preferences of a dataset, or on all its pairs of unequal labels."""
        if data.preferences is None:
            return super().bind(data, n_jobs=n_jobs)
        margin = self.margin if data.preferences.margin is None else data.preferences.margin
        return PreferenceTerms(self, data, n_jobs, margin, _preference_weight(data))

    def device_form(self, bound: LossOnData) -> DeviceForm | None:
        """How an accelerator computes the gradient; None if the kernel on the host is faster."""
        if self.device_slope is None:
            return None
        labels, scale = np.where(bound.data.labels >= 0, bound.data.labels, np.nan), bound.constants[0][5]
        # numbers of the labels: float32 would take labels for equal that differ in their last digits
        levels = np.where(np.isnan(labels), np.nan, np.unique(labels, return_inverse=True)[1])
        return DeviceForm(partial(pair_gradient, self), self._per_row(bound, levels), scale, pairs=True)

    def _per_row(self, bound: LossOnData, levels: np.ndarray) -> tuple[tuple[np.ndarray, float], ...]:
        """Tables of an accelerator: the level of each document, NaN where it is not judged, and its weight."""
        if (bound.sample_weight == 1.0).all():
            return ((levels, np.nan),)
        return ((levels, np.nan), (bound.sample_weight, 0.0))


class PreferenceTerms(BoundLoss):
    """A loss on the explicit preferences of a dataset, one term each."""

    def __init__(self, loss: Any, data: RankingDataset, n_jobs: int | None, margin: Any, weight: np.ndarray) -> None:
        super().__init__(data, n_jobs=n_jobs)
        pairs = data.preferences
        assert pairs is not None
        self.loss, self.margin = loss, margin
        self.winner, self.loser = pairs.winner, pairs.loser
        self.query = data.query_of_row[self.winner]
        if loss.normalize:
            total = np.bincount(self.query, weight, data.n_queries)[self.query]
            weight = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
        self.weight = weight * self.query_weight[self.query]

    @cached_property
    def _terms(self) -> tuple[np.ndarray, ...]:
        return tuple(np.empty(self.winner.size) for _ in range(3))

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        winner, loser, n = self.winner, self.loser, scores.size
        self.loss.of_preferences(scores[winner] - scores[loser], self.margin, self._terms)
        losses, slopes, bends = (term * self.weight for term in self._terms)
        gradient = np.bincount(winner, slopes, n) - np.bincount(loser, slopes, n)
        curvature = np.bincount(winner, bends, n) + np.bincount(loser, bends, n)
        return np.bincount(self.query, losses, self.data.n_queries), gradient, curvature


def all_pairs(bound: BoundLoss, total: np.ndarray | None) -> tuple[np.ndarray, ...]:
    """What a sweep over the pairs of a dataset reads; queries are divided by ``total`` where it is given.

    These are the fields of `Pairs` as a plain tuple: Numba recognises it twice as fast as a named one, which matters
    for small datasets.
    """
    scale = bound.query_weight
    if total is not None:
        scale = np.divide(scale, total, out=np.zeros_like(total), where=total > 0)
        scale.flags.writeable = False  # as `query_weight` is: Numba would compile the sweep once more
    order, below, judged = label_order(bound.data, bound.n_jobs)
    return order, below, judged, bound.data.labels, bound.sample_weight, scale


def _preference_weight(data: RankingDataset) -> np.ndarray:
    """Weight of each explicit preference: its own times those of its documents."""
    pairs = data.preferences
    assert pairs is not None
    weight = given_or_ones(pairs.weight, len(pairs))
    if data.sample_weight is None:
        return weight
    return weight * data.sample_weight[pairs.winner] * data.sample_weight[pairs.loser]


def documents_weight(data: RankingDataset, pairs: Preferences) -> np.ndarray:
    """Weight of each preference: that of its two documents, times its own."""
    documents = given_or_ones(data.sample_weight, data.n_rows)
    weight = documents[pairs.winner] * documents[pairs.loser]
    return weight if pairs.weight is None else weight * pairs.weight


def total_pair_weight(data: RankingDataset, n_jobs: int | None = None) -> np.ndarray:
    """Weight of all pairs of each query: its preferences where the dataset has them, or pairs of unequal labels."""
    if data.preferences is not None:
        query = data.query_of_row[data.preferences.winner]
        return np.bincount(query, _preference_weight(data), data.n_queries)
    weight = given_or_ones(data.sample_weight, data.n_rows)
    total = np.empty(data.n_queries)
    over_queries(_pair_weight, data.offsets, *label_order(data, n_jobs), weight, total, n_jobs=n_jobs)
    return total


def label_order(data: RankingDataset, n_jobs: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of each query by descending label, for each the first position with a lower label, and the number of judged
    rows.

    Positions are counted inside the query; unjudged documents come last, below all labels.
    """
    order, below = np.empty(data.n_rows, np.int64), np.empty(data.n_rows, np.int64)
    judged = np.empty(data.n_queries, np.int64)
    over_queries(_by_label, data.offsets, data.labels, order, below, judged, n_jobs=n_jobs)
    return order, below, judged


@kernel
def _by_label(lo, hi, offsets, labels, order, below, judged):
    n_max = longest(lo, hi, offsets)
    keys, rows, spare_keys, spare_rows = sorting_memory(n_max)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        for i in range(n):
            keys[i] = labels[a + i]
        argsort_descending(keys, rows, spare_keys, spare_rows, n)
        while n > 0 and keys[n - 1] < 0.0:
            n -= 1
        judged[q] = n
        end = n
        for i in range(n - 1, -1, -1):
            if i + 1 < n and keys[i] > keys[i + 1]:
                end = i + 1
            below[a + i] = end
        for i in range(offsets[q + 1] - a):
            order[a + i] = a + rows[i]
            if i >= n:
                below[a + i] = offsets[q + 1] - a


@kernel
def _pair_weight(lo, hi, offsets, order, below, judged, weight, out):
    for q in range(lo, hi):
        a = offsets[q]
        total = 0.0
        lower = 0.0  # weight of the documents at positions end and after
        end = judged[q]
        for i in range(judged[q] - 1, -1, -1):
            while end > below[a + i]:
                end -= 1
                lower += weight[order[a + end]]
            total += weight[order[a + i]] * lower
        out[q] = total
