"""A ranker that builds the order document by document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice, number, whole_or_none
from plackett._base.errors import DataError
from plackett._base.search_space import Real, SearchSpace
from plackett._kernels.kernel import kernel
from plackett._kernels.randomness import mix
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.data.moments import spread
from plackett.data.weights import given_or_ones
from plackett.losses.base import finite_gains
from plackett.rankers.base import Ranker
from plackett.rankers.diverse.sequential_diversity import ideal_orders
from plackett.scorers.pointer import PointerScorer, pointer_values
from plackett.solvers.monitor import Monitor
from plackett.solvers.quasi_newton import quasi_newton

__all__ = ["PointerRanker"]

_TRAINING = ("likelihood", "policy")
#: Largest number of features; more would make the table of interactions too large.
_MOST_FEATURES = 300


@dataclass(kw_only=True, eq=False, repr=False)
class PointerRanker(Ranker):
    r"""A policy that builds the order from the top, each choice depending on the documents chosen before,

    .. math:: P(\pi) = \prod_i \frac{\exp g(\pi_i \mid \pi_{<i})}{\sum_{d \text{ left}} \exp g(d \mid \pi_{<i})}, \qquad
              g(d \mid \pi_{<i}) = w \cdot x_d + x_d^\top M \bar x_{<i},

    where :math:`\bar x_{<i}` is the mean of the documents above rank i. With M = 0 it is the Plackett–Luce model, and
    decoding is sorting. Scores are the ranks in the decoded order, counted from the end.

    Parameters
    ----------
    training
        ``"likelihood"`` (teacher forcing: the likelihood of the orders of the labels; convex), or ``"policy"``: the
        same, followed by policy gradient on nDCG, with orders drawn from the policy, each compared with the others
        drawn for the same query.
    beam
        Prefixes kept while decoding; 1 is the greedy order.
    k
        Number of ranks to learn from, and the cut-off of nDCG; None for all.
    alpha
        Penalty of the weights, for standardised features.
    max_iter, tol
        For the likelihood: maximum number of iterations of L-BFGS, and the change at which to stop.
    n_epochs, n_samples, learning_rate
        For the policy gradient: passes over the data, orders drawn for each query (2 or more), and step size of Adam.

    Examples
    --------
    >>> ranker = PointerRanker().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Vinyals, Fortunato, Jaitly: Pointer networks. NIPS 2015.
    Bello, Kulkarni, Jain, Boutilier, Chi, Eban, Luo, Mackey, Meshi: Seq2Slate: re-ranking and slate optimization with
    RNNs. 2018.
    """

    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = "max_iter"
    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-3, 1.0, log=True)}
    _test_variants: ClassVar[tuple[dict[str, Any], ...]] = ({"beam": 3}, {"training": "policy", "n_epochs": 3})

    training: str = "likelihood"
    beam: int = 1
    k: int | None = 10
    alpha: float = 1e-2
    max_iter: int = 200
    tol: float = 1e-7
    n_epochs: int = 20
    n_samples: int = 8
    learning_rate: float = 0.02

    @property
    def one_at_a_time(self) -> bool:
        """Whether the draws depend on how often a query is given."""
        return self.training == "policy"

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        self._check()
        if data.n_features > _MOST_FEATURES:
            raise DataError(
                f"{data.n_features} features; PointerRanker takes {_MOST_FEATURES} at most, select some first"
            )
        scale = spread(data.X, data.row_weight)
        function = OrderLikelihood(data, dense(data.X).astype(np.float64) / scale)
        orders = ideal_orders(data.replace(subtopics=None), self.k, 0.5)
        d, total = data.n_features, function.total

        def scorer(parameters: np.ndarray) -> PointerScorer:
            return PointerScorer(parameters[:d].copy(), parameters[d:].reshape(d, d).copy(), scale, self.beam)

        def objective(parameters: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = function.evaluate(parameters, *orders)
            penalty = 0.5 * self.alpha * float(parameters @ parameters)
            return value / total + penalty, gradient / total + self.alpha * parameters

        def stop(parameters: np.ndarray) -> bool:
            return monitor.keep(scorer(parameters))

        start, policy = np.zeros(d + d * d), self.training == "policy"
        with monitor.training(self.max_iter + policy * self.n_epochs, "PointerRanker"):
            optimum = quasi_newton(objective, start, stop, maxiter=self.max_iter, ftol=self.tol * 1e-2, gtol=self.tol)
            if monitor.n_rounds == 0:  # there was nothing to do
                monitor.keep(scorer(start))
            if policy and not monitor.out_of_patience and not monitor.called_off:
                self._follow(function, data, optimum.x, monitor, scorer)
        self.scorer_ = monitor.best

    def _check(self) -> None:
        choice("training", self.training, _TRAINING)
        for name, least in (("beam", 1), ("k", 1), ("n_epochs", 1), ("n_samples", 2)):
            value = getattr(self, name)
            whole_or_none(name, value, least=least)
        number("alpha", self.alpha, least=0.0)

    def _follow(
        self, function: OrderLikelihood, data: RankingDataset, start: np.ndarray, monitor: Monitor, scorer: Any
    ) -> None:
        """Adam on the policy gradient."""
        gains = finite_gains(np.where(data.labels >= 0, data.labels, 0.0), "exp2", type(self).__name__)
        rng = np.random.default_rng(self.random_state)
        parameters, mean, square = start.copy(), np.zeros_like(start), np.zeros_like(start)
        for epoch in range(1, self.n_epochs + 1):
            gradient = function.policy_gradient(parameters, gains, self.k, self.n_samples, int(rng.integers(1 << 62)))
            gradient = gradient / function.total + self.alpha * parameters
            mean = 0.9 * mean + 0.1 * gradient
            square = 0.99 * square + 0.01 * gradient**2
            step = (mean / (1 - 0.9**epoch)) / (np.sqrt(square / (1 - 0.99**epoch)) + 1e-8)
            parameters = parameters - self.learning_rate * step
            if monitor.keep(scorer(parameters)):
                break


class OrderLikelihood:
    """Negative log likelihood of orders under the policy, its gradient, and the policy gradient of nDCG."""

    def __init__(self, data: RankingDataset, x: np.ndarray) -> None:
        self.data, self.x = data, np.ascontiguousarray(x)
        weight = given_or_ones(data.sample_weight, data.n_rows)
        self.weight = np.where(data.labels >= 0, weight, 0.0)
        self.query_weight = np.ones(data.n_queries) if data.query_weight is None else np.array(data.query_weight)
        self.total = max(float(self.query_weight.sum()), np.finfo(float).tiny)

    def evaluate(self, parameters: np.ndarray, order: np.ndarray, length: np.ndarray) -> tuple[float, np.ndarray]:
        """Sum over queries of −log P of the first ``length`` ranks of their orders, and its gradient."""
        d = self.x.shape[1]
        gradient, values = np.zeros(d + d * d), np.zeros(self.data.n_queries)
        _walk(self.data.offsets, self.x, parameters[:d], np.ascontiguousarray(parameters[d:].reshape(d, d)), order,
              length, self.weight, self.query_weight, values, gradient)  # fmt: skip
        return float(values.sum()), gradient

    def policy_gradient(
        self, parameters: np.ndarray, gains: np.ndarray, k: int | None, n_samples: int, seed: int
    ) -> np.ndarray:
        """Estimate of the gradient of −Σ nDCG@k from drawn orders, each compared with the mean of the others."""
        d = self.x.shape[1]
        table = np.ascontiguousarray(parameters[d:].reshape(d, d))
        drawn, rewards = [], []
        for sample in range(n_samples):
            order, reward = np.empty(self.data.n_rows, np.int64), np.zeros(self.data.n_queries)
            _draw(self.data.offsets, self.x, parameters[:d], table, self.weight, gains, k or 1 << 60, seed + sample,
                  order, reward)  # fmt: skip
            drawn.append(order)
            rewards.append(reward)
        values = np.array(rewards)
        advantage = (values - values.mean(axis=0)) * n_samples / (n_samples - 1)  # against the mean of the others
        gradient, nothing = np.zeros(d + d * d), np.zeros(self.data.n_queries)
        length = np.minimum(self.data.group, k or 1 << 60)
        ones = (self.weight > 0).astype(np.float64)
        for order, each in zip(drawn, advantage, strict=True):
            _walk(self.data.offsets, self.x, parameters[:d], table, order, length, ones,
                  self.query_weight * each / n_samples, nothing, gradient)  # fmt: skip
        return gradient


@kernel
def _walk(offsets, x, weights, matrix, order, length, weight, query_weight, value, gradient):
    """−log P of given orders; a step has the weight of its document, and documents of weight 0 are left out."""
    d = weights.size
    for q in range(offsets.size - 1):
        first, n = offsets[q], offsets[q + 1] - offsets[q]
        gone, context, g, pull = np.zeros(n, np.bool_), np.zeros(d), np.empty(n), np.empty(d)
        for i in range(n):
            gone[i] = weight[first + i] <= 0
        n_taken = 0
        for p in range(length[q]):
            chosen = order[first + p] - first
            if chosen < 0 or gone[chosen]:
                continue
            pointer_values(x, first, n, gone, context, n_taken, weights, matrix, g)
            top, mass = -np.inf, 0.0
            for i in range(n):
                if not gone[i]:
                    top = max(top, g[i])
            for i in range(n):
                if not gone[i]:
                    mass += np.exp(g[i] - top)
            factor = query_weight[q] * weight[first + chosen]
            value[q] += factor * (np.log(mass) + top - g[chosen])
            for j in range(d):
                pull[j] = -x[first + chosen, j]
            for i in range(n):
                if not gone[i]:
                    share = np.exp(g[i] - top) / mass
                    for j in range(d):
                        pull[j] += share * x[first + i, j]
            for j in range(d):
                gradient[j] += factor * pull[j]
                if n_taken > 0:
                    for t in range(d):
                        gradient[d + j * d + t] += factor * pull[j] * context[t] / n_taken
            gone[chosen] = True
            for j in range(d):
                context[j] += x[first + chosen, j]
            n_taken += 1


@kernel
def _draw(offsets, x, weights, matrix, weight, gains, k, seed, order, reward):
    """Draw an order of each query from the policy, by the largest g plus Gumbel noise; also returns its nDCG@k."""
    d, key = weights.size, mix(np.uint64(seed))
    for q in range(offsets.size - 1):
        first, n = offsets[q], offsets[q + 1] - offsets[q]
        gone, context, g = np.zeros(n, np.bool_), np.zeros(d), np.empty(n)
        kept = 0
        for i in range(n):
            gone[i] = weight[first + i] <= 0
            kept += not gone[i]
            order[first + i] = -1
        ideal = np.sort(gains[first : first + n])[::-1]
        best = 0.0
        for p in range(min(n, k)):
            best += ideal[p] / np.log2(2.0 + p)
        for position in range(min(kept, k)):
            pointer_values(x, first, n, gone, context, position, weights, matrix, g)
            chosen, most = -1, -np.inf
            for i in range(n):
                if not gone[i]:
                    key = mix(key)
                    uniform = (float(key >> np.uint64(11)) + 0.5) * 2.0**-53  # above 0 and below 1
                    noisy = g[i] - np.log(-np.log(uniform))
                    if noisy > most:
                        chosen, most = i, noisy
            order[first + position] = first + chosen
            gone[chosen] = True
            if best > 0.0:
                reward[q] += gains[first + chosen] / np.log2(2.0 + position) / best
            for j in range(d):
                context[j] += x[first + chosen, j]
