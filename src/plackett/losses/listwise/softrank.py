"""SoftRank: expected nDCG or precision of noisy scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number, whole
from plackett._base.errors import LossError
from plackett._kernels.kernel import kernel
from plackett._kernels.scratch import lanes, longest
from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss, LossOnData, finite_gains, gain_shares
from plackett.losses.listwise._rank_distribution import add_pull, expectation, normal_expectation, pair_chances
from plackett.measures.gains import check_gain, discount_table, ideal_dcg

__all__ = ["SoftNDCG", "SoftPC"]


def check_sigma(loss: Any) -> None:
    """Reject a non-positive sigma."""
    number(f"{loss.name}: sigma", loss.sigma, above=0, error=LossError)


def check_relevant(loss: Any, data: RankingDataset) -> None:
    """Reject labels that differ but are all below ``rel``."""
    largest = data.labels.max(initial=-1.0)
    if 0 < largest < loss.rel:
        raise LossError(
            f"{loss.name}: no label reaches rel={loss.rel:g} (the largest is {largest:g}); give a smaller rel"
        )


@kernel
def _soft(lo, hi, offsets, scores, gains, variance, table, query_weight, max_exact, value, gradient):
    n_max = longest(lo, hi, offsets)
    lane = lanes(5, n_max)
    g, p, slope, force, chance = lane[0], lane[1], lane[2], lane[3], lane[4]
    others = np.empty(n_max, np.int64)
    exact = min(n_max, max_exact) + 1
    values = np.empty((exact, exact), np.float64)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        s = scores[a : a + n]
        v = variance[a : a + n]
        g[:n] = 0.0
        reached = 0.0
        some = False
        for j in range(n):
            gain = gains[a + j]
            if gain <= 0.0:
                continue
            some = True
            pair_chances(s, v, j, p[:n], slope[:n])
            force[j] = 0.0
            if n <= max_exact:
                m = 0
                for u in range(n):
                    if u != j:
                        others[m] = u
                        m += 1
                reached += gain * expectation(p, others, m, table, values, chance, force)
            else:
                mean = 0.0
                spread = 0.0
                for u in range(n):
                    mean += p[u]
                    spread += p[u] * (1.0 - p[u])
                expected, for_mean, for_spread = normal_expectation(mean, spread, table, n - 1)
                reached += gain * expected
                for u in range(n):
                    force[u] = for_mean + for_spread * (1.0 - 2.0 * p[u])
            for u in range(n):
                force[u] *= -gain
            g[j] -= add_pull(force[:n], slope[:n], g[:n])
        if some:
            value[q] = query_weight[q] * (1.0 - reached)
            for i in range(n):
                gradient[a + i] = query_weight[q] * g[i]


@dataclass(frozen=True, kw_only=True, repr=False)
class SoftNDCG(Loss):
    r"""One minus the expected nDCG of scores with Gaussian noise.

    .. math:: P_{uj} = \Phi\Big(\frac{s_u - s_j}{\sqrt 2\,\sigma}\Big), \qquad
              L = 1 - \frac{1}{Z} \sum_j w_j G(y_j) \sum_r \frac{P_j(r)}{\log_2(1 + r)}

    with :math:`P_j(r)` the distribution of one plus the number of documents ahead of j, every contest taken as
    independent. As σ decreases, the loss approaches 1 − nDCG. Unjudged documents have no gain but occupy ranks. A query
    without a positive gain has loss 0.

    Cost: exact distributions take :math:`m^2` steps for each relevant of m documents. In lists of more than
    ``max_exact`` documents the number ahead is taken as normal with its own mean and variance: m steps each.

    Parameters
    ----------
    sigma
        Standard deviation σ of the noise of a score.
    gain
        ``"exp2"``, ``"linear"``, ``"binary"`` or a table label: gain, as in nDCG.
    max_exact
        Longest list with exact distributions.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0])
    >>> round(SoftNDCG()(np.zeros(2), data), 4)  # ½ (1 − 1/log2 3)
    0.1845

    References
    ----------
    Taylor, Guiver, Robertson, Minka: SoftRank: optimizing non-smooth rank metrics. WSDM 2008.
    """

    name: ClassVar[str] = "SoftNDCG"
    curvature: ClassVar[str] = "none"
    learns_from: ClassVar[str] = "relevant documents"
    _test_variants = ({"sigma": 0.1}, {"gain": "linear", "sigma": 3.0})
    kernel = staticmethod(_soft)
    rows_per_thread = 500

    sigma: float = 1.0
    gain: Any = "exp2"
    max_exact: int = 100

    def __post_init__(self) -> None:
        object.__setattr__(self, "gain", check_gain(self.gain, self.name))
        check_sigma(self)

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """Gain of each document as a share of the best DCG of its query, and the discounts."""
        data = bound.data
        gains = finite_gains(data.labels, self.gain, self.name)
        shares = gain_shares(bound, gains, ideal_dcg(data, self.gain, "log2", None))
        table = discount_table("log2", int(data.group.max(initial=1)) + 1)
        return shares, self.variance(data), table, bound.query_weight, self.max_exact

    def variance(self, data: RankingDataset) -> np.ndarray:
        """Variance of the noise of each document's score."""
        return np.full(data.n_rows, np.square(self.sigma))


@dataclass(frozen=True, kw_only=True, repr=False)
class SoftPC(Loss):
    r"""One minus the expected precision at k of scores with Gaussian noise.

    .. math:: L = 1 - \frac{1}{\min(k, R)} \sum_{j\ \text{relevant}} w_j P(\text{rank of } j \le k)

    with the rank distribution of `SoftNDCG`. The divisor, with R the number of relevant documents, makes 1 the best
    value for every query; P@k itself divides by k. A query without a relevant document has loss 0.

    Parameters
    ----------
    k
        Number of ranks.
    rel
        The lowest label that counts as relevant.
    sigma, max_exact
        Noise, and longest list with exact distributions, as in `SoftNDCG`.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0])
    >>> round(SoftPC(k=1)(np.zeros(2), data), 4)  # it comes first with chance ½
    0.5

    References
    ----------
    Yilmaz, Robertson: On the choice of effectiveness measures for learning to rank. Information Retrieval 2010.
    """

    name: ClassVar[str] = "SoftPC"
    curvature: ClassVar[str] = "none"
    learns_from: ClassVar[str] = "relevant documents"
    _test_variants = ({"k": 2, "sigma": 0.3}, {"rel": 0.5})
    kernel = staticmethod(_soft)
    rows_per_thread = 500

    k: int = 3
    rel: float = 1.0
    sigma: float = 1.0
    max_exact: int = 100

    def __post_init__(self) -> None:
        whole(f"{self.name}: k", self.k, least=1, error=LossError)
        check_sigma(self)

    def settle(self, data: RankingDataset) -> SoftPC:
        """The loss itself; raises an error if no label counts as relevant."""
        check_relevant(self, data)
        return self

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """Share of each relevant document in the best number of them, and which ranks count."""
        data = bound.data
        relevant = (data.labels >= max(self.rel, 0.0)).astype(float)
        best = np.minimum(np.bincount(data.query_of_row, relevant, data.n_queries), self.k)
        table = (np.arange(int(data.group.max(initial=1)) + 1) < self.k).astype(float)
        variance = np.full(data.n_rows, np.square(self.sigma))
        return gain_shares(bound, relevant, best), variance, table, bound.query_weight, self.max_exact
