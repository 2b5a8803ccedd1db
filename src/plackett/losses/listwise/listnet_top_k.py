"""ListNet on the probabilities of the first k documents, or of whole orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from plackett._base.arguments import number, whole, whole_or_none
from plackett._base.errors import LossError
from plackett._kernels.kernel import kernel
from plackett._kernels.log_sum import add_exp
from plackett._kernels.scratch import lanes, longest
from plackett.losses.base import Loss, LossOnData, finite_gains
from plackett.losses.listwise._mallows_choice import exact_choice, label_blocks, mallows_orders, sampled_choice
from plackett.losses.listwise.draws import sampled_orders
from plackett.measures.gains import check_discount, check_gain, discount_table

__all__ = ["ListNetTopKLoss"]

#: Maximum number of documents for the exact form, which visits 2^m sets.
_MOST = 20
#: Targets, with what they make of θ; NaN is Plackett–Luce.
_DISTRIBUTIONS: dict[str, Any] = {
    "plackett-luce": lambda theta: np.nan,
    "mallows": float,
    "uniform": lambda theta: np.inf,
}


@kernel
def _log_sum(x, mask, n):
    """The log of Σ e^x over the documents that are not in a set."""
    largest = -np.inf
    for i in range(n):
        if mask >> i & 1 == 0:
            largest = max(largest, x[i])
    if largest == -np.inf:
        return largest
    total = 0.0
    for i in range(n):
        if mask >> i & 1 == 0:
            total += np.exp(x[i] - largest)
    return largest + np.log(total)


@kernel
def _exact(t, s, n, ranks, reached, g):
    """The divergence over all sets; ``reached`` is scratch for the probability of each set."""
    loss = 0.0
    reached[: 1 << n] = 0.0
    reached[0] = 1.0
    last = 0
    for r in range(n):
        if ranks[r] != 0.0:
            last = r + 1
    for mask in range((1 << n) - 1):
        p = reached[mask]
        if p == 0.0:
            continue
        size = 0
        for i in range(n):
            size += mask >> i & 1
        if size >= last:
            continue
        log_t = _log_sum(t, mask, n)
        if log_t == -np.inf:
            continue  # only documents of weight 0 are left
        log_s = _log_sum(s, mask, n)
        w = p * ranks[size]
        for i in range(n):
            if mask >> i & 1 == 0:
                target = np.exp(t[i] - log_t)
                if target > 0.0:
                    loss += w * target * (t[i] - log_t - s[i] + log_s)
                    reached[mask | 1 << i] += p * target
                g[i] += w * (np.exp(s[i] - log_s) - target)
    return loss


@kernel
def _suffix(x, log_x):
    """The log of Σ e^x over each position and everything after it; −∞ if all of them are."""
    largest = -np.inf
    total = 0.0
    for i in range(x.size - 1, -1, -1):
        if x[i] > -np.inf:
            largest, total = add_exp(largest, total, x[i])
        log_x[i] = largest + np.log(total) if total > 0.0 else -np.inf


@kernel
def _sampled(t, s, n, ranks, order, x, y, log_t, log_s, g):
    """The divergence along one order of the documents that take part."""
    for i in range(n):
        x[i] = t[order[i]]
        y[i] = s[order[i]]
    _suffix(x[:n], log_t[:n])
    _suffix(y[:n], log_s[:n])
    loss = 0.0
    mean = 0.0  # Σ over the rest of P_y (log target − score), P_y among the rest
    for i in range(n - 1, -1, -1):
        if log_t[i] > -np.inf:
            p = np.exp(x[i] - log_t[i])
            own = p * (x[i] - y[i]) if p > 0.0 else 0.0
            mean = own + (np.exp(log_t[i + 1] - log_t[i]) * mean if i + 1 < n else 0.0)
            loss += ranks[i] * (mean - log_t[i] + log_s[i])
    push = 0.0  # Σ over the ranks so far of weight · e^(rest now − rest then), for scores and for targets
    pull = 0.0
    for i in range(n):
        if log_t[i] > -np.inf:
            push = ranks[i] + (push * np.exp(log_s[i] - log_s[i - 1]) if i > 0 else 0.0)
            pull = ranks[i] + (pull * np.exp(log_t[i] - log_t[i - 1]) if i > 0 else 0.0)
            g[order[i]] += push * np.exp(y[i] - log_s[i]) - pull * np.exp(x[i] - log_t[i])
        else:
            push = push * np.exp(log_s[i] - log_s[i - 1])
            g[order[i]] += push * np.exp(y[i] - log_s[i])
    return loss


@kernel
def _listnet(
    lo,
    hi,
    offsets,
    scores,
    labels,
    target,
    blocks,
    weight,
    theta,
    query_weight,
    ranks,
    orders,
    max_exact,
    value,
    gradient,
):
    n_max = longest(lo, hi, offsets)
    lane = lanes(9, n_max)
    t, s, g, x, y, log_t, log_s, w, factor = (
        lane[0],
        lane[1],
        lane[2],
        lane[3],
        lane[4],
        lane[5],
        lane[6],
        lane[7],
        lane[8],
    )
    sums = np.empty((4, n_max), np.float64)
    block, counts = np.empty(n_max, np.int64), np.empty(n_max, np.int64)
    slot = np.empty(n_max, np.int64)
    rows = np.empty(n_max, np.int64)
    order = np.empty(n_max, np.int64)
    reached = np.empty(1 << min(max_exact, n_max), np.float64)
    for q in range(lo, hi):
        a = offsets[q]
        length = offsets[q + 1] - a
        n = 0
        low = np.inf
        high = -np.inf
        for i in range(length):
            slot[i] = -1
            if not np.isnan(target[a + i]):
                t[n] = target[a + i]
                s[n] = scores[a + i]
                w[n] = weight[a + i]
                block[n] = blocks[a + i]
                g[n] = 0.0
                low = min(low, labels[a + i])
                high = max(high, labels[a + i])
                rows[n] = a + i
                slot[i] = n
                n += 1
        if not low < high:
            continue
        if length <= max_exact:
            if np.isnan(theta):
                loss = _exact(t, s, n, ranks, reached, g)
            else:
                loss = exact_choice(block, w, s, n, theta, ranks, reached, counts, factor, g)
            share = query_weight[q]
        else:
            loss = 0.0
            share = query_weight[q] / orders.shape[0]
            for d in range(orders.shape[0]):
                at = 0
                for i in range(length):
                    if slot[orders[d, a + i]] >= 0:
                        order[at] = slot[orders[d, a + i]]
                        at += 1
                if np.isnan(theta):
                    loss += _sampled(t, s, n, ranks, order, x, y, log_t, log_s, g)
                    continue
                for i in range(n):
                    y[i] = s[order[i]]
                _suffix(y[:n], log_s[:n])
                loss += sampled_choice(block, w, s, n, theta, ranks, order, log_s, counts, factor, sums, g)
        value[q] = share * loss
        for i in range(n):
            gradient[rows[i]] = share * g[i]


class _Target(NamedTuple):
    """What the kernel reads besides the scores."""

    labels: np.ndarray
    target: np.ndarray  #: logarithm for each document, NaN for ignored ones
    blocks: np.ndarray  #: of equal labels
    weight: np.ndarray
    theta: float
    query_weight: np.ndarray
    ranks: np.ndarray  #: weight of each rank
    orders: np.ndarray  #: those drawn
    max_exact: int


@dataclass(frozen=True, kw_only=True, repr=False)
class ListNetTopKLoss(Loss):
    r"""Divergence between distributions of the first k documents: that of the labels and the scores' Plackett–Luce.

    .. math:: L = \sum_{\pi} P_y(\pi) \log \frac{P_y(\pi)}{P_s(\pi)}
              = \sum_{S,\,|S| < k} P_y(S)\; \eta(|S| + 1)\,
              \mathrm{KL}\big(P_y(\cdot \mid \bar S)\,\|\,P_s(\cdot \mid \bar S)\big)

    with :math:`P_y \propto w_j e^{g(y_j)/\tau}` at each draw, :math:`P_y(S)` the probability that the documents of S
    are the first :math:`|S|`, and η = 1 unless ranks are weighted. It is 0 for a perfect fit and convex. A query whose
    labels are all equal has loss 0; k = 1 is `ListNetLoss`.

    That is the target ``"plackett-luce"``. The others use only the order of the labels: ``"uniform"`` gives the same
    probability to all orders in which higher labels come first, and ``"mallows"`` gives an order :math:`P_y(\pi)
    \propto e^{-\theta d}`, with d the number of pairs of unequal labels that it reverses. Both are chains of choices
    too, at each of which the probability of a document is multiplied by its weight; documents of weight 0 are never
    chosen.

    Cost: the exact form goes over all sets of fewer than k documents, at most :math:`2^m m` steps for m documents.
    Longer lists use ``n_samples`` orders drawn once from :math:`P_y`, with the exact divergence at each rank of each:
    an unbiased estimate that is convex and 0 for a perfect fit as well, in linear time. The draw depends on the
    position of rows in their query (rankers sort rows by content first).

    Parameters
    ----------
    k
        Number of ranks; None uses full orders.
    distribution
        The target: ``"plackett-luce"``, ``"mallows"`` or ``"uniform"``.
    target, temperature
        g and τ of the Plackett–Luce target, as in `ListNetLoss`.
    theta
        Concentration θ of the Mallows target; 0 is uniform over all orders.
    discount
        Weight η of each rank: ``"none"``, ``"log2"``, ``"letor"``, ``"reciprocal"`` or a list of weights.
    max_exact
        Maximum number of documents for the exact form, up to 20.
    n_samples, random_state
        Orders drawn for each longer list, and the seed.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0])
    >>> round(ListNetTopKLoss()(np.zeros(2), data), 4)  # divergence of softmax(1, 0) from (½, ½)
    0.1109

    References
    ----------
    Cao, Qin, Liu, Tsai, Li: Learning to rank: from pairwise approach to listwise approach. ICML 2007.
    """

    name: ClassVar[str] = "ListNetTopK"
    convex: ClassVar[bool] = True
    curvature: ClassVar[str] = "none"
    _test_variants = (
        {"k": 1},
        {"k": 3, "target": "exp2", "temperature": 3.0},
        {"discount": "log2", "max_exact": 4},
        {"distribution": "mallows", "theta": 0.7, "max_exact": 6},
        {"distribution": "uniform", "k": 4, "max_exact": 5},
    )
    kernel = staticmethod(_listnet)
    rows_per_thread = 500

    k: int | None = None
    distribution: str = "plackett-luce"
    theta: float = 1.0
    target: Any = "linear"
    temperature: float = 1.0
    discount: Any = "none"
    max_exact: int = 12
    n_samples: int = 8
    random_state: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", check_gain(self.target, self.name, "target"))
        object.__setattr__(self, "discount", check_discount(self.discount, self.name))
        whole_or_none(f"{self.name}: k", self.k, least=1, error=LossError)
        if self.distribution not in _DISTRIBUTIONS:
            known = ", ".join(_DISTRIBUTIONS)
            raise LossError(f"{self.name}: distribution={self.distribution!r}; the distributions are {known}")
        number(f"{self.name}: theta", self.theta, least=0, error=LossError)
        number(f"{self.name}: temperature", self.temperature, above=0, error=LossError)
        whole(f"{self.name}: max_exact", self.max_exact, least=0, most=_MOST, error=LossError)
        whole(f"{self.name}: n_samples", self.n_samples, least=1, error=LossError)

    def constants(self, bound: LossOnData) -> _Target:
        """The target distribution, and orders drawn from it."""
        data, weight, n_jobs = bound.data, bound.sample_weight, bound.n_jobs
        exponent = finite_gains(data.labels, self.target, self.name) / self.temperature
        with np.errstate(divide="ignore"):
            target = exponent + np.log(weight)
        target[data.labels < 0] = np.nan
        ranks = discount_table(self.discount, int(data.group.max(initial=1)))
        ranks[self.k or ranks.size :] = 0.0
        # unjudged documents come last and are cut off before their ranks are used
        drawn = np.where(np.isnan(target), -np.inf, target)
        theta = _DISTRIBUTIONS[self.distribution](self.theta)
        block = label_blocks(data, n_jobs)
        draws = self.random_state, self.n_samples, self.max_exact, n_jobs
        if np.isnan(theta):
            orders = sampled_orders(data, drawn, *draws)
        else:
            orders = mallows_orders(data, block, weight, theta, *draws)
        return _Target(data.labels, target, block, weight, theta, bound.query_weight, ranks, orders, self.max_exact)
