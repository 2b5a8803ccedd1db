"""Relevance and novelty, learned together: Plackett–Luce over prefixes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number, whole_or_none
from plackett._base.estimator import clone
from plackett._base.search_space import Real, SearchSpace
from plackett._kernels.kernel import kernel, over_queries
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.data.moments import spread
from plackett.data.relation_builders.neighbours import Neighbours
from plackett.data.weights import given_or_ones
from plackett.rankers.base import Ranker
from plackett.rankers.blend import Blend, spread_within_lists
from plackett.rankers.gradient_ranker import GradientRanker
from plackett.rankers.wrapper import base_ranker
from plackett.scorers.blend import BlendScorer
from plackett.scorers.linear import LinearScorer
from plackett.scorers.relations.lookup import relation_of
from plackett.scorers.sequential_diversity import NOVELTY, Near, SequentialDiversityScorer, decoded, similarities
from plackett.solvers.monitor import Monitor
from plackett.solvers.quasi_newton import quasi_newton

__all__ = ["SequentialDiversity"]


@dataclass(kw_only=True, eq=False, repr=False)
class SequentialDiversity(Ranker):
    r"""Chooses documents one by one, relevant and unlike those above, with weights learned from judged subtopics,

    .. math:: P(\pi) = \prod_{i=1}^{k} \frac{\exp g(\pi_i, S_{i-1})}{\sum_{d \notin S_{i-1}} \exp g(d, S_{i-1})}, \qquad
              g(d, S) = w \cdot x_d + v_1 \max_{s \in S} \operatorname{sim}(d, s)
              + v_2 \operatorname{mean}_{s \in S} \operatorname{sim}(d, s)

    with :math:`S_{i-1}` the documents above rank i. Training maximises the likelihood of the ideal orders, which
    greedily gain most by α-nDCG from the judged subtopics, up to the last document with a gain. The problem is convex
    in (w, v). Prediction takes the document with the largest g at each rank, the first row among equals; the scores are
    the ranks, counted from the end. With v = 0 it is ListMLE. Without subtopics the labels determine the ideal order,
    and there is nothing to learn about novelty.

    Parameters
    ----------
    base
        None learns a weight for each feature. A ranker, or its name, is trained on the labels first, and its score is
        the only feature.
    relation
        Similarity of documents, from 0 to 1: name of a relation of the dataset, or a builder. One direction is enough.
    k
        Number of ranks to learn from; None for all.
    gain_alpha
        α of α-nDCG: how much a subtopic loses each time it is repeated in the ideal order.
    alpha
        Penalty of the weights, for standardised features.
    max_iter, tol
        Maximum number of iterations of L-BFGS, and the change at which to stop.

    Attributes
    ----------
    novelty_
        Learned weights v of the largest and of the mean similarity; negative if repetition is unwelcome.

    Examples
    --------
    >>> import plackett as pk
    >>> X, y, subtopics = [[2.0], [1.9], [1.0]], [1, 1, 1], [[1, 0], [1, 0], [0, 1]]
    >>> alike = {"similarity": pk.Relation.from_pairs([(0, 1), (1, 0)])}
    >>> data = pk.RankingDataset.from_arrays(X, y, [1, 1, 1], subtopics=subtopics, relations=alike)
    >>> ranker = SequentialDiversity(alpha=0.1).fit(data)
    >>> ranker.rank(data).tolist(), bool(ranker.novelty_[0] < 0)
    ([1, 3, 2], True)

    References
    ----------
    Zhu, Lan, Guo, Cheng, Niu: Learning for search result diversification. SIGIR 2014.
    """

    effort: ClassVar[str | None] = "max_iter"
    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-3, 1.0, log=True)}
    _test_settings: ClassVar[dict[str, Any]] = {"relation": Neighbours(k=3), "max_iter": 25}

    base: Any = None
    relation: Any = "similarity"
    k: int | None = 20
    gain_alpha: float = 0.5
    alpha: float = 1e-2
    max_iter: int = 200
    tol: float = 1e-7

    @property
    def allow_nan(self) -> bool:  # type: ignore[override]
        """Whether NaN features are treated as missing values: if the ranker inside does."""
        return self.base is not None and base_ranker(self.base).allow_nan

    def parts(self) -> list[Ranker]:
        """The ranker inside, as given."""
        return [] if self.base is None else [base_ranker(self.base)]

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        for name in ("alpha", "gain_alpha"):
            number(name, getattr(self, name), least=0.0)
        whole_or_none("k", self.k, least=1)
        member = None
        if self.base is not None:
            member = clone(base_ranker(self.base))
            member.n_jobs, member.verbose = self.n_jobs, False
            if member.fit_prepared(data, monitor.valid).interrupted:
                raise KeyboardInterrupt
        table = _table(member, data)
        if member is None:
            scale = spread(table.astype(np.float32), data.row_weight)
        else:
            scale = np.array([spread_within_lists(table[:, 0], data)])
        function = PrefixLikelihood(
            data, table / scale, self._near(data), *ideal_orders(data, self.k, self.gain_alpha), n_jobs=self.n_jobs
        )
        valid: Any = None
        if monitor.valid is not None:
            valid = monitor.valid, _table(member, monitor.valid) / scale, self._near(monitor.valid)
        start = np.zeros(table.shape[1] + len(NOVELTY))
        best, total = start.copy(), function.total

        def objective(weights: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = function.evaluate(weights)
            return value / total + 0.5 * self.alpha * float(weights @ weights), gradient / total + self.alpha * weights

        def stop(weights: np.ndarray) -> bool:
            own, novelty = weights[: -len(NOVELTY)], weights[-len(NOVELTY) :]
            better, enough = monitor.judge(
                lambda _: decoded(valid[0].offsets, valid[1] @ own, novelty, valid[2], self.n_jobs)
            )
            if better:
                best[:] = weights
            return enough

        with monitor.training(self.max_iter, "SequentialDiversity"):
            quasi_newton(objective, start, stop, maxiter=self.max_iter, ftol=self.tol * 1e-2, gtol=self.tol)
            if monitor.n_rounds == 0:  # there was nothing to do
                stop(start)
        relevance = self._relevance(member, best[: -len(NOVELTY)] / scale, data)
        self.scorer_ = SequentialDiversityScorer((relevance,), self.relation, best[-len(NOVELTY) :].copy())

    @property
    def novelty_(self) -> np.ndarray:
        """Learned weights of the largest and of the mean similarity."""
        self.check_fitted()
        return self.scorer_.novelty  # type: ignore[no-any-return]

    def _near(self, data: RankingDataset) -> Near:
        return similarities(relation_of(data, self.relation, type(self).__name__, self.n_jobs), data.n_rows)

    def _relevance(self, member: Ranker | None, weights: np.ndarray, data: RankingDataset) -> Ranker:
        """The part w·x as a ranker."""
        ranker: Ranker
        if member is None:
            ranker = GradientRanker(loss="ListMLE", n_jobs=self.n_jobs)
            ranker.scorer_ = LinearScorer(weights[:, None], np.zeros(1))
        else:
            ranker = Blend(members=(clone(member),), n_jobs=self.n_jobs)
            ranker.weights_ = np.ones(1)
            ranker.scorer_ = BlendScorer((member,), weights)
        ranker.note_training(data, Monitor())
        return ranker


def _table(member: Ranker | None, data: RankingDataset) -> np.ndarray:
    return dense(data.X).astype(np.float64) if member is None else member.score_rows(data)[:, None]


def ideal_orders(data: RankingDataset, k: int | None, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows of each query in the order that greedily gains most, and how many of them gain anything.

    The gain is that of α-nDCG, from judged subtopics or, without any, the label itself above the lowest of the query.
    Equal gains are ordered by label, then by row. Documents that are unjudged or have weight 0 are left out.
    """
    placed = data.labels >= 0
    if data.sample_weight is not None:
        placed &= data.sample_weight > 0
    labels = np.where(placed, data.labels, -1.0)
    if data.subtopics is None:
        gains = np.empty((data.n_rows, 0))
    else:
        gains = (np.nan_to_num(data.subtopics, nan=0.0) > 0).astype(np.float64)
    order, length = np.tile(-1, data.n_rows), np.zeros(data.n_queries, np.int64)
    most = int(data.group.max(initial=0)) if k is None else k
    over_queries(_ideal, data.offsets, gains, labels, 1.0 - alpha, most, order, length)
    return order, length


class PrefixLikelihood:
    """Negative log likelihood of orders under the sequential model, and its gradient for (w, v)."""

    def __init__(
        self,
        data: RankingDataset,
        x: np.ndarray,
        near: tuple[np.ndarray, np.ndarray, np.ndarray],
        order: np.ndarray,
        length: np.ndarray,
        n_jobs: int | None = None,
    ) -> None:
        self.data, self.x, self.near, self.n_jobs = data, np.ascontiguousarray(x), near, n_jobs
        self.order, self.length = order, length
        weight = given_or_ones(data.sample_weight, data.n_rows)
        self.weight = np.where(data.labels >= 0, weight, 0.0)
        query_weight = given_or_ones(data.query_weight, data.n_queries)
        self.query_weight = query_weight
        self.total = max(float(query_weight.sum()), np.finfo(float).tiny)

    def evaluate(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Sum over queries, and its gradient."""
        own, novelty = weights[: -len(NOVELTY)], weights[-len(NOVELTY) :]
        n = self.data.n_queries
        value, slope, tilt = np.zeros(n), np.zeros(self.data.n_rows), np.zeros((n, len(NOVELTY)))
        over_queries(
            _likelihood, self.data.offsets, self.x @ own, np.ascontiguousarray(novelty), *self.near, self.order,
            self.length, self.weight, self.query_weight, value, slope, tilt, n_jobs=self.n_jobs, rows_per_thread=2000,
        )  # fmt: skip
        return float(value.sum()), np.concatenate([self.x.T @ slope, tilt.sum(axis=0)])


@kernel
def _ideal(lo, hi, offsets, gains, labels, keep, most, order, length):
    worth = np.empty(gains.shape[1])
    for q in range(lo, hi):
        first, last = offsets[q], offsets[q + 1]
        worth[:] = 1.0
        taken = np.zeros(last - first, np.bool_)
        lowest = np.inf
        for i in range(first, last):
            if labels[i] >= 0:
                lowest = min(lowest, labels[i])
        n_chosen = 0
        while n_chosen < min(most, last - first):
            best, best_gain = -1, 0.0
            for i in range(first, last):
                if taken[i - first] or labels[i] < 0:
                    continue
                gain = 0.0
                for t in range(worth.size):
                    gain += gains[i, t] * worth[t]
                if worth.size == 0:
                    gain = labels[i] - lowest
                if gain > best_gain or (gain == best_gain and best >= 0 and labels[i] > labels[best]):
                    best, best_gain = i, gain
            if best < 0:
                break
            taken[best - first] = True
            order[first + n_chosen] = best
            n_chosen += 1
            for t in range(worth.size):
                if gains[best, t] > 0:
                    worth[t] *= keep
        length[q] = n_chosen


@kernel
def _likelihood(
    lo, hi, offsets, relevance, novelty, pointers, other, near, order, length, weight, query_weight, value, slope, tilt
):
    for q in range(lo, hi):
        first, last = offsets[q], offsets[q + 1]
        n = last - first
        largest, total = np.zeros(n), np.zeros(n)
        left = np.empty(n, np.bool_)
        share = np.empty(n)
        for i in range(n):
            left[i] = weight[first + i] > 0
        for position in range(length[q]):
            chosen = order[first + position] - first
            if not left[chosen]:
                continue  # of weight 0
            seen = 1.0 / max(position, 1)
            top = -np.inf
            for i in range(n):
                if left[i]:
                    share[i] = relevance[first + i] + novelty[0] * largest[i] + novelty[1] * total[i] * seen
                    top = max(top, share[i])
            mass = 0.0
            at = share[chosen]
            for i in range(n):
                if left[i]:
                    share[i] = np.exp(share[i] - top)
                    mass += share[i]
            factor = query_weight[q] * weight[first + chosen]
            value[q] += factor * (np.log(mass) + top - at)
            for i in range(n):
                if left[i]:
                    pull = factor * share[i] / mass
                    if i == chosen:
                        pull -= factor
                    slope[first + i] += pull
                    tilt[q, 0] += pull * largest[i]
                    tilt[q, 1] += pull * total[i] * seen
            left[chosen] = False
            for p in range(pointers[first + chosen], pointers[first + chosen + 1]):
                i = other[p] - first
                largest[i] = max(largest[i], near[p])
                total[i] += near[p]
