"""ApproxERR and ApproxRR: expected reciprocal rank and reciprocal rank with smooth ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import LossError
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries
from plackett._kernels.vector_math import exp
from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss, LossOnData
from plackett.losses.listwise._smooth_ranks import rank_sweep
from plackett.losses.listwise.softrank import check_relevant

__all__ = ["ApproxERR", "ApproxRR"]


def check_steepness(loss: Any) -> None:
    """Reject a non-positive steepness."""
    for name in ("alpha", "beta"):
        number(f"{loss.name}: {name}", getattr(loss, name), above=0, error=LossError)


@kernel(inline=True)
def _terms(q, a, m, rows, rank, slope, spare, own, beta):
    """Reciprocal smooth rank at which the user is satisfied, expected, divided by the largest."""
    satisfaction, best, weight = own
    reached = 0.0
    for j in range(m):
        part = weight[a + rows[j]] * satisfaction[a + rows[j]] / (best[q] * rank[j])
        for i in range(m):  # chance that the user comes as far as j
            if i != j:
                r = satisfaction[a + rows[i]]
                past = exp(beta * (rank[i] - rank[j]))
                spare[i] = past  # odds that i is after j
                part *= (1.0 - r + past) / (1.0 + past)
        reached += part
        slope[j] -= part / rank[j]
        for i in range(m):
            if i != j:
                r = satisfaction[a + rows[i]]
                past = spare[i]
                force = part * beta * r * (past / (1.0 + past)) / (1.0 - r + past)  # past may be huge
                slope[i] += force
                slope[j] -= force
    return reached


_approx_err = rank_sweep(_terms)


@kernel
def _ideal(lo, hi, offsets, satisfaction, out):
    for q in range(lo, hi):
        out[q] = 0.0
        doubt = 1.0
        for i in range(offsets[q], offsets[q + 1]):
            out[q] += doubt * satisfaction[i] / (i - offsets[q] + 1)
            doubt *= 1.0 - satisfaction[i]


@dataclass(frozen=True, kw_only=True, repr=False)
class ApproxERR(Loss):
    r"""One minus normalised expected reciprocal rank, with smooth ranks and smooth comparisons of ranks.

    .. math:: L = 1 - \frac{1}{Z} \sum_j \frac{w_j R_j}{\hat\pi_j} \prod_{i \ne j} \Big( 1 - \frac{R_i}
              {1 + e^{\beta (\hat\pi_i - \hat\pi_j)}} \Big), \qquad R_j = \frac{2^{y_j} - 1}{2^{y_{\max}}}

    with the smooth ranks :math:`\hat\pi` of ApproxNDCG and Z the largest ERR of the query. As α and β grow, the loss
    approaches 1 − nERR. A query without a positive label has loss 0.

    Parameters
    ----------
    alpha, beta
        Steepness of the smooth ranks, and of the comparison of two ranks.
    max_label
        Largest grade; None uses the largest label of the training data.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0])
    >>> round(ApproxERR()(np.zeros(2), data), 4)  # 1 − 1/1.5
    0.3333

    References
    ----------
    Qin, Liu, Li: A general approximation framework for direct optimization of information retrieval measures.
    Information Retrieval 2010. Chapelle, Metzler, Zhang, Grinspan: Expected reciprocal rank for graded relevance. CIKM
    2009.
    """

    name: ClassVar[str] = "ApproxERR"
    curvature: ClassVar[str] = "none"
    learns_from: ClassVar[str] = "relevant documents"
    _test_variants = ({"alpha": 5.0, "beta": 3.0},)
    kernel = staticmethod(_approx_err)
    rows_per_thread = PAIR_ROWS_PER_THREAD

    alpha: float = 1.0
    beta: float = 1.0
    max_label: float | None = None

    def __post_init__(self) -> None:
        check_steepness(self)

    def settle(self, data: RankingDataset) -> ApproxERR:
        """The loss with the largest grade fixed."""
        return self.replace(max_label=self._largest(data))

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """How likely each document satisfies, and the largest ERR of each query."""
        data, largest = bound.data, self._largest(bound.data)
        if data.labels.max(initial=0.0) > largest:
            raise LossError(f"{self.name}: label {data.labels.max():g} is above max_label={largest:g}")
        satisfaction = np.exp2(np.maximum(data.labels, 0.0) - largest) - np.exp2(-largest)
        falling = np.exp2(np.maximum(data.sorted_labels, 0.0) - largest) - np.exp2(-largest)
        best = np.empty(data.n_queries)
        over_queries(_ideal, data.offsets, falling, best, n_jobs=bound.n_jobs)
        own = satisfaction, best, bound.sample_weight
        return satisfaction, own, bound.query_weight, self.alpha, self.beta

    def _largest(self, data: RankingDataset) -> float:
        return float(data.labels.max(initial=0.0)) if self.max_label is None else self.max_label


@dataclass(frozen=True, kw_only=True, repr=False)
class ApproxRR(Loss):
    r"""One minus reciprocal rank of the first relevant document, with smooth ranks and comparisons.

    It is `ApproxERR` with :math:`R_j = 1` for relevant documents and 0 for others. A query without a relevant
    document has loss 0.

    Parameters
    ----------
    alpha, beta
        Steepness of the smooth ranks, and of the comparison of two ranks.
    rel
        The lowest label that counts as relevant.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0])
    >>> round(ApproxRR()(np.zeros(2), data), 4)  # 1 − 1/1.5
    0.3333

    References
    ----------
    Qin, Liu, Li: A general approximation framework for direct optimization of information retrieval measures.
    Information Retrieval 2010. Shi et al.: CLiMF: learning to maximize reciprocal rank. RecSys 2012.
    """

    name: ClassVar[str] = "ApproxRR"
    curvature: ClassVar[str] = "none"
    learns_from: ClassVar[str] = "relevant documents"
    _test_variants = ({"alpha": 5.0, "beta": 3.0, "rel": 0.5},)
    kernel = staticmethod(_approx_err)
    rows_per_thread = PAIR_ROWS_PER_THREAD

    alpha: float = 1.0
    beta: float = 1.0
    rel: float = 1.0

    def __post_init__(self) -> None:
        check_steepness(self)

    def settle(self, data: RankingDataset) -> ApproxRR:
        """The loss itself; raises an error if no label counts as relevant."""
        check_relevant(self, data)
        return self

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """Relevant documents satisfy for certain, others never."""
        relevant = (bound.data.labels >= max(self.rel, 0.0)).astype(float)
        own = relevant, np.ones(bound.data.n_queries), bound.sample_weight
        return relevant, own, bound.query_weight, self.alpha, self.beta
