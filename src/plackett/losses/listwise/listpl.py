"""ListPL: likelihood of orders drawn from the labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number, whole, whole_or_none
from plackett._base.errors import LossError
from plackett._kernels.kernel import kernel
from plackett._kernels.log_sum import add_exp
from plackett._kernels.randomness import mix
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett.losses.base import Loss, LossOnData, finite_gains
from plackett.losses.listwise.draws import label_key, unit
from plackett.measures.gains import check_gain
from plackett.measures.ranking import Scored

__all__ = ["ListPL"]


@kernel
def _listpl(lo, hi, offsets, scores, labels, rows, target, learns, n_samples, k, seed, gradient, curvature):
    n_max = longest(lo, hi, offsets)
    rest = np.empty(n_max, np.float64)
    keys, order, spare_keys, spare_rows = sorting_memory(n_max)
    judged = np.empty(n_max, np.int64)
    for q in range(lo, hi):
        if learns[q] == 0.0:
            continue
        a = offsets[q]
        b = offsets[q + 1]
        state = label_key(labels[a:b], seed)
        for _ in range(n_samples):
            n = 0
            for i in range(a, b):  # best score first, so that the draws go with documents and not with rows
                state = mix(state)
                if not np.isnan(target[rows[i]]):
                    keys[n] = target[rows[i]] - np.log(-np.log(unit(state)))  # Gumbel noise makes it Plackett–Luce
                    judged[n] = rows[i]
                    n += 1
            argsort_descending(keys, order, spare_keys, spare_rows, n)
            largest = -np.inf
            total = 0.0
            for i in range(n - 1, -1, -1):  # log Σ e^s of a position and everything below it
                largest, total = add_exp(largest, total, scores[judged[order[i]]])
                rest[i] = largest + np.log(total)
            first = 0.0
            second = 0.0
            for i in range(n):
                row = judged[order[i]]
                drawn = 1.0 if i < k and keys[i] > -np.inf else 0.0  # documents of weight 0 come last, undrawn
                fade = np.exp(rest[i] - rest[i - 1]) if i > 0 else 0.0
                first = first * fade + drawn
                second = second * fade * fade + drawn
                p = np.exp(scores[row] - rest[i])
                gradient[row] += learns[q] * (p * first - drawn)
                curvature[row] += learns[q] * p * max(first - p * second, 0.0)


@dataclass(frozen=True, kw_only=True, repr=False)
class ListPL(Loss):
    r"""Gradient of the negative log-likelihood of orders drawn from the Plackett–Luce model of the labels.

    .. math:: -\frac1N \sum_{t=1}^{N} \nabla \log P_s(\pi_t), \qquad
              \pi_t \sim P_y, \quad P_y \propto w_j e^{g(y_j) / \tau} \text{ at each draw}

    Labels are treated as uncertain: documents with equal labels come in either order, and close labels are sometimes
    swapped. In expectation it is the gradient of `ListNetTopKLoss` on whole orders, at the cost of `ListMLELoss`. It is
    a gradient without a value, as the orders are redrawn whenever the ranking changes. They are a function of the seed
    and of the labels in the order of the scores, and do not depend on the order of rows or queries. A query whose
    labels are all equal has gradient 0.

    Parameters
    ----------
    k
        Only the first k ranks of a drawn order count; None uses all.
    target, temperature
        g and τ: the lower the temperature, the more certain the order of the labels.
    n_samples
        Number N of orders.
    random_state
        Seed.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [3, 0])
    >>> gradient, _ = ListPL(temperature=0.01).gradient(np.zeros(2), data)  # in effect always this order
    >>> gradient.tolist()
    [-0.5, 0.5]

    References
    ----------
    Jagerman, Kiseleva, de Rijke: Modeling label ambiguity for neural list-wise learning to rank. Neu-IR 2017.
    """

    name: ClassVar[str] = "ListPL"
    has_value: ClassVar[bool] = False
    smooth: ClassVar[bool] = False
    curvature: ClassVar[str] = "surrogate"
    _test_variants = ({"k": 2, "n_samples": 3}, {"target": "exp2", "temperature": 3.0, "random_state": 5})
    kernel = staticmethod(_listpl)

    k: int | None = None
    target: Any = "linear"
    temperature: float = 1.0
    n_samples: int = 1
    random_state: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", check_gain(self.target, self.name, "target"))
        whole_or_none(f"{self.name}: k", self.k, least=1, error=LossError)
        number(f"{self.name}: temperature", self.temperature, above=0, error=LossError)
        whole(f"{self.name}: n_samples", self.n_samples, least=1, error=LossError)

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """Logarithms of the targets (NaN for ignored documents), and the weight of each query with unequal labels."""
        data = bound.data
        exponent = finite_gains(data.labels, self.target, self.name) / self.temperature
        with np.errstate(divide="ignore"):
            target = exponent + np.log(bound.sample_weight)
        target[data.labels < 0] = np.nan
        judged = np.where(data.labels >= 0, data.labels, np.nan)
        learns = np.zeros(data.n_queries)
        some = np.flatnonzero(data.group > 0)
        if some.size:
            spread = np.fmax.reduceat(judged, data.offsets[some]) > np.fmin.reduceat(judged, data.offsets[some])
            learns[some] = bound.query_weight[some] * spread / self.n_samples
        k = self.k or max(int(data.group.max(initial=1)), 1)
        return target, learns, self.n_samples, k, np.uint64(self.random_state)

    def derivatives(self, bound: LossOnData, scores: np.ndarray, value: bool) -> tuple[Any, Any, Any]:
        """Those for orders drawn anew for the ranking by these scores."""
        ranked = Scored(bound.data, scores, n_jobs=bound.n_jobs).ranking("optimistic")
        return bound.run(_listpl, scores, ranked.labels, ranked.rows, *bound.constants)
