"""ListMLE over all orders that the labels allow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import LossError
from plackett._kernels.kernel import REASSOC, kernel
from plackett._kernels.log_sum import add_exp
from plackett._kernels.scratch import most
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett._kernels.vector_math import exp
from plackett.losses.base import Loss, LossOnData
from plackett.losses.bounds.known_bound import KnownBound
from plackett.losses.bounds.likelihood import likelihood_bounds
from plackett.losses.pairwise.base import label_order
from plackett.measures.base import Measure

__all__ = ["ListMLEBest", "ListMLESet"]

#: Latest start of the integral over the logarithm of time, and how far below its peak the integrand is negligible.
_LEFT = -40.0
_NOTHING = 42.0


@kernel
def _rest(s, rest):
    """The log of Σ e^s over each position and everything after it."""
    largest = -np.inf
    total = 0.0
    for i in range(s.size - 1, -1, -1):
        largest, total = add_exp(largest, total, s[i])
        rest[i] = largest + np.log(total)


@kernel
def _log_rings(x):
    """log(1 − e^(−e^x)): how likely a clock of rate e^x has rung by time 1."""
    if x < -30.0:
        return x
    return np.log(-np.expm1(-np.exp(x))) if x < 3.7 else 0.0


@kernel(fastmath=REASSOC)
def _share(x):
    """Derivative of `_log_rings`."""
    e = exp(min(x, 6.5))
    return 1.0 if x < -30.0 else e / (exp(e) - 1.0)


@kernel
def _step(n):
    """Step of the integral for a block of n: the integrand gets narrower as 1/√n."""
    return min(0.25, 0.8 / np.sqrt(n + 1.0))


@kernel
def _log_density(z, s, log_rest):
    """Log of the integrand over the logarithm of time; concave."""
    w = z - np.exp(z)
    for i in range(s.size):
        w += _log_rings(z + s[i] - log_rest)
    return w


@kernel
def _block(s, log_rest, at, weights, slopes):
    """−log of the probability that all of a block come before everything lower; its slopes for s, minus their sum."""
    step = _step(s.size)
    peak = _LEFT
    largest = -np.inf
    for p in range(np.int64(np.log(1.0 + s.size) + 4.0 - _LEFT)):
        w = _log_density(_LEFT + p, s, log_rest)
        if w > largest:
            largest = w
            peak = _LEFT + p
    points = 0
    for side in range(2):  # from the peak to both sides, as far as it matters
        z = peak if side == 0 else peak - step
        while points < weights.size:
            w = _log_density(z, s, log_rest)
            if w < largest - _NOTHING:
                break
            largest = max(largest, w)
            at[points] = z
            weights[points] = w
            points += 1
            z += step if side == 0 else -step
    total = 0.0
    for p in range(points):
        weights[p] = np.exp(weights[p] - largest)
        total += weights[p]
    all_slopes = 0.0
    for i in range(s.size):
        slope = 0.0
        for p in range(points):
            slope += weights[p] * _share(at[p] + s[i] - log_rest)
        slopes[i] = slope / total
        all_slopes += slopes[i]
    return -(largest + np.log(total * step)), all_slopes


@kernel
def _set(lo, hi, offsets, scores, order, below, judged, weight, query_weight, value, gradient):
    n_max = most(lo, hi, judged)
    s = np.empty(n_max, np.float64)
    rest = np.empty(n_max, np.float64)
    slopes = np.empty(n_max, np.float64)
    at, weights = np.empty((2, np.int64(1.5 * (np.log(1.0 + n_max) + 10.0 - _LEFT) / _step(n_max))), np.float64)
    for q in range(lo, hi):
        a = offsets[q]
        n = judged[q]
        if n == 0 or below[a] == n:
            continue
        for i in range(n):
            s[i] = scores[order[a + i]]
        _rest(s[:n], rest[:n])
        loss = 0.0
        pull = 0.0  # Σ over the blocks above of their slope for log T, times e^(rest now − rest then)
        start = 0
        while start < n:
            stop = below[a + start]
            block = 0.0
            for i in range(start, stop):
                row = order[a + i]
                gradient[row] = pull * np.exp(s[i] - rest[start]) if start > 0 else 0.0
                block += weight[row] / (stop - start)
            if stop < n:
                own, total = _block(s[start:stop], rest[stop], at, weights, slopes)
                loss += block * own
                for i in range(start, stop):
                    gradient[order[a + i]] -= block * slopes[i - start]
                pull = (pull * np.exp(rest[stop] - rest[start]) if start > 0 else 0.0) + block * total
            start = stop
        value[q] = query_weight[q] * loss
        for i in range(n):
            gradient[order[a + i]] *= query_weight[q]


@kernel
def _best(lo, hi, offsets, scores, order, below, judged, weight, query_weight, value, gradient):
    n_max = most(lo, hi, judged)
    s, by_score, spare_keys, spare_rows = sorting_memory(n_max)
    rest = np.empty(n_max, np.float64)
    rows = np.empty(n_max, np.int64)
    for q in range(lo, hi):
        a = offsets[q]
        n = judged[q]
        if n == 0 or below[a] == n:
            continue
        start = 0
        while start < n:  # by label, and by score inside a block
            stop = below[a + start]
            for i in range(start, stop):
                s[i] = scores[order[a + i]]
            argsort_descending(s[start:stop], by_score, spare_keys, spare_rows, stop - start)
            for i in range(start, stop):
                rows[i] = order[a + start + by_score[i - start]]
            start = stop
        _rest(s[:n], rest[:n])
        loss = 0.0
        pull = 0.0
        for i in range(n):
            w = weight[rows[i]]
            loss += w * (rest[i] - s[i])
            pull = w + (pull * np.exp(rest[i] - rest[i - 1]) if i > 0 else 0.0)
            gradient[rows[i]] = query_weight[q] * (pull * np.exp(s[i] - rest[i]) - w)
        value[q] = query_weight[q] * loss


@dataclass(frozen=True, kw_only=True, repr=False)
class _OfAllowedOrders(Loss):
    """Losses over the orders that the labels allow."""

    curvature: ClassVar[str] = "none"
    rows_per_thread = 1000

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """The order of the labels among the documents that count, and the weights."""
        data, weight = bound.data, bound.sample_weight
        if data.y is None:
            raise LossError("a loss over the orders that labels allow needs labels")
        counted = data.replace(y=np.where(weight > 0, data.labels, -1.0))
        return *label_order(counted, bound.n_jobs), weight, bound.query_weight


@dataclass(frozen=True, kw_only=True, repr=False)
class ListMLESet(_OfAllowedOrders):
    r"""Negative log-probability of an order consistent with the labels under the Plackett–Luce model.

    .. math:: L = -\log \sum_{\pi \in \Omega_y} P(\pi \mid s)
              = -\sum_b \log \int_0^1 \prod_{i \in b} \big(1 - x^{e^{s_i} / T_b}\big)\,dx,
              \quad T_b = \sum_{l_j < l_b} e^{s_j}

    where :math:`\Omega_y` contains all orders in which higher labels come first, and the sum is over the blocks b of
    equal labels except the lowest: a block is above everything lower if the last of its exponential clocks rings before
    the first of theirs. The book's average likelihood :math:`1/|\Omega_y| \sum P` differs by the constant :math:`\log
    |\Omega_y|`, which has no gradient and would make a perfect ranking cost something. Without ties in the labels it is
    ListMLE. The integral is taken numerically in the logarithm of time, to about 1e-12. Documents of weight 0 are
    ignored; the weight of a block is the mean weight of its documents.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0])
    >>> round(ListMLESet()(np.zeros(2), data), 4)  # log 2
    0.6931

    References
    ----------
    Xia, Liu, Wang, Zhang, Li: Listwise approach to learning to rank: theory and algorithm. ICML 2008.
    """

    name: ClassVar[str] = "ListMLESet"
    convex: ClassVar[bool] = True
    kernel = staticmethod(_set)


@dataclass(frozen=True, kw_only=True, repr=False)
class ListMLEBest(_OfAllowedOrders):
    r"""ListMLE of the most likely of the orders that the labels allow.

    .. math:: L = \min_{\pi \in \Omega_y} -\log P(\pi \mid s)

    The minimum is at the order by label and, among equal labels, by score. It is continuous, with a kink where two
    documents of equal label have equal scores. Documents of weight 0 are ignored; each rank has the weight of its
    document (the order is still by score). A query whose labels are all equal has loss 0.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0])
    >>> round(ListMLEBest()(np.zeros(2), data), 4)  # log 2
    0.6931

    References
    ----------
    Xia, Liu, Wang, Zhang, Li: Listwise approach to learning to rank: theory and algorithm. ICML 2008.
    """

    name: ClassVar[str] = "ListMLEBest"
    smooth: ClassVar[bool] = False
    kernel = staticmethod(_best)

    def bounds_of(self, measure: Measure) -> Iterable[KnownBound]:
        """Bounds by the likelihood of the best order."""
        return likelihood_bounds(self, measure)
