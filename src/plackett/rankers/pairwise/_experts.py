"""Features as experts that vote on pairs of documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._errors import DataError
from plackett._kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries
from plackett.aggregation.orderings.preference import Preference
from plackett.data.dataset import RankingDataset
from plackett.models.networks.features import dense_rows
from plackett.rankers.pairwise._entries import pair_entries

__all__ = ["ExpertsComparator", "expert_losses"]

#: Numbers of the votes that are held at a time.
_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class ExpertsComparator:
    """Votes of the features on pairs: for each its weight less that of its opposite."""

    kind: ClassVar[str] = "experts"
    weights: np.ndarray

    def bind(self, X: Any, n_jobs: int | None) -> Preference:
        """The weight of the votes for the first row, of all votes; a vote that abstains is one half for each."""
        some = np.flatnonzero(self.weights)
        columns, weights = X[:, some], self.weights[some]
        rows = max(1, _AT_ONCE // max(some.size, 1))

        def compare(first: np.ndarray, second: np.ndarray) -> np.ndarray:
            votes = np.empty(first.size)
            for start in range(0, first.size, rows):
                u, v = (dense_rows(columns, side[start : start + rows]) for side in (first, second))
                # row by row, so that a pair's votes add up to the same wherever it stands
                difference = (u > v).astype(np.float64) - (u < v)  # a missing value is neither
                votes[start : start + rows] = np.einsum("ij,j->i", difference, weights)
            return np.clip(0.5 + 0.5 * votes, 0.0, 1.0)

        return compare

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The weights."""
        return {"weights": self.weights}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> ExpertsComparator:
        """The comparator that `to_arrays` wrote."""
        weights = np.array(arrays["weights"], np.float64)
        if weights.ndim != 1 or not np.abs(weights).sum() <= 1.0 + 1e-9:
            raise DataError(f"weights of votes must be a column whose sizes sum to 1 at most, got {weights.shape}")
        return cls(weights)


def expert_losses(data: RankingDataset, n_jobs: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Weight of the pairs that each feature orders wrongly (half where it abstains), by query; and of all pairs."""
    entries = pair_entries(data)
    first = np.searchsorted(entries.query, np.arange(data.n_queries + 1))
    lost, total = np.zeros((data.n_queries, data.n_features)), np.zeros(data.n_queries)
    X = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
    pairs = (first, entries.first, entries.low, entries.high, entries.order, entries.weight, entries.row_weight)
    over_queries(_losses, data.offsets, X, *pairs, lost, total, n_jobs=n_jobs, rows_per_thread=PAIR_ROWS_PER_THREAD)
    return lost, total


@kernel
def _losses(  # type: ignore[no-untyped-def]
    lo, hi, offsets, X, first, better, low, high, order, weight, row_weight, lost, total
):
    d = X.shape[1]
    for q in range(lo, hi):
        for e in range(first[q], first[q + 1]):
            u = better[e]
            for p in range(low[e], high[e]):
                v = order[p]
                w = weight[e] * row_weight[v]
                total[q] += w
                for j in range(d):
                    lost[q, j] += w * (0.5 + (0.5 if X[u, j] < X[v, j] else 0.0) - (0.5 if X[u, j] > X[v, j] else 0.0))
