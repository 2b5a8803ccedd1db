"""Features as experts that vote on two documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.aggregation.orderings.preference import Preference
from plackett.scorers.base import Size
from plackett.scorers.comparators.base import Comparator
from plackett.scorers.fields import array
from plackett.scorers.networks.features import dense_rows

__all__ = ["ExpertsComparator"]

#: Numbers of the votes that are held at a time.
_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class ExpertsComparator(Comparator):
    """Votes of the features on pairs: the weight of each feature minus that of its opposite."""

    kind: ClassVar[str] = "experts"
    weights: np.ndarray = array("features")

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("comparator.weights", self.weights.size)

    def bind(self, X: Any, n_jobs: int | None) -> Preference:
        """The share of the votes for the first row, by weight; an abstention counts half for each row."""
        some = np.flatnonzero(self.weights)
        columns, weights = X[:, some], self.weights[some]
        rows = max(1, _AT_ONCE // max(some.size, 1))

        def compare(first: np.ndarray, second: np.ndarray) -> np.ndarray:
            votes = np.empty(first.size)
            for start in range(0, first.size, rows):
                u, v = (dense_rows(columns, side[start : start + rows]) for side in (first, second))
                # row by row, so that a pair's votes add up to the same at every position
                difference = (u > v).astype(np.float64) - (u < v)  # a missing value is neither
                votes[start : start + rows] = np.einsum("ij,j->i", difference, weights)
            return np.clip(0.5 + 0.5 * votes, 0.0, 1.0)

        return compare

    def check(self) -> None:
        """Votes sum to a share."""
        self.check_that(np.abs(self.weights).sum() <= 1.0 + 1e-9, "the sizes of its votes sum to more than 1")
