"""Scorers that compare documents in pairs and derive an order."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._base.time_limit import check_time
from plackett._names.catalogue import stored_class
from plackett.aggregation.orderings.base import Ordering
from plackett.data.canonical import row_keys
from plackett.scorers.base import Size
from plackett.scorers.comparators.base import Comparator

__all__ = ["OrderedScorer"]


@dataclass(frozen=True)
class OrderedScorer:
    """A comparator with the ordering method that builds lists from its comparisons.

    The order of the rows does not matter: each list is first sorted by a hash of the rows' content, on which the draws
    of random methods depend too. Documents with equal content share the mean of their scores.
    """

    kind: ClassVar[str] = "ordered"
    list_aware: ClassVar[bool] = True
    comparator: Comparator
    ordering: Ordering

    @property
    def size(self) -> Size | None:
        """What it takes and gives."""
        return getattr(self.comparator, "size", None)

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

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays, those of the comparator with a prefix."""
        from plackett.scorers.plain_values import to_plain

        description = {"comparator": self.comparator.kind, "ordering": to_plain(self.ordering, "order")}
        arrays = {f"comparator.{name}": array for name, array in self.comparator.to_arrays().items()}
        return {"words": np.frombuffer(json.dumps(description).encode(), np.uint8), **arrays}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> OrderedScorer:
        """The scorer that `to_arrays` wrote."""
        from plackett.scorers.plain_values import from_plain

        description = json.loads(arrays["words"].tobytes())
        ordering = from_plain(description["ordering"])
        if not isinstance(ordering, Ordering):
            raise DataError("the model does not say how documents are ordered")
        prefix = "comparator."
        part = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        return cls(stored_class("comparator", description["comparator"]).from_arrays(part), ordering)
