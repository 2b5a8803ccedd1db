"""ApproxNDCG: nDCG with smooth ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._errors import LossError
from plackett._kernel import PAIR_ROWS_PER_THREAD, REASSOC, kernel, over_queries
from plackett._maths import exp
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss, finite_gains
from plackett.measures.gains import check_gain, ideal_dcg

__all__ = ["ApproxNDCGLoss"]

#: Up to this spread of αs within a query e^(αs) neither overflows nor vanishes.
_FAR = 1000.0


@dataclass(frozen=True, kw_only=True, repr=False)
class ApproxNDCGLoss(Loss):
    r"""One minus nDCG, with each rank replaced by a smooth one.

    .. math:: \hat\pi_j = 1 + \sum_{u \ne j} \frac{1}{1 + e^{\alpha (s_j - s_u)}}, \qquad
              L = 1 - \frac{1}{Z} \sum_j \frac{w_j G(y_j)}{\log_2(1 + \hat\pi_j)}

    where w is the sample weight and Z the largest DCG of the query. Equal scores share their mean rank. As α grows the
    loss comes to 1 − nDCG, and gets harder to minimise. Unjudged documents have no gain but take up ranks, as they do
    in nDCG. A query without a positive gain has loss 0.

    Parameters
    ----------
    alpha
        Steepness α of the smooth ranks.
    gain
        ``"exp2"``, ``"linear"``, ``"binary"`` or a table label: gain, as in nDCG.

    References
    ----------
    Qin, Liu, Li: A general approximation framework for direct optimization of information retrieval measures.
    Information Retrieval 2010.
    """

    name: ClassVar[str] = "ApproxNDCG"
    ids: ClassVar[tuple[str, ...]] = ("listwise.approxndcg",)
    paper: ClassVar[str] = "Qin, Liu, Li 2010"
    curvature: ClassVar[str] = "none"

    alpha: float = 1.0
    gain: Any = "exp2"

    def __post_init__(self) -> None:
        object.__setattr__(self, "gain", check_gain(self.gain, self.name))
        if not self.alpha > 0:
            raise LossError(f"{self.name}: alpha={self.alpha}; give a positive number")

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on one dataset."""
        return _Bound(self, data, n_jobs)


class _Bound(BoundLoss):
    def __init__(self, loss: ApproxNDCGLoss, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.alpha = loss.alpha
        ideal = ideal_dcg(data, loss.gain, "log2", None)[data.query_of_row]
        gains = finite_gains(data.labels, loss.gain, loss.name) * self.sample_weight
        self.gains = np.divide(gains, ideal, out=np.zeros_like(gains), where=ideal > 0)

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient per score, and zeros for the curvature that it has not."""
        out = tuple(self._buffers())
        over_queries(
            _approx,
            self.data.offsets,
            scores,
            self.gains,
            self.query_weight,
            self.alpha,
            *out[:2],
            n_jobs=self.n_jobs,
            rows_per_thread=PAIR_ROWS_PER_THREAD,
        )
        return out  # type: ignore[return-value]


@kernel(fastmath=REASSOC)
def _smooth_rank(power, own, ahead):  # type: ignore[no-untyped-def]
    """Smooth rank of a document from e^(αs); ``ahead[u]`` is how much u counts as ahead of it."""
    rank = 0.5  # 1, less the half that the document counts as ahead of itself
    for u in range(power.size):
        t = power[u] / (power[u] + own)
        ahead[u] = t
        rank += t
    return rank


@kernel(fastmath=REASSOC)
def _smooth_rank_far(s, own, ahead):  # type: ignore[no-untyped-def]
    """As `_smooth_rank`, for scores so far apart that e^(αs) would overflow."""
    rank = 0.5
    for u in range(s.size):
        t = 1.0 / (1.0 + exp(own - s[u]))
        ahead[u] = t
        rank += t
    return rank


@kernel(fastmath=REASSOC)
def _pull(g, ahead, slope):  # type: ignore[no-untyped-def]
    """Gradient of slope · rank for the other documents; gives back their sum."""
    total = 0.0
    for u in range(g.size):
        w = slope * ahead[u] * (1.0 - ahead[u])
        g[u] += w
        total += w
    return total


@kernel
def _approx(lo, hi, offsets, scores, gains, query_weight, alpha, value, gradient):  # type: ignore[no-untyped-def]
    longest = 0
    for q in range(lo, hi):
        longest = max(longest, offsets[q + 1] - offsets[q])
    s = np.empty(longest, np.float64)
    g = np.empty(longest, np.float64)
    ahead = np.empty(longest, np.float64)
    power = np.empty(longest, np.float64)
    log2 = np.log(2.0)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        some = False
        low = np.inf
        high = -np.inf
        for i in range(n):
            s[i] = alpha * scores[a + i]
            g[i] = 0.0
            some |= gains[a + i] > 0.0
            low = min(low, s[i])
            high = max(high, s[i])
        if not some:
            continue
        near = high - low <= _FAR
        middle = 0.5 * (low + high)
        for i in range(n):
            power[i] = exp(s[i] - middle)
        reached = 0.0
        for j in range(n):
            if gains[a + j] > 0.0:
                if near:
                    rank = _smooth_rank(power[:n], power[j], ahead[:n])
                else:
                    rank = _smooth_rank_far(s[:n], s[j], ahead[:n])
                bits = np.log2(1.0 + rank)
                reached += gains[a + j] / bits
                slope = gains[a + j] / (bits * bits * log2 * (1.0 + rank))
                total = _pull(g[:n], ahead[:n], slope)  # what j counts as ahead of itself cancels
                g[j] -= total
        value[q] = query_weight[q] * (1.0 - reached)
        for i in range(n):
            gradient[a + i] = query_weight[q] * alpha * g[i]
