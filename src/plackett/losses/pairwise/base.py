"""Shared base of the pair losses: which pairs there are, and how they are weighted and summed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import LossError
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries, template
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Derivatives, DeviceForm, Loss, _ones
from plackett.losses.pairwise._device import pair_gradient
from plackett.losses.pairwise._rows import Pairs, add, gaps, sweep_of


@template
def _phi(z, value, slope, curvature, *shape):  # type: ignore[no-untyped-def]
    """Placeholder for the formula of a loss."""
    raise NotImplementedError


@template
def _of_lower_label(row, u, below, n, shape):  # type: ignore[no-untyped-def]
    """Pairs of a document with those of lower labels."""
    z, value, slope, bend = gaps(row, u, below, n, shape[0])
    _phi(z, value, slope, bend, *shape[1:])
    return add(row, u, below, n)


@dataclass(frozen=True, kw_only=True, repr=False)
class PairLoss(Loss):
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

    approach: ClassVar[str] = "pairwise"
    takes_preferences: ClassVar[bool] = True
    #: The formula: ``phi(z, value, slope, curvature, *shape)`` for an array of differences minus margins.
    phi: ClassVar[Callable[..., Any]]
    #: ``sweep(lo, hi, offsets, scores, pairs, (margin, *shape), want_value, out)`` over all pairs of unequal labels:
    #: one row of pairs after another, unless the loss has a faster form. ``pairs`` and ``out`` are plain tuples with
    #: the fields of `Pairs` and `Derivatives`.
    sweep: ClassVar[Callable[..., Any]]
    #: ``device_slope(torch, z, *shape)``: φ' of a tensor of differences minus margins, for networks on an accelerator;
    #: None where the kernel of the host, which needs no pair by itself, is faster.
    device_slope: ClassVar[Callable[..., Any] | None] = None

    @property
    def shape(self) -> tuple[float, ...]:
        """Further numbers that decide the form of the loss."""
        return ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "phi" in vars(cls) and "sweep" not in vars(cls):
            cls.sweep = staticmethod(sweep_of(_of_lower_label, _phi=cls.phi))

    def pair_weight(self, data: RankingDataset, n_jobs: int | None = None) -> np.ndarray:
        """Weight of all pairs of each query, by which ``normalize`` divides."""
        return total_pair_weight(data, n_jobs)

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on the preferences of a dataset, or on all its pairs of unequal labels."""
        form = AllPairs if data.preferences is None else _Preferences
        return form(self, data, n_jobs)


class AllPairs(BoundLoss):
    """All pairs of unequal labels, by the loss's own fast kernel."""

    def __init__(self, loss: PairLoss, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        if data.y is None:
            raise LossError(f"{loss.name} needs labels or preferences, but the dataset has neither")
        self.loss = loss
        self.pairs = all_pairs(self, loss.pair_weight(data, n_jobs) if loss.normalize else None)

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        return sweep_pairs(self, scores, (float(self.loss.margin), *self.loss.shape), value)

    def device_form(self) -> DeviceForm | None:
        """How an accelerator computes the gradient; None if the kernel on the host is faster."""
        if self.loss.device_slope is None:
            return None
        per_row: tuple[tuple[np.ndarray, float], ...] = ((self._levels(), np.nan),)
        if not (self.sample_weight == 1.0).all():
            per_row += ((self.sample_weight, 0.0),)
        return DeviceForm(self._gradient_on_device(), per_row, self.pairs.scale, pairs=True)

    def _levels(self) -> np.ndarray:
        """A number for each document that is higher for higher labels; NaN if it is not judged.

        Numbers of the labels: float32 would take labels for equal that differ in their last digits.
        """
        labels = np.where(self.data.labels >= 0, self.data.labels, np.nan)
        return np.where(np.isnan(labels), np.nan, np.unique(labels, return_inverse=True)[1])

    def _gradient_on_device(self) -> Callable[..., Any]:
        return partial(pair_gradient, self.loss)


def all_pairs(bound: BoundLoss, total: np.ndarray | None) -> Pairs:
    """What a sweep over the pairs of a loss's dataset reads; queries are divided by ``total`` where it is given."""
    scale = bound.query_weight
    if total is not None:
        scale = np.divide(scale, total, out=np.zeros_like(total), where=total > 0)
        scale.flags.writeable = False  # as `query_weight` is: Numba would compile the sweep once more
    order, below, judged = label_order(bound.data, bound.n_jobs)
    return Pairs(order, below, judged, bound.data.labels, bound.sample_weight, scale)


def sweep_pairs(bound: Any, scores: np.ndarray, shape: tuple[float, ...], want_value: bool) -> Derivatives:
    """Run the sweep of a loss over the pairs of its dataset."""
    out = bound._buffers()
    # as plain tuples: Numba recognises them twice as fast as named ones, which matters for small datasets
    over_queries(
        bound.loss.sweep,
        bound.data.offsets,
        scores,
        tuple(bound.pairs),
        shape,
        want_value,
        tuple(out),
        n_jobs=bound.n_jobs,
        rows_per_thread=PAIR_ROWS_PER_THREAD,
    )
    return out


class _Preferences(BoundLoss):
    """The explicit preferences of a dataset, one term each."""

    def __init__(self, loss: PairLoss, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        pairs = data.preferences
        assert pairs is not None
        self.loss = loss
        self.pairs = pairs
        self.query = data.query_of_row[pairs.winner]
        self.margin = loss.margin if pairs.margin is None else pairs.margin
        weight = _preference_weight(data)
        if loss.normalize:
            total = total_pair_weight(data, n_jobs)[self.query]
            weight = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
        self.weight = weight * self.query_weight[self.query]

    @cached_property
    def _terms(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return tuple(np.empty(len(self.pairs)) for _ in range(3))  # type: ignore[return-value]

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        winner, loser = self.pairs.winner, self.pairs.loser
        losses, slopes, bends = self._terms
        self.loss.phi(scores[winner] - scores[loser] - self.margin, losses, slopes, bends, *self.loss.shape)
        slopes, bends = slopes * self.weight, bends * self.weight
        n = scores.size
        gradient = np.bincount(winner, slopes, n) - np.bincount(loser, slopes, n)
        curvature = np.bincount(winner, bends, n) + np.bincount(loser, bends, n)
        return np.bincount(self.query, losses * self.weight, self.data.n_queries), gradient, curvature


def _preference_weight(data: RankingDataset) -> np.ndarray:
    """Weight of each explicit preference: its own times those of its documents."""
    pairs = data.preferences
    assert pairs is not None
    weight = np.ones(len(pairs)) if pairs.weight is None else pairs.weight
    if data.sample_weight is None:
        return weight
    return weight * data.sample_weight[pairs.winner] * data.sample_weight[pairs.loser]


def total_pair_weight(data: RankingDataset, n_jobs: int | None = None) -> np.ndarray:
    """Weight of all pairs of each query: its preferences where the dataset has them, or pairs of unequal labels."""
    if data.preferences is not None:
        query = data.query_of_row[data.preferences.winner]
        return np.bincount(query, _preference_weight(data), data.n_queries)
    weight = _ones(data.n_rows) if data.sample_weight is None else data.sample_weight
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
def _by_label(lo, hi, offsets, labels, order, below, judged):  # type: ignore[no-untyped-def]
    n_max = longest(lo, hi, offsets)
    keys = np.empty(n_max, np.float64)
    rows = np.empty(n_max, np.int64)
    spare_keys = np.empty(n_max, np.float64)
    spare_rows = np.empty(n_max, np.int64)
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
def _pair_weight(lo, hi, offsets, order, below, judged, weight, out):  # type: ignore[no-untyped-def]
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
