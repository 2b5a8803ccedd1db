"""Supervised rank aggregation by the coset-permutation distance based stagewise model."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries
from plackett._kernels.scratch import longest
from plackett.aggregation._pairs import count_pairs
from plackett.aggregation.base import Aggregation
from plackett.aggregation.lists import RankLists

__all__ = ["CPS"]

#: Costs that differ by less than this are equal.
_TIE = 1e-12


@dataclass(frozen=True, kw_only=True)
class CPS(Aggregation):
    r"""Coset-permutation distance based stagewise model: chooses documents one by one, best first.

    .. math:: P(\pi) = \prod_i \frac{e^{-\sum_m \theta_m c_m(\pi(i))}}{\sum_{j \ge i} e^{-\sum_m \theta_m c_m(\pi(j))}}

    The cost :math:`c_m(d)` is the number of documents not yet chosen that list m has above d (ties count half). With
    one list this is the Mallows model. `fit` finds the most probable θ, which may be negative for a reversed
    list. The score of a document tells at which stage it is the most probable choice: n for the first, n − 1, …
    Documents of equal cost are chosen together and share the mean of their ranks.

    Parameters
    ----------
    weights
        The θ of the lists; equal unless fitted.
    alpha
        Strength of an L2 penalty on θ, times the length of the longest list, in `fit`.
    unranked
        ``"below"``: the documents that a list lacks are tied at its end; ``"unknown"``: they cost nothing in that list.

    Notes
    -----
    In `fit`, each document is chosen against all documents of the same or a lower label, so the likelihood does not
    depend on the order of the rows. Without equal labels it is the model's likelihood. Its logarithm is concave in θ.

    Examples
    --------
    >>> lists = RankLists.from_orders({q: [list("abcd"), list("dcab")] for q in range(3)})
    >>> model = CPS().fit(lists, [2, 1, 0, 0] * 3)
    >>> bool(model.weights[0] > model.weights[1])
    True
    >>> model.scores(lists).tolist()[:4]
    [4.0, 3.0, 2.0, 1.0]

    References
    ----------
    Qin, Geng, Liu: A new probabilistic model for rank aggregation. NIPS 2010.
    """

    name: ClassVar[str] = "CPS"
    signed: ClassVar[bool] = True

    alpha: float = 1e-3
    unranked: str = "below"

    def __post_init__(self) -> None:
        number("CPS: alpha", self.alpha, least=0)

    def _scores(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        out = np.empty(lists.n_rows)
        places = lists.places(self.unranked)
        over_queries(
            _choose, lists.offsets, places.before, weights, out, n_jobs=n_jobs, rows_per_thread=PAIR_ROWS_PER_THREAD
        )
        return out

    def fit(self, lists: RankLists, judgements: Any, measure: Any = None, *, n_jobs: int | None = None) -> Self:
        """The model with the most probable θ on judged queries.

        Parameters
        ----------
        lists, judgements
            As in `Aggregation.fit`; documents without a label, or with one below 0, are left out.
        measure
            Not used: `fit` maximises the likelihood.
        """
        from scipy.optimize import minimize

        from plackett.aggregation.judged import judge

        labels = judge(lists, judgements).labels(lists.n_rows)
        scale = float(lists.group.max())
        objective = stagewise_objective(lists, labels, self.alpha, scale, unranked=self.unranked, n_jobs=n_jobs)
        optimum = minimize(objective, np.ones(lists.n_lists), jac=True, method="L-BFGS-B", options={"maxiter": 500})
        theta = optimum.x / scale
        if not theta.any():
            raise DataError("CPS: no judged query has documents of different labels; there is nothing to learn from")
        return dataclasses.replace(self, weights=tuple(theta.tolist()))


def stagewise_objective(
    lists: RankLists,
    labels: np.ndarray,
    alpha: float,
    scale: float,
    query_weight: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    unranked: str = "below",
    n_jobs: int | None = None,
) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """The objective of `CPS.fit`, with its gradient: mean of −log P over the queries, plus α/2 ‖θ · scale‖².

    It is a function of θ · scale: costs grow with the length of the lists, and scaling brings them close to 1.
    """
    share = np.ones(lists.n_queries) if query_weight is None else query_weight
    share = share / share.sum()

    def objective(scaled: np.ndarray) -> tuple[float, np.ndarray]:
        values, slopes = log_likelihood(lists, labels, scaled / scale, unranked, sample_weight, n_jobs)
        penalty = 0.5 * alpha * float(scaled @ scaled)
        return penalty - float(share @ values), alpha * scaled - (share @ slopes) / scale

    return objective


def log_likelihood(
    lists: RankLists,
    labels: np.ndarray,
    theta: np.ndarray,
    unranked: str = "below",
    sample_weight: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Log-likelihood of the labels of each query, and its gradient for θ (queries × lists).

    ``sample_weight`` is the weight of each document's choice; a document of weight 0 is left out.
    """
    labels = np.ascontiguousarray(labels, float)
    weight = np.ones(lists.n_rows) if sample_weight is None else np.ascontiguousarray(sample_weight, float)
    labels = np.where(weight > 0, labels, -1.0)
    values, slopes = np.zeros(lists.n_queries), np.zeros((lists.n_queries, lists.n_lists))
    before = lists.places(unranked).before
    theta = np.ascontiguousarray(theta, float)
    over_queries(
        _likelihood,
        lists.offsets,
        before,
        labels,
        weight,
        theta,
        values,
        slopes,
        n_jobs=n_jobs,
        rows_per_thread=PAIR_ROWS_PER_THREAD,
    )
    return values, slopes


@kernel
def _above(other, own):
    """1 if the first position is above the second, ½ if they are tied, 0 if one of them is unknown."""
    if other < 0 or own < 0 or other > own:
        return 0.0
    return 1.0 if other < own else 0.5


@kernel
def _choose(lo, hi, offsets, before, weights, out):
    n_max = longest(lo, hi, offsets)
    memory = np.empty(n_max * n_max, np.float64)
    cost = np.empty(n_max, np.float64)
    left = np.empty(n_max, np.bool_)
    chosen = np.empty(n_max, np.int64)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        charge = memory[: n * n].reshape(n, n)  # what the row costs the column while it is not chosen
        count_pairs(before, a, n, weights, cost, charge)
        for i in range(n):
            for j in range(i):
                tied = 0.0
                for m in range(weights.size):
                    if before[a + i, m] >= 0 and before[a + i, m] == before[a + j, m]:
                        tied += 0.5 * weights[m]
                charge[i, j] += tied
                charge[j, i] += tied
        cost[:n] = 0.0
        for i in range(n):
            for j in range(n):
                cost[j] += charge[i, j] if i != j else 0.0
        left[:n] = True
        stage = 0
        while stage < n:
            least = np.inf
            for i in range(n):
                if left[i]:
                    least = min(least, cost[i])
            tied = 0
            for i in range(n):
                if left[i] and cost[i] <= least + _TIE:
                    chosen[tied] = i
                    tied += 1
            for t in range(tied):
                best = chosen[t]
                left[best] = False
                out[a + best] = n - stage - 0.5 * (tied - 1)
                for i in range(n):
                    cost[i] -= charge[best, i]
            stage += tied


@kernel
def _likelihood(lo, hi, offsets, before, labels, weight, theta, values, slopes):
    n_max = longest(lo, hi, offsets)
    n_lists = theta.size
    cost = np.empty((n_max, n_lists), np.float64)
    mean = np.empty(n_lists, np.float64)
    left = np.empty(n_max, np.bool_)
    score = np.empty(n_max, np.float64)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        cost[:n] = 0.0
        for i in range(n):
            left[i] = labels[a + i] >= 0.0
        for i in range(n):
            for j in range(n):
                if i != j and left[i] and left[j]:
                    for m in range(n_lists):
                        cost[i, m] += _above(before[a + j, m], before[a + i, m])
        while True:
            top = -1.0
            lowest = np.inf
            for i in range(n):
                if left[i]:
                    top = max(top, labels[a + i])
                    lowest = min(lowest, labels[a + i])
            if top <= lowest:  # nothing left to distinguish
                break
            largest = -np.inf
            for i in range(n):
                if left[i]:
                    score[i] = 0.0
                    for m in range(n_lists):
                        score[i] -= theta[m] * cost[i, m]
                    largest = max(largest, score[i])
            total = 0.0
            mean[:] = 0.0
            for i in range(n):
                if left[i]:
                    chance = np.exp(score[i] - largest)
                    total += chance
                    for m in range(n_lists):
                        mean[m] += chance * cost[i, m]
            for i in range(n):
                if left[i] and labels[a + i] == top:
                    values[q] += weight[a + i] * (score[i] - largest - np.log(total))
                    for m in range(n_lists):
                        slopes[q, m] += weight[a + i] * (mean[m] / total - cost[i, m])
            for i in range(n):
                if left[i] and labels[a + i] == top:
                    left[i] = False
                    for j in range(n):
                        if left[j]:
                            for m in range(n_lists):
                                cost[j, m] -= _above(before[a + i, m], before[a + j, m])
