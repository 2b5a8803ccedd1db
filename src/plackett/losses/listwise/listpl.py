"""ListPL: likelihood of orders drawn from the labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import LossError
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.randomness import mix
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss, finite_gains
from plackett.losses.listwise._draws import label_key, unit
from plackett.measures.gains import check_gain
from plackett.measures.ranking import Scored

__all__ = ["ListPLLoss"]


@dataclass(frozen=True, kw_only=True, repr=False)
class ListPLLoss(Loss):
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
    >>> gradient, _ = ListPLLoss(temperature=0.01).gradient(np.zeros(2), data)  # in effect always this order
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

    k: int | None = None
    target: Any = "linear"
    temperature: float = 1.0
    n_samples: int = 1
    random_state: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", check_gain(self.target, self.name, "target"))
        if self.k is not None and self.k < 1:
            raise LossError(f"{self.name}: k={self.k}; give a positive number of ranks, or None for all")
        if not self.temperature > 0:
            raise LossError(f"{self.name}: temperature={self.temperature}; give a positive number")
        if self.n_samples < 1:
            raise LossError(f"{self.name}: n_samples={self.n_samples}; give a positive number of orders")

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The gradient on one dataset."""
        return _Bound(self, data, n_jobs)


class _Bound(BoundLoss):
    def __init__(self, loss: ListPLLoss, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.loss = loss
        exponent = finite_gains(data.labels, loss.target, loss.name) / loss.temperature
        with np.errstate(divide="ignore"):
            self.target = exponent + np.log(self.sample_weight)
        self.target[data.labels < 0] = np.nan  # ignored
        judged = np.where(data.labels >= 0, data.labels, np.nan)
        self.learns = np.zeros(data.n_queries)
        some = np.flatnonzero(data.group > 0)
        if some.size:
            spread = np.fmax.reduceat(judged, data.offsets[some]) > np.fmin.reduceat(judged, data.offsets[some])
            self.learns[some] = self.query_weight[some] * spread / loss.n_samples
        self.k = loss.k or max(int(data.group.max(initial=1)), 1)

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gradient and curvature per score; zeros for the value, as there is none."""
        out = self._buffers()
        ranked = Scored(self.data, scores, n_jobs=self.n_jobs).ranking("optimistic")
        over_queries(
            _listpl,
            self.data.offsets,
            scores,
            self.target,
            ranked.labels,
            ranked.rows,
            self.learns,
            self.loss.n_samples,
            self.k,
            np.uint64(self.loss.random_state),
            *out[1:],
            n_jobs=self.n_jobs,
        )
        return out


@kernel
def _listpl(  # type: ignore[no-untyped-def]
    lo, hi, offsets, scores, target, labels, rows, learns, n_samples, k, seed, gradient, curvature
):
    n_max = longest(lo, hi, offsets)
    keys, spare_keys, rest = np.empty(n_max, np.float64), np.empty(n_max, np.float64), np.empty(n_max, np.float64)
    order = np.empty(n_max, np.int64)
    spare_rows = np.empty(n_max, np.int64)
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
                s = scores[judged[order[i]]]
                if s <= largest:
                    total += np.exp(s - largest)
                else:
                    total = total * np.exp(largest - s) + 1.0
                    largest = s
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
