"""BoltzRank: a Boltzmann distribution over orders, with low energy for orders of decreasing score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import LossError
from plackett._kernels.kernel import over_queries
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss, _ones, finite_gains
from plackett.losses.listwise._boltzmann import boltzmann
from plackett.losses.listwise._draws import sampled_orders
from plackett.measures.gains import check_gain, discount_table, ideal_dcg

__all__ = ["BoltzRankLoss"]

#: Maximum number of documents for the exact form, which visits 2^m sets.
_MOST = 18


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
        if self.divergence not in ("target", "likelihood"):
            raise LossError(f"{self.name}: divergence={self.divergence!r}; give 'target' or 'likelihood'")
        if not 0 <= self.mix <= 1:
            raise LossError(f"{self.name}: mix={self.mix}; give a share from 0 to 1")
        if not self.alpha > 0:
            raise LossError(f"{self.name}: alpha={self.alpha}; give a positive number")
        if not 0 <= self.max_exact <= _MOST:
            raise LossError(f"{self.name}: max_exact={self.max_exact}; give a number from 0 to {_MOST}")
        if self.n_samples < 2:
            raise LossError(f"{self.name}: n_samples={self.n_samples}; give 2 or more")

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on one dataset."""
        return _Bound(self, data, n_jobs)


class _Bound(BoundLoss):
    def __init__(self, loss: BoltzRankLoss, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.loss = loss
        taking_part = (data.labels >= 0) & (self.sample_weight > 0)
        exponent = finite_gains(data.labels, loss.target, loss.name) + np.log(
            np.where(taking_part, self.sample_weight, 1)
        )
        ideal = ideal_dcg(data, loss.gain, "log2", None)[data.query_of_row]
        gains = finite_gains(data.labels, loss.gain, loss.name) * self.sample_weight
        self.gains = np.divide(gains, ideal, out=np.zeros_like(gains), where=ideal > 0)
        self.ranks = discount_table("log2", int(data.group.max(initial=1)))
        drawn = np.where(taking_part, exponent, -np.inf)
        half = loss.n_samples // 2
        sharp = sampled_orders(data, drawn, loss.random_state, loss.n_samples - half, loss.max_exact, n_jobs)
        flat = sampled_orders(data, 0.25 * drawn, loss.random_state + 1, half, loss.max_exact, n_jobs)
        self.orders = np.concatenate([sharp, flat])
        self.part = taking_part & _has_pairs(data, taking_part)[data.query_of_row]
        self.means, self.constant = np.zeros(data.n_rows), np.zeros(data.n_queries)
        if loss.divergence == "likelihood":
            order, rank, n = _label_ranks(data, self.part)
            self.means[order] = 2.0 * loss.alpha / np.maximum(n - 1.0, 1.0) * (rank - 0.5 * (n - 1.0))
            # over drawn orders a likelihood needs the order of the labels among them
            self.orders[-1] = _label_order(data, self.part)
            return
        log_z, slopes = self._run(exponent, 0.0, _ones(data.n_queries))
        self.means = -slopes  # E[c of the rank] under the target
        # minus the entropy of the target
        self.constant = np.bincount(data.query_of_row, exponent * slopes, data.n_queries) - log_z

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query and gradient per score; zeros for the curvature, as the loss has none."""
        return *self._run(scores, self.loss.mix, self.query_weight), np.zeros(self.data.n_rows)

    def _run(self, scores: np.ndarray, mix: float, query_weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, gradient, _ = self._buffers()
        over_queries(
            boltzmann,
            self.data.offsets,
            self.part,
            scores,
            self.gains,
            self.ranks,
            self.orders,
            self.loss.max_exact,
            self.loss.alpha,
            mix,
            self.means,
            self.constant,
            query_weight,
            value,
            gradient,
            n_jobs=self.n_jobs,
            rows_per_thread=500,
        )
        return value, gradient


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
