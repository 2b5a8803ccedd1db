"""How long a ranker takes for a list: percentiles, a cost model, and a budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from plackett._base.arguments import number, whole
from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.estimators import last_step
from plackett.data.required import check_dataset

__all__ = ["latency"]

#: Lists that are timed at most, spread over the data.
_LISTS = 1_000
_PERCENTILES = (50, 95, 99)


@dataclass(frozen=True)
class Latency:
    """Result of `latency`.

    Parameters
    ----------
    documents, microseconds
        Number of documents of each list timed, and its time, without computing the features.
    trees
        Number of trees; 1 for other models.
    per_call, per_document_and_tree
        The cost model of scoring: microseconds of a call, and nanoseconds for each document and tree.
    per_document
        Microseconds for the features of a document that the model uses, by ``feature_costs``; 0 without them.
    budget_ms
        The budget of a list, in milliseconds.
    """

    documents: np.ndarray
    microseconds: np.ndarray
    trees: int
    per_call: float
    per_document_and_tree: float
    per_document: float
    budget_ms: float

    def percentile(self, share: float) -> float:
        """Milliseconds of a list, features included, that this percentage of the lists do not exceed."""
        return float(np.percentile(self.microseconds + self.per_document * self.documents, share)) / 1e3

    @property
    def within_budget(self) -> bool:
        """Whether 99 of 100 lists stay within the budget."""
        return self.percentile(99) <= self.budget_ms

    def predicted(self, documents: int) -> float:
        """Milliseconds for a list of this length, by the cost model."""
        scoring = self.per_call + 1e-3 * self.per_document_and_tree * documents * self.trees
        return (scoring + self.per_document * documents) / 1e3

    def most_documents(self) -> int:
        """The longest list that the cost model expects to stay within the budget."""
        each = 1e-3 * self.per_document_and_tree * self.trees + self.per_document
        left = 1e3 * self.budget_ms - self.per_call
        return 0 if left < 0 else int(left / each) if each > 0 else int(np.iinfo(np.int64).max)

    def __str__(self) -> str:
        shown = ", ".join(f"p{share} {self.percentile(share):.3g} ms" for share in _PERCENTILES)
        verdict = "within" if self.within_budget else "BEYOND"
        each = "document" if self.trees == 1 else "document and tree"
        features = f", {_short(self.per_document)} µs per document for features" if self.per_document else ""
        return (
            f"{self.documents.size} lists: {shown}; {verdict} the budget of {self.budget_ms:g} ms\n"
            f"{_short(self.per_call)} µs per call, {_short(self.per_document_and_tree)} ns per {each}{features}"
        )


def _short(value: float) -> str:
    """Three digits, without powers of ten.

    >>> _short(10_432.1), _short(0.01234)
    ('10,432', '0.0123')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def latency(
    ranker: Any,
    data: RankingDataset,
    *,
    budget_ms: float = 50.0,
    feature_costs: Sequence[float] | None = None,
    repeats: int = 3,
    clock: Callable[[], float] = time.perf_counter,
) -> Latency:
    r"""Time a fitted ranker list by list, and fit a cost model.

    Each list is scored in its own call, as a service does, ``repeats`` times after a warm-up that is not counted; the
    median of the repeats is its time. The cost model for a list of n documents and an ensemble of T trees is
    :math:`a + b\, n\, T`, fitted by least squares of the relative error. With ``feature_costs``, the cost of each
    feature that the model uses is added once per document.

    Parameters
    ----------
    ranker
        A fitted ranker, or a pipeline that ends in one.
    data
        Lists as long as those to be served. At most 1,000 are timed.
    budget_ms
        The budget of a list, in milliseconds.
    feature_costs
        Microseconds to compute each feature of a document.
    repeats
        How often each list is timed.
    clock
        Returns seconds; for tests.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=20, n_features=3, random_state=0)
    >>> timed = latency(pk.ListNet().fit(data), data, feature_costs=[1.0, 2.0, 3.0])
    >>> timed.per_document
    6.0
    """
    whole("repeats", repeats, least=1)
    number("budget_ms", budget_ms, above=0, most=inf)
    if check_dataset(data).n_rows == 0:
        raise DataError("the data have no documents")
    some = np.flatnonzero(np.diff(data.offsets) > 0)
    some = some[np.unique(np.linspace(0, some.size - 1, min(some.size, _LISTS)).astype(int))]
    lists = [data.select(np.array([q])) for q in some]
    times = np.empty((repeats + 1, len(lists)))
    for each in times:
        for i, part in enumerate(lists):
            start = clock()
            ranker.predict(part)
            each[i] = 1e6 * (clock() - start)
    microseconds = np.median(times[1:], axis=0)
    documents = np.array([part.n_rows for part in lists])
    last = last_step(ranker)
    trees = last.scorer_.tree_arrays
    n_trees = 1 if trees is None else trees.n_trees
    per_call, slope = _line(documents * float(n_trees), microseconds)
    per_document = 0.0 if feature_costs is None else _cost(last, np.asarray(feature_costs, np.float64), ranker)
    return Latency(documents, microseconds, n_trees, per_call, 1e3 * slope, per_document, float(budget_ms))


def _line(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Constant and slope, neither negative, with the smallest squared relative error."""
    weight = 1.0 / np.maximum(y, np.finfo(float).tiny)
    design = np.stack([weight, weight * x], axis=1)
    if np.ptp(x) == 0:  # one length only: all of the time counts per document
        return 0.0, float(np.median(y / x))
    constant, slope = np.linalg.lstsq(design, np.ones(x.size), rcond=None)[0].tolist()
    if slope < 0:
        return float(np.median(y)), 0.0
    if constant < 0:
        return 0.0, float(np.median(y / x))
    return constant, slope


def _cost(ranker: Any, costs: np.ndarray, model: Any) -> float:
    """Microseconds for the features of a document that are used."""
    size = int(getattr(model, "n_features_in_", ranker.n_features_in_))
    if costs.shape != (size,) or not (costs >= 0).all() or not np.isfinite(costs).all():
        raise DataError(f"feature_costs has shape {costs.shape}; give {size} numbers of 0 or more, one per feature")
    used = np.ones(size, bool)
    if model is ranker:  # behind a pipeline all features are computed
        used = ranker.scorer_.used_features(size)
    return float(costs[used].sum())
