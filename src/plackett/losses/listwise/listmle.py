"""ListMLE: likelihood of the ideal order under the Plackett–Luce model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import whole_or_none
from plackett._base.errors import LossError
from plackett._kernels.kernel import kernel
from plackett._kernels.log_sum import add_exp
from plackett._kernels.scratch import most
from plackett.losses.base import Loss, LossOnData
from plackett.losses.bounds.known_bound import KnownBound
from plackett.losses.bounds.likelihood import likelihood_bounds
from plackett.losses.pairwise.base import label_order
from plackett.measures.base import Measure
from plackett.measures.gains import check_discount, discount_table

__all__ = ["ListMLELoss"]


@kernel
def _listmle(lo, hi, offsets, scores, order, below, judged, weight, query_weight, upto, value, gradient, curvature):
    n_max = most(lo, hi, judged)
    s = np.empty(n_max, np.float64)
    rest = np.empty(n_max, np.float64)
    for q in range(lo, hi):
        a = offsets[q]
        n = judged[q]
        if n == 0 or below[a] == n:
            continue  # one label only: no order
        largest = -np.inf
        total = 0.0
        for i in range(n - 1, -1, -1):  # log Σ e^s of a position and everything below it, relative to their largest
            s[i] = scores[order[a + i]]
            largest, total = add_exp(largest, total, s[i])
            if i == 0 or below[a + i - 1] == i:
                rest[i] = largest + np.log(total)
        loss = 0.0
        first = 0.0  # Σ over the blocks so far of weight · e^(rest now − rest then), and of its second power
        second = 0.0
        start = 0
        while start < n:
            stop = below[a + start]
            share = (upto[stop] - upto[start]) / (stop - start) if stop < n else 0.0
            block = 0.0
            for i in range(start, stop):
                w = share * weight[order[a + i]]
                block += w
                loss += w * (rest[start] - s[i])
            for i in range(start, stop):
                row = order[a + i]
                p = np.exp(s[i] - rest[start])
                gradient[row] = query_weight[q] * (p * (first + block) - share * weight[row])
                curvature[row] = query_weight[q] * p * (first + block - p * (second + block))
            if stop < n:
                shrink = np.exp(rest[stop] - rest[start])
                first = (first + block) * shrink
                second = (second + block) * shrink * shrink
            start = stop
        value[q] = query_weight[q] * loss


@dataclass(frozen=True, kw_only=True, repr=False)
class ListMLELoss(Loss):
    r"""Negative log-likelihood of the ideal order under the Plackett–Luce model.

    .. math:: L = \sum_{r=1}^{k} \eta(r)\, w_{(r)} \Big( \log \sum_{t \ge r} e^{s_{(t)}} - s_{(r)} \Big)

    with (r) the document at rank r of the ideal order and η = 1 unless ranks are weighted. Documents with equal labels
    are not ordered among themselves: each is drawn from its own block and everything below (Breslow's form for ties, as
    in the Cox model), so that the result does not depend on the order of the rows. The lowest block adds nothing. With
    distinct labels this is ListMLE as published; a query whose labels are all equal has loss 0.

    Parameters
    ----------
    k
        Only the first k ranks count; a block that is cut counts by its share. None uses all.
    discount
        Weight η of each rank, so that the top of the list counts more: ``"none"``, ``"log2"``, ``"letor"``,
        ``"reciprocal"`` or a list of weights, as in nDCG. The ranks of a block share their mean weight.

    References
    ----------
    Xia, Liu, Wang, Zhang, Li: Listwise approach to learning to rank: theory and algorithm. ICML 2008.
    Lan, Zhu, Guo, Niu, Cheng: Position-aware ListMLE: a sequential learning process for ranking. UAI 2014.
    """

    name: ClassVar[str] = "ListMLE"
    convex: ClassVar[bool] = True
    _test_variants = ({"k": 1}, {"k": 3}, {"discount": "log2"}, {"discount": (1.0, 0.0, 3.0), "k": 5})
    kernel = staticmethod(_listmle)

    k: int | None = None
    discount: Any = "none"

    def __post_init__(self) -> None:
        object.__setattr__(self, "discount", check_discount(self.discount, self.name))
        whole_or_none(f"{self.name}: k", self.k, least=1, error=LossError)

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """The order of the labels, and the weight of the first i ranks."""
        ranks = discount_table(self.discount, int(bound.data.group.max(initial=1)))
        ranks[self.k or ranks.size :] = 0.0
        upto = np.concatenate(([0.0], np.cumsum(ranks)))
        return *label_order(bound.data, bound.n_jobs), bound.sample_weight, bound.query_weight, upto

    def bounds_of(self, measure: Measure) -> Iterable[KnownBound]:
        """Bounds by the likelihood of all ranks: with k or a discount, none is known."""
        return likelihood_bounds(self, measure) if self.k is None and self.discount == "none" else ()
