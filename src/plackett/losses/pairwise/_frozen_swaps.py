"""Logistic pair loss weighted by swap deltas of a ranking that stays as it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from plackett._errors import LossError
from plackett._kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries
from plackett._maths import exp, log1p
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.measures.swaps import swap

__all__ = ["FrozenSwaps"]


@dataclass(frozen=True, kw_only=True, repr=False)
class FrozenSwaps(Loss):
    r""":math:`\sum_{y_u > y_v} \omega_{uv} \log(1 + e^{-(s_u - s_v)})`, ω the swap deltas in the ranking by ``at``.

    Convex, as the weights do not change with the scores; for the dataset that ``at`` belongs to.
    """

    name: ClassVar[str] = "FrozenSwaps"
    ids: ClassVar[tuple[str, ...]] = ()
    convex: ClassVar[bool] = True

    measure: str = "nDCG"
    at: Any = field(default=None, compare=False)

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on the dataset whose ranking is frozen."""
        return _Bound(self, data, n_jobs)


class _Bound(BoundLoss):
    def __init__(self, loss: FrozenSwaps, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        measure = parse(loss.measure)
        if not measure.swaps:
            raise LossError(f"{measure} has no swap delta; try nDCG, AP, RR or ERR")
        ranking = Scored(data, self.check(loss.at), n_jobs=n_jobs).ranking("stable")
        self.rows = ranking.rows
        self.state = np.ascontiguousarray(measure.swap_state(ranking))
        self.weight = np.where(data.labels >= 0, self.sample_weight, 0.0)

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        out = tuple(self._buffers())
        over_queries(
            _frozen,
            self.data.offsets,
            scores,
            self.rows,
            self.state,
            self.data.labels,
            self.weight,
            self.query_weight,
            *out,
            n_jobs=self.n_jobs,
            rows_per_thread=PAIR_ROWS_PER_THREAD,
        )
        return out  # type: ignore[return-value]


@kernel
def _frozen(  # type: ignore[no-untyped-def]
    lo, hi, offsets, scores, rows, state, labels, weight, query_weight, value, gradient, curvature
):
    for q in range(lo, hi):
        total = 0.0
        for i in range(offsets[q], offsets[q + 1]):
            u = rows[i]
            if weight[u] == 0.0:
                continue
            for j in range(i + 1, offsets[q + 1]):
                v = rows[j]
                size = swap(state, i, j) * weight[u] * weight[v] * query_weight[q]
                if size == 0.0 or labels[u] == labels[v]:
                    continue
                sign = 1.0 if labels[u] > labels[v] else -1.0
                gap = sign * (scores[u] - scores[v])
                e = exp(-abs(gap))
                total += size * (max(-gap, 0.0) + log1p(e))
                doubt = (e if gap > 0.0 else 1.0) / (1.0 + e)
                push = size * sign * doubt
                bend = size * doubt * (1.0 - doubt)
                gradient[u] -= push
                gradient[v] += push
                curvature[u] += bend
                curvature[v] += bend
        value[q] = total
