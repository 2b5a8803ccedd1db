"""P-norm push: pairs with a bad document at the top cost most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import LossError
from plackett._kernels.kernel import kernel
from plackett._kernels.scratch import most
from plackett._kernels.vector_math import exp
from plackett.losses.base import Loss, LossOnData
from plackett.losses.pairwise.base import label_order

__all__ = ["PNormPushLoss"]

#: Powers stop growing at e to this, so that no sum of them overflows.
CLIP = 600.0


@kernel
def _log_add(a, b):
    """log(e^a + e^b), also for −∞."""
    top = max(a, b)
    return top if top == -np.inf else top + np.log1p(np.exp(min(a, b) - top))


@kernel
def _push(
    lo, hi, offsets, scores, order, below, judged, weight, query_weight, p, normalize, value, gradient, curvature
):
    # e^-(s_u - s_v) is a product, so that running sums over the label order give all pairs; in logarithms, since the
    # powers of far scores leave every range
    n_max = most(lo, hi, judged)
    ahead = np.empty(n_max, np.float64)  # log Σ w_u e^(-s_u) over the documents better than each
    height = np.empty(n_max, np.float64)  # log of the power of each
    for q in range(lo, hi):
        a = offsets[q]
        n = judged[q]
        if n == 0 or below[a] == n:
            continue  # one label only: no pairs
        total = 0.0
        mass = 0.0
        better = -np.inf
        better_mass = 0.0
        start = 0
        for i in range(n):
            while below[a + start] <= i:
                u = order[a + start]
                better = _log_add(better, np.log(weight[u]) - scores[u])
                better_mass += weight[u]
                start += 1
            v = order[a + i]
            ahead[i] = better
            height[i] = -np.inf
            if better > -np.inf and weight[v] > 0.0:
                mean = np.log(better_mass) if normalize else 0.0
                height[i] = min(p * (better - mean + scores[v]), CLIP) + np.log(weight[v])
                term = exp(height[i])
                total += term
                mass += weight[v]
                gradient[v] = p * term
                curvature[v] = p * p * term
        first = -np.inf  # log Σ T_v / A_v and log Σ T_v / A_v² over the documents worse than each
        second = -np.inf
        end = n
        scale = query_weight[q] / (mass if normalize and mass > 0.0 else 1.0)
        for i in range(n - 1, -1, -1):
            while end > below[a + i]:
                end -= 1
                if height[end] > -np.inf:
                    first = _log_add(first, height[end] - ahead[end])
                    second = _log_add(second, height[end] - 2.0 * ahead[end])
            u = order[a + i]
            if first > -np.inf and weight[u] > 0.0:
                share = np.log(weight[u]) - scores[u]
                part = exp(first + share)
                gradient[u] -= p * part
                curvature[u] += p * part + p * (p - 1.0) * exp(second + 2.0 * share)
        for i in range(n):
            gradient[order[a + i]] *= scale
            curvature[order[a + i]] *= scale
        value[q] = scale * total


@dataclass(frozen=True, kw_only=True, repr=False)
class PNormPushLoss(Loss):
    r"""P-norm push

    .. math:: \sum_v w_v \Big( \sum_{u:\, y_u > y_v} w_u\, e^{-(s_u - s_v)} \Big)^p .

    The inner sum measures how many better documents are below v; its power makes a bad document at the top cost more
    than many bad ones further down. With p = 1 it is the `Exponential` pair loss, and the larger p is, the more the
    worst documents dominate. Convex; linear time after one sort by label. Powers beyond :math:`e^{600}` count as that
    much.

    Parameters
    ----------
    p
        The power, at least 1.
    normalize
        Take means over u and over v instead of sums, so that queries with many pairs do not dominate.

    Examples
    --------
    >>> import numpy as np, plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 1, 0, 0], qid=[1] * 4)
    >>> round(PNormPushLoss(p=4)(np.zeros(4), data), 6)  # 2⁴ for each of the two worse documents
    32.0

    References
    ----------
    Rudin: The P-norm push: a simple convex ranking algorithm that concentrates at the top of the list. JMLR 2009.
    """

    name: ClassVar[str] = "PNormPush"
    approach: ClassVar[str] = "pairwise"
    convex: ClassVar[bool] = True
    _test_variants = ({"p": 1.0}, {"p": 2.5, "normalize": True})
    kernel = staticmethod(_push)

    p: float = 4.0
    normalize: bool = False

    def __post_init__(self) -> None:
        number(f"{self.name}: p", self.p, least=1, error=LossError)

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """The order of the labels and the weights."""
        documents = *label_order(bound.data, bound.n_jobs), bound.sample_weight, bound.query_weight
        return *documents, float(self.p), self.normalize
