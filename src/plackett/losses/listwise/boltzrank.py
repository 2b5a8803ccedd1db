"""BoltzRank: a Boltzmann distribution over orders, with low energy for orders of decreasing score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from plackett._base.arguments import choice, number, whole
from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.data.weights import given_or_ones
from plackett.losses.base import Loss, LossOnData, finite_gains, gain_shares
from plackett.losses.listwise._boltzmann import boltzmann
from plackett.losses.listwise.draws import sampled_orders
from plackett.measures.gains import check_gain, discount_table, ideal_dcg

__all__ = ["BoltzRankLoss"]

#: Maximum number of documents for the exact form, which visits 2^m sets.
_MOST = 18


class _Target(NamedTuple):
    """What the kernel reads besides the scores."""

    part: np.ndarray  #: whether a document takes part
    gains: np.ndarray
    ranks: np.ndarray  #: weight of each rank
    orders: np.ndarray  #: those drawn
    max_exact: int
    alpha: float
    mix: float
    means: np.ndarray  #: E[c of the rank] of each document under the target
    constant: np.ndarray  #: minus the entropy of the target of each query
    query_weight: np.ndarray


@dataclass(frozen=True, kw_only=True, repr=False)
class BoltzRankLoss(Loss):
    r"""Loss of a Boltzmann distribution over the orders of a query.

    .. math:: E(\pi \mid s) = \frac{2}{m (m - 1)} \sum_{u < v} \alpha (v - u)\, (s_{\pi^{-1}(v)} - s_{\pi^{-1}(u)})
              = \sum_j c_{\pi(j)} s_j, \qquad P(\pi \mid s) \propto e^{-E}

    with :math:`c_r = \frac{2 \alpha}{m - 1} \big(r - \frac{m + 1}{2}\big)`; the order by score is the most probable.
    The loss is

    .. math:: L = \lambda \Big(1 - \mathrm{E}_{P(\cdot \mid s)}\,\mathrm{nDCG}\Big)
              + (1 - \lambda)\, \mathrm{KL}\big(P(\cdot \mid g(y))\,\|\,P(\cdot \mid s)\big)

    With ``divergence="likelihood"`` the second part is :math:`-\log P(\pi_y \mid s)`, the mean over the orders
    :math:`\pi_y` that the labels allow. The loss is convex for λ = 0. Unjudged documents take no part. A query whose
    labels are all equal has loss 0. Sample weights multiply the gains of nDCG and, before normalising, the target's
    e^{g(y)}, that is log w is added to g(y).

    Cost: the exact form is dynamic programming over all sets, :math:`2^m m` steps. Queries of more than ``max_exact``
    judged documents use a fixed set of orders instead, over which both distributions are normalised: ``n_samples``
    orders drawn once from the Plackett–Luce model of the labels (one half of them flattened), in
    linear time each. The draw depends on the position of rows in their query (rankers sort rows by content first).

    Parameters
    ----------
    mix
        λ, the share of expected nDCG.
    divergence
        ``"target"``: from the distribution of the labels. ``"likelihood"``: minus the log-likelihood of the order of
        the labels; sample weights do not enter it, but documents of weight 0 take no part.
    alpha
        Steepness α of the energy.
    target
        g, what the target distribution takes as scores: ``"linear"``, ``"exp2"``, ``"binary"`` or a table.
    gain
        Gain of nDCG.
    max_exact, n_samples, random_state
        Maximum number of documents for the exact form, up to 18; number of orders for longer lists, at two bytes per
        document and order; the seed.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0])
    >>> round(BoltzRankLoss(mix=1.0)(np.zeros(2), data), 4)  # 1 − ½ (1 + 1/log2 3)
    0.1845

    References
    ----------
    Volkovs, Zemel: BoltzRank: learning to maximize expected ranking gain. ICML 2009.
    """

    name: ClassVar[str] = "BoltzRank"
    curvature: ClassVar[str] = "none"
    _test_variants = (
        {"mix": 0.0, "alpha": 3.0},
        {"mix": 1.0, "gain": "linear", "n_samples": 9},
        {"mix": 0.3, "divergence": "likelihood", "alpha": 2.0},
    )
    kernel = staticmethod(boltzmann)
    rows_per_thread = 500

    mix: float = 0.5
    divergence: str = "target"
    alpha: float = 1.0
    target: Any = "linear"
    gain: Any = "exp2"
    max_exact: int = 8
    n_samples: int = 32
    random_state: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", check_gain(self.target, self.name, "target"))
        object.__setattr__(self, "gain", check_gain(self.gain, self.name))
        choice(f"{self.name}: divergence", self.divergence, ("target", "likelihood"), error=LossError)
        number(f"{self.name}: mix", self.mix, least=0, most=1, error=LossError)
        number(f"{self.name}: alpha", self.alpha, above=0, error=LossError)
        whole(f"{self.name}: max_exact", self.max_exact, least=0, most=_MOST, error=LossError)
        whole(f"{self.name}: n_samples", self.n_samples, least=2, error=LossError)

    def constants(self, bound: LossOnData) -> _Target:
        """Gains, drawn orders and the target distribution."""
        data, weight, n_jobs = bound.data, bound.sample_weight, bound.n_jobs
        taking_part = (data.labels >= 0) & (weight > 0)
        exponent = finite_gains(data.labels, self.target, self.name) + np.log(np.where(taking_part, weight, 1))
        gains = finite_gains(data.labels, self.gain, self.name)
        gains = gain_shares(bound, gains, ideal_dcg(data, self.gain, "log2", None))
        ranks = discount_table("log2", int(data.group.max(initial=1)))
        drawn = np.where(taking_part, exponent, -np.inf)
        half = self.n_samples // 2
        sharp = sampled_orders(data, drawn, self.random_state, self.n_samples - half, self.max_exact, n_jobs)
        flat = sampled_orders(data, 0.25 * drawn, self.random_state + 1, half, self.max_exact, n_jobs)
        orders = np.concatenate([sharp, flat])
        part = taking_part & _has_pairs(data, taking_part)[data.query_of_row]
        known = part, gains, ranks, orders, self.max_exact, self.alpha
        means, constant = np.zeros(data.n_rows), np.zeros(data.n_queries)
        if self.divergence == "likelihood":
            order, rank, n = _label_ranks(data, part)
            means[order] = 2.0 * self.alpha / np.maximum(n - 1.0, 1.0) * (rank - 0.5 * (n - 1.0))
            # over drawn orders a likelihood needs the order of the labels among them
            orders[-1] = _label_order(data, part)
        else:
            ones = given_or_ones(None, data.n_queries)
            log_z, slopes, _ = bound.run(boltzmann, exponent, *known, 0.0, means, constant, ones)
            means = -slopes
            constant = np.bincount(data.query_of_row, exponent * slopes, data.n_queries) - log_z
        return _Target(*known, self.mix, means, constant, bound.query_weight)


def _label_order(data: RankingDataset, part: np.ndarray) -> np.ndarray:
    """Positions in their query of the documents by label; those that take no part come last."""
    order = np.lexsort((-data.labels, ~part, data.query_of_row))
    return order - data.offsets[:-1][data.query_of_row]


def _label_ranks(data: RankingDataset, part: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows that take part; the mean rank of each by label, from 0, over its ties; how many of its query take part."""
    query = data.query_of_row
    order = np.lexsort((-data.labels, query))
    order = order[part[order]]
    q, y = query[order], data.labels[order]
    count = np.bincount(q, minlength=data.n_queries)
    first = np.concatenate(([0], np.cumsum(count)))[:-1][q]
    new = np.ones(order.size, np.bool_)
    new[1:] = (q[1:] != q[:-1]) | (y[1:] != y[:-1])
    block = np.cumsum(new) - 1
    rank = np.bincount(block, np.arange(order.size) - first)[block] / np.bincount(block)[block]
    return order, rank, count[q]


def _has_pairs(data: RankingDataset, part: np.ndarray) -> np.ndarray:
    """Whether the judged documents of each query have at least two different labels."""
    low, high = np.full(data.n_queries, np.inf), np.full(data.n_queries, -np.inf)
    query = data.query_of_row[part]
    np.minimum.at(low, query, data.labels[part])
    np.maximum.at(high, query, data.labels[part])
    return low < high
