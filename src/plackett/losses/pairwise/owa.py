"""Ordered weighted averages of pair losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import LossError
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel
from plackett._kernels.scratch import most
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett.losses.base import Loss, LossOnData
from plackett.losses.pairwise.base import label_order

__all__ = ["OWA"]

#: Weights by name: functions from n to n unnormalised weights.
SCHEMES: dict[str, Callable[[int], np.ndarray]] = {
    "harmonic": lambda n: 1.0 / np.arange(1.0, n + 1.0),
    "uniform": np.ones,
}


@kernel
def _sum_to(sums, x):
    """Sum of the first x weights, x a real number: linear between whole numbers, constant after the last."""
    i = int(x)
    if i >= sums.size - 1:
        return sums[sums.size - 1]
    return sums[i] + (x - i) * (sums[i + 1] - sums[i])


@kernel
def _owa(
    lo,
    hi,
    offsets,
    scores,
    order,
    below,
    judged,
    weight,
    query_weight,
    sums,
    margin,
    normalize,
    value,
    gradient,
    curvature,
):
    n_max = most(lo, hi, judged)
    keys, by_score, spare_keys, spare_order = sorting_memory(n_max)
    for q in range(lo, hi):
        a = offsets[q]
        n = judged[q]
        if n == 0 or below[a] == n:
            continue  # one label only: no pairs
        for i in range(n):
            keys[i] = scores[order[a + i]]
        argsort_descending(keys, by_score, spare_keys, spare_order, n)  # the losses of all u fall in this order of v
        count = 0.0
        for u in range(n):
            if below[a + u] < n:
                count += weight[order[a + u]]
        scale = query_weight[q] / (count if normalize and count > 0.0 else 1.0)
        total = 0.0
        lower_mass = 0.0
        end = n
        for u in range(n - 1, -1, -1):
            first = below[a + u]
            while end > first:
                end -= 1
                lower_mass += weight[order[a + end]]
            row = order[a + u]
            if lower_mass == 0.0 or weight[row] == 0.0:
                continue
            factor = scale * weight[row] / _sum_to(sums, lower_mass)
            mass = 0.0
            done = 0.0
            for i in range(n):
                if scores[row] - keys[i] >= margin:
                    break
                if by_score[i] < first:
                    continue
                v = order[a + by_score[i]]
                mass += weight[v]
                here = _sum_to(sums, mass)
                share = factor * (here - done)
                done = here
                total += share * (margin - (scores[row] - keys[i]))
                gradient[v] += share
                gradient[row] -= share
                curvature[v] += share
                curvature[row] += share
                if done == sums[sums.size - 1]:
                    break
        value[q] = total


@dataclass(frozen=True, kw_only=True, repr=False)
class OWA(Loss):
    r"""Ordered weighted average of hinge pair losses

    .. math:: \sum_u \sum_t \alpha_t\, \ell_{u(t)}, \qquad \ell_{uv} = \max(0, \text{margin} - (s_u - s_v)),

    where :math:`\ell_{u(1)} \ge \ell_{u(2)} \ge \dots` are the losses of u against the documents v with lower labels
    from the largest on, and the weights are non-increasing and sum to 1. The more weight comes first, the more the loss
    focuses on the top of the list. One sort by score serves all u. Convex, not smooth; the curvature is a surrogate,
    the weight of the violated pairs.

    A document with sample weight w counts as w copies: w times among the v, and w times as u.

    Parameters
    ----------
    weights
        ``"harmonic"`` (:math:`\alpha_t \propto 1/t`), ``"uniform"`` (the mean over v), or a tuple of non-increasing
        numbers, padded with zeros: ``(1,)`` is the largest loss, ``(1, 1, 1)`` the mean of the three largest.
    margin
        Margin by which the better document should lead.
    normalize
        Divide the loss of a query by the number of documents u, so that queries with many do not dominate.

    Examples
    --------
    >>> import numpy as np, plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0, 0], qid=[1] * 3)
    >>> scores = np.array([0.0, 1.0, -2.0])  # losses 2 and 0
    >>> [OWA(weights=w)(scores, data) for w in ("uniform", (1,))]
    [1.0, 2.0]

    References
    ----------
    Usunier, Buffoni, Gallinari: Ranking with ordered weighted pairwise classification. ICML 2009.
    """

    name: ClassVar[str] = "OWA"
    approach: ClassVar[str] = "pairwise"
    smooth: ClassVar[bool] = False
    convex: ClassVar[bool] = True
    curvature: ClassVar[str] = "surrogate"
    _test_variants = (
        {"weights": "uniform", "normalize": True},
        {"weights": (1,)},
        {"weights": (3, 2, 2), "margin": 0.3},
    )
    kernel = staticmethod(_owa)
    rows_per_thread = PAIR_ROWS_PER_THREAD

    weights: Any = "harmonic"
    margin: float = 1.0
    normalize: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.weights, str):
            if self.weights not in SCHEMES:
                raise LossError(f"{self.name}: weights={self.weights!r}; give {', '.join(SCHEMES)} or numbers")
            return
        try:
            numbers = tuple(float(w) for w in self.weights)
        except (TypeError, ValueError):
            raise LossError(
                f"{self.name}: weights={self.weights!r:.80}; give {', '.join(SCHEMES)} or numbers"
            ) from None
        if not numbers or numbers[0] <= 0 or min(numbers) < 0 or (np.diff(numbers) > 0).any():
            raise LossError(
                f"{self.name}: weights={numbers}; give numbers of 0 or more, not growing, the first above 0"
            )
        object.__setattr__(self, "weights", numbers)

    def table(self, n: int) -> np.ndarray:
        """The first n weights at most, not yet normalised."""
        return SCHEMES[self.weights](n) if isinstance(self.weights, str) else np.array(self.weights[:n])

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """The order of the labels, and the sums of the first weights."""
        mass = np.bincount(bound.data.query_of_row, bound.sample_weight, bound.data.n_queries).max(initial=0.0)
        if mass > 1e8:
            raise LossError(f"{self.name}: the sample weights of a query sum to {mass:g}; scale them down")
        sums = np.concatenate([[0.0], np.cumsum(self.table(int(mass) + 1))])
        documents = *label_order(bound.data, bound.n_jobs), bound.sample_weight, bound.query_weight
        return *documents, sums, float(self.margin), self.normalize
