"""Linear scorers that vote on each pair of documents of a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett.scorers.base import Scorer
from plackett.scorers.fields import array
from plackett.scorers.products import table_times

__all__ = ["VotingScorer"]

#: Rows whose scores under all voters are held at once.
_ROWS = 1 << 14


@dataclass(frozen=True)
class VotingScorer(Scorer):
    r"""Score of document u in its list: :math:`\sum_i c_i \sum_v \mathrm{sign}(w_i \cdot (x_u - x_v))`, as a share.

    Each row of ``weights`` is a voter :math:`w_i` with ``counts`` :math:`c_i` votes. Scores lie between −1 and 1, and a
    document that every voter puts first has 1.
    """

    kind: ClassVar[str] = "voting"
    list_aware: ClassVar[bool] = True
    weights: np.ndarray = array("voters features")
    counts: np.ndarray = array("voters", least=0)

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row."""
        scores = np.zeros(X.shape[0])
        if not self.counts.sum() > 0.0:
            return scores
        weights = np.ascontiguousarray(self.weights.T)
        n_queries, q = offsets.size - 1, 0
        while q < n_queries:  # whole queries, about _ROWS rows at a time
            end = max(q + 1, int(np.searchsorted(offsets, offsets[q] + _ROWS, side="right")) - 1)
            rows = slice(int(offsets[q]), int(offsets[end]))
            under = table_times(X[rows], weights, n_jobs)
            over_queries(_vote, offsets[q : end + 1] - offsets[q], under, self.counts, scores[rows], n_jobs=n_jobs)
            q = end
        return scores


@kernel
def _vote(lo, hi, offsets, under, counts, scores):
    n_max = longest(lo, hi, offsets)
    keys, order, spare_keys, spare_rows = sorting_memory(n_max)
    total = counts.sum()
    for q in range(lo, hi):
        a = offsets[q]
        m = offsets[q + 1] - a
        for voter in range(counts.size):
            for i in range(m):
                keys[i] = under[a + i, voter]
            argsort_descending(keys, order, spare_keys, spare_rows, m)
            start = 0
            while start < m:  # a block of equal scores: m − stop below, start above
                stop = start + 1
                while stop < m and keys[stop] == keys[start]:
                    stop += 1
                for i in range(start, stop):
                    scores[a + order[i]] += counts[voter] * (m - stop - start)
                start = stop
        for i in range(m):
            scores[a + i] /= total * max(m - 1, 1)
