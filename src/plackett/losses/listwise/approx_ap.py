"""ApproxAP: average precision with smooth ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel
from plackett._kernels.vector_math import exp
from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss, LossOnData
from plackett.losses.listwise._smooth_ranks import rank_sweep
from plackett.losses.listwise.approx_err import check_steepness
from plackett.losses.listwise.softrank import check_relevant

__all__ = ["ApproxAPLoss"]


@kernel(inline=True)
def _terms(q, a, m, rows, rank, slope, spare, own, beta):
    """Mean of the smooth precisions at the relevant documents."""
    (weight,) = own
    reached = 0.0
    for j in range(m):
        share = weight[a + rows[j]] / (m * rank[j])
        ahead = 0.5  # 1, less the half that the document counts as ahead of itself
        for i in range(m):
            t = 1.0 / (1.0 + exp(beta * (rank[i] - rank[j])))
            ahead += t
            force = share * beta * t * (1.0 - t)  # cancels for i = j
            slope[i] -= force
            slope[j] += force
        reached += share * ahead
        slope[j] -= share * ahead / rank[j]
    return reached


_approx_ap = rank_sweep(_terms)


@dataclass(frozen=True, kw_only=True, repr=False)
class ApproxAPLoss(Loss):
    r"""One minus average precision, with smooth ranks and smooth comparisons of ranks.

    .. math:: L = 1 - \frac{1}{R} \sum_{j\ \text{rel.}} \frac{w_j}{\hat\pi_j} \Big( 1 + \sum_{i \ne j\ \text{rel.}}
              \frac{1}{1 + e^{\beta (\hat\pi_i - \hat\pi_j)}} \Big)

    with the smooth ranks :math:`\hat\pi` of ApproxNDCG and R the number of relevant documents. As α and β grow, the
    loss approaches 1 − AP. Unjudged documents occupy ranks. A query without a relevant document has loss 0.

    Parameters
    ----------
    alpha
        Steepness of the smooth ranks.
    beta
        Steepness of the comparison of two ranks.
    rel
        The lowest label that counts as relevant.

    Examples
    --------
    >>> import numpy as np, plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0])
    >>> round(ApproxAPLoss()(np.zeros(2), data), 4)  # 1 − 1/1.5
    0.3333

    References
    ----------
    Qin, Liu, Li: A general approximation framework for direct optimization of information retrieval measures.
    Information Retrieval 2010.
    """

    name: ClassVar[str] = "ApproxAP"
    curvature: ClassVar[str] = "none"
    learns_from: ClassVar[str] = "relevant documents"
    _test_variants = ({"alpha": 5.0, "beta": 3.0}, {"rel": 0.5})
    kernel = staticmethod(_approx_ap)
    rows_per_thread = PAIR_ROWS_PER_THREAD

    alpha: float = 1.0
    beta: float = 1.0
    rel: float = 1.0

    def __post_init__(self) -> None:
        check_steepness(self)

    def settle(self, data: RankingDataset) -> ApproxAPLoss:
        """The loss itself; raises an error if no label counts as relevant."""
        check_relevant(self, data)
        return self

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """Which documents are relevant, and the weights."""
        relevant = bound.data.labels >= max(self.rel, 0.0)
        return relevant, (bound.sample_weight,), bound.query_weight, self.alpha, self.beta
