"""SoftAP: expected average precision of noisy scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._kernels.kernel import kernel
from plackett._kernels.scratch import lanes, longest
from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss, LossOnData
from plackett.losses.listwise._rank_distribution import add_pull, expectation, pair_chances
from plackett.losses.listwise.softrank import check_relevant, check_sigma

__all__ = ["SoftAP"]


@kernel
def _precisions(chance, n, n_other, of_others, table):  # type: ignore[no-untyped-def]
    """Expected precision (1 + A)/(1 + A + B) for each value of one count, given the chances of the other."""
    for c in range(n + 1):
        total = 0.0
        for d in range(n_other + 1):
            ahead = c if of_others else d
            total += chance[d] * (1.0 + ahead) / (1.0 + c + d)
        table[c] = total


@kernel
def _exact(p, members, m, others, b, values, chance, table, force):  # type: ignore[no-untyped-def]
    table[:] = 0.0
    expectation(p, others, b, table, values, chance, force)  # for the chances of B alone
    _precisions(chance, m, b, True, table)
    reached = expectation(p, members, m, table, values, chance, force)
    _precisions(chance, b, m, False, table)
    expectation(p, others, b, table, values, chance, force)
    return reached


@kernel
def _expanded(p, relevant, n, j, force):  # type: ignore[no-untyped-def]
    a = 0.0
    b = 0.0
    spread_a = 0.0
    spread_b = 0.0
    for u in range(n):
        if relevant[u]:
            a += p[u]
            spread_a += p[u] * (1.0 - p[u])
        else:
            b += p[u]
            spread_b += p[u] * (1.0 - p[u])
    top = 1.0 + a
    all_ = top + b
    cube = all_ * all_ * all_
    reached = top / all_ - b / cube * spread_a + top / cube * spread_b
    last = 3.0 * (b * spread_a - top * spread_b) / (cube * all_)
    for_a = b / (all_ * all_) + spread_b / cube + last
    for_b = -top / (all_ * all_) - spread_a / cube + last
    for u in range(n):
        slope = 1.0 - 2.0 * p[u]
        force[u] = for_a - b / cube * slope if relevant[u] else for_b + top / cube * slope
    return reached


@kernel
def _soft_ap(lo, hi, offsets, scores, relevant, weight, variance, query_weight, max_exact, value, gradient):  # type: ignore[no-untyped-def]
    n_max = longest(lo, hi, offsets)
    lane = lanes(6, n_max)
    g, p, slope, force, chance, table = lane[0], lane[1], lane[2], lane[3], lane[4], lane[5]
    members = np.empty(n_max, np.int64)
    others = np.empty(n_max, np.int64)
    exact = min(n_max, max_exact) + 1
    values = np.empty((exact, exact), np.float64)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        g[:n] = 0.0
        reached = 0.0
        count = 0
        for j in range(n):
            count += relevant[a + j]
        if count == 0:
            continue
        for j in range(n):
            if not relevant[a + j] or weight[a + j] == 0.0:
                continue
            pair_chances(scores[a : a + n], variance[a : a + n], j, p[:n], slope[:n])
            force[j] = 0.0
            share = weight[a + j] / count
            if n <= max_exact:
                m = 0
                b = 0
                for u in range(n):
                    if relevant[a + u] and u != j:
                        members[m] = u
                        m += 1
                    elif not relevant[a + u]:
                        others[b] = u
                        b += 1
                reached += share * _exact(p, members, m, others, b, values, chance, table, force)
            else:
                reached += share * _expanded(p, relevant[a : a + n], n, j, force)
            for u in range(n):
                force[u] *= -share
            g[j] -= add_pull(force[:n], slope[:n], g[:n])
        value[q] = query_weight[q] * (1.0 - reached)
        for i in range(n):
            gradient[a + i] = query_weight[q] * g[i]


@dataclass(frozen=True, kw_only=True, repr=False)
class SoftAP(Loss):
    r"""One minus the expected average precision of scores with Gaussian noise.

    .. math:: L = 1 - \frac{1}{R} \sum_{j\ \text{relevant}} w_j\, \mathrm{E}\,\frac{1 + A_j}{1 + A_j + B_j}

    with :math:`A_j` and :math:`B_j` the numbers of relevant and of other documents ahead of j, sums of independent
    contests as in `SoftNDCG`, and R the number of relevant documents. Unjudged documents count as not relevant. A
    query without a relevant document has loss 0.

    Cost: exact expectations take :math:`m^2` steps for each relevant of m documents. In lists of more than
    ``max_exact`` documents the expectation is a second-order expansion around the means of A and B: m steps each.

    Parameters
    ----------
    rel
        The lowest label that counts as relevant.
    sigma
        Standard deviation of the noise of a score.
    max_exact
        Longest list with exact expectations.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0])
    >>> round(SoftAP()(np.zeros(2), data), 4)  # 1 − ½ (1 + ½)
    0.25

    References
    ----------
    Yilmaz, Robertson: On the choice of effectiveness measures for learning to rank. Information Retrieval 2010.
    """

    name: ClassVar[str] = "SoftAP"
    curvature: ClassVar[str] = "none"
    learns_from: ClassVar[str] = "relevant documents"
    _test_variants = ({"sigma": 0.2, "rel": 0.5},)
    kernel = staticmethod(_soft_ap)
    rows_per_thread = 500

    rel: float = 1.0
    sigma: float = 1.0
    max_exact: int = 100

    def __post_init__(self) -> None:
        check_sigma(self)

    def settle(self, data: RankingDataset) -> SoftAP:
        """The loss itself; raises an error if no label counts as relevant."""
        check_relevant(self, data)
        return self

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """Which documents are relevant, the weights, and the variance of each score."""
        relevant = bound.data.labels >= max(self.rel, 0.0)
        variance = np.full(bound.data.n_rows, self.sigma**2)
        return relevant, bound.sample_weight, variance, bound.query_weight, self.max_exact
