"""Scorers that compare documents in pairs and derive an order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.time_limit import check_time
from plackett.aggregation.orderings.base import Ordering
from plackett.data.canonical import row_keys
from plackett.scorers.base import Scorer, Size
from plackett.scorers.comparators.base import Comparator
from plackett.scorers.fields import comparator_class, inner, plain

__all__ = ["OrderedScorer"]


@dataclass(frozen=True)
class OrderedScorer(Scorer):
    """A comparator with the ordering method that builds lists from its comparisons.

    The order of the rows does not matter: each list is first sorted by a hash of the rows' content, on which the draws
    of random methods depend too. Documents with equal content share the mean of their scores.
    """

    kind: ClassVar[str] = "ordered"
    list_aware: ClassVar[bool] = True
    comparator: Comparator = inner(comparator_class)
    ordering: Ordering = plain(lambda value: isinstance(value, Ordering))

    @property
    def size(self) -> Size | None:
        """What it takes and gives."""
        return self.comparator.size

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row, larger is better; only comparable within a list."""
        n = X.shape[0]
        if n == 0:
            return np.empty(0)
        query = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
        keys = row_keys(X, offsets, np.zeros((n, 2)))
        rows = np.lexsort((keys, query))
        compare = self.comparator.bind(X, n_jobs)

        def asked(u: np.ndarray, v: np.ndarray) -> np.ndarray:
            check_time()
            return compare(rows[u], rows[v])

        sorted_scores = self.ordering.scores(asked, offsets, keys=keys[rows])
        equal = np.cumsum((np.diff(keys[rows], prepend=keys[rows[0]]) != 0) | (np.diff(query, prepend=0) != 0))
        scores = np.empty(n)
        scores[rows] = (np.bincount(equal, sorted_scores) / np.maximum(np.bincount(equal), 1))[equal]
        return scores
