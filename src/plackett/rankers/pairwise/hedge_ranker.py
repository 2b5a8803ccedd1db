"""Learning to order things: features vote on pairs, and Hedge weighs their votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import whole
from plackett._base.search_space import Integer, SearchSpace
from plackett.aggregation.orderings.named import find_ordering
from plackett.data.dataset import RankingDataset
from plackett.rankers.base import Ranker
from plackett.rankers.pairwise._experts import expert_losses
from plackett.scorers.comparators.experts import ExpertsComparator
from plackett.scorers.ordered import OrderedScorer
from plackett.solvers.hedge import hedge, hedge_beta
from plackett.solvers.monitor import Monitor

__all__ = ["HedgeRanker"]


@dataclass(kw_only=True, eq=False, repr=False)
class HedgeRanker(Ranker):
    r"""Learning to order things: every feature is an expert that orders the documents, and Hedge weighs the experts.

    .. math:: h(u, v) = \sum_t w_t h_t(u, v), \qquad h_t(u, v) = \mathrm{sign}(x_{u,t} - x_{v,t}),

    with an expert for each feature and one for its opposite. A round is a query: an expert's loss is the weighted mean
    of :math:`(1 - h_t(u, v)) / 2` over its pairs, and its weight is multiplied by β to the power of the loss. The
    cumulated loss of h is at most that of the best expert times ln(1/β)/(1 − β), plus ln T/(1 − β) (`hedge_bound`).
    Only the order within each feature counts; a missing value (NaN) abstains. Lists are built from the weighted votes
    by greedy ordering. Without validation data all rounds are used.

    Parameters
    ----------
    beta
        How fast the weights follow the losses: near 0 the best expert soon has all the weight, near 1 the weights
        hardly change. None uses the β with the best bound for this number of rounds and experts.
    average
        Use the mean of the weights of all rounds; the bound on the cumulative loss then also holds in expectation for
        new queries. False uses the last weights.
    passes
        Number of passes over the queries.
    order
        ``"greedy"``, ``"degree"``, ``"quicksort"``, ``"exact"``, or an ordering such as ``QuickSort(k=10)``.

    Attributes
    ----------
    losses_
        Loss of the weighted experts in each round; the order of the queries is drawn anew for each pass.
    expert_losses_
        Cumulative loss of each expert: the features, then their opposites.
    beta_
        The β that was used.

    Examples
    --------
    >>> X, y = [[3.0, 1.0], [1.0, 2.0], [0.5, 3.0]] * 2, [2, 1, 0] * 2
    >>> ranker = HedgeRanker(beta=0.1).fit(X, y, qid=[1, 1, 1, 2, 2, 2])
    >>> ranker.rank([[10.0, 0.0], [20.0, 0.0]], qid=[1, 1])
    array([2, 1])

    References
    ----------
    Cohen, Schapire, Singer: Learning to order things. Journal of Artificial Intelligence Research 1999.
    """

    takes_preferences: ClassVar[bool] = True
    allow_nan: ClassVar[bool] = True
    effort: ClassVar[str | None] = "passes"
    search_space: ClassVar[SearchSpace] = {"passes": Integer(1, 100, log=True)}
    #: A query of weight 2 is one round with twice the loss, not two rounds.
    one_at_a_time: ClassVar[bool] = True
    # an order alone does not show that the weights of a few votes changed a little; degrees do. After one pass there
    # would be as many losses as queries, but they are by round
    _test_settings: ClassVar[dict[str, Any]] = {"order": "degree", "passes": 2}

    beta: float | None = None
    average: bool = True
    passes: int = 1
    order: Any = "greedy"

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        whole("passes", self.passes, least=1)
        ordering = find_ordering(self.order, random_state=self.random_state)
        losses = _rounds(data, self.n_jobs)
        n_experts = losses.shape[1]
        self.beta_ = hedge_beta(len(losses), n_experts) if self.beta is None else self.beta
        rng = np.random.default_rng(self.random_state)
        total, weights, round_losses = np.zeros(n_experts), np.full(n_experts, 1.0 / n_experts), []
        start = self._scorer(weights, ordering)
        with monitor.training(self.passes, "Hedge"):
            for done in range(1, self.passes + 1):
                run = hedge(losses[rng.permutation(len(losses))], self.beta_, start=weights)
                weights = run.weights[-1]
                total += run.weights[:-1].mean(axis=0) if len(losses) else weights
                round_losses.append(run.losses)
                if monitor.keep(self._scorer(total / done if self.average else weights, ordering)):
                    break
        self.losses_ = np.concatenate(round_losses or [np.empty(0)])
        self.expert_losses_ = losses.sum(axis=0) * len(round_losses)
        self.scorer_ = monitor.best or start

    def _scorer(self, weights: np.ndarray, ordering: Any) -> OrderedScorer:
        d = weights.size // 2
        return OrderedScorer(ExpertsComparator(weights[:d] - weights[d:]), ordering)


def _rounds(data: RankingDataset, n_jobs: int | None) -> np.ndarray:
    """Losses of the features, then of their opposites, in each query that has pairs; a query's weight scales them."""
    lost, total = expert_losses(data, n_jobs)
    some = total > 0
    share = lost[some] / total[some, None]
    scale = np.ones(some.sum()) if data.query_weight is None else data.query_weight[some]
    scale = scale / max(float(scale.mean()) if scale.size else 1.0, np.finfo(float).tiny)
    return np.hstack([share, 1.0 - share]) * scale[:, None]
