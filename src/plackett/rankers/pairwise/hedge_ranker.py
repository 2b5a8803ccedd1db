"""Learning to order things: features vote on pairs, and Hedge weighs their votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._errors import DataError
from plackett._kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries
from plackett.aggregation.orderings.named import find_ordering
from plackett.aggregation.orderings.preference import Preference
from plackett.data.dataset import RankingDataset
from plackett.models.base import Monitor
from plackett.models.hedge import hedge, hedge_beta
from plackett.models.networks.features import dense_rows
from plackett.models.search_space import Integer, SearchSpace
from plackett.rankers.base import Ranker
from plackett.rankers.pairwise._entries import pair_entries
from plackett.rankers.pairwise._ordered import OrderedScorer

__all__ = ["ExpertsComparator", "HedgeRanker", "expert_losses"]

#: Numbers of the votes that are held at a time.
_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class ExpertsComparator:
    """Votes of the features on pairs: for each its weight less that of its opposite."""

    kind: ClassVar[str] = "experts"
    weights: np.ndarray

    def bind(self, X: Any, n_jobs: int | None) -> Preference:
        """The weight of the votes for the first row, of all votes; a vote that abstains is one half for each."""
        some = np.flatnonzero(self.weights)
        columns, weights = X[:, some], self.weights[some]
        rows = max(1, _AT_ONCE // max(some.size, 1))

        def compare(first: np.ndarray, second: np.ndarray) -> np.ndarray:
            votes = np.empty(first.size)
            for start in range(0, first.size, rows):
                u, v = (dense_rows(columns, side[start : start + rows]) for side in (first, second))
                # row by row, so that a pair's votes add up to the same wherever it stands
                difference = (u > v).astype(np.float64) - (u < v)  # a missing value is neither
                votes[start : start + rows] = np.einsum("ij,j->i", difference, weights)
            return np.clip(0.5 + 0.5 * votes, 0.0, 1.0)

        return compare

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The weights."""
        return {"weights": self.weights}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> ExpertsComparator:
        """The comparator that `to_arrays` wrote."""
        weights = np.array(arrays["weights"], np.float64)
        if weights.ndim != 1 or not np.abs(weights).sum() <= 1.0 + 1e-9:
            raise DataError(f"weights of votes must be a column whose sizes sum to 1 at most, got {weights.shape}")
        return cls(weights)


@dataclass(kw_only=True, eq=False, repr=False)
class HedgeRanker(Ranker):
    r"""Learning to order things: every feature is an expert that orders the documents, and Hedge weighs the experts.

    .. math:: h(u, v) = \sum_t w_t h_t(u, v), \qquad h_t(u, v) = \mathrm{sign}(x_{u,t} - x_{v,t}),

    with an expert for each feature and one for its opposite. A round is a query: an expert's loss is the weighted mean
    of :math:`(1 - h_t(u, v)) / 2` over its pairs, and its weight is multiplied by β to the power of the loss. The
    cumulated loss of h is at most that of the best expert times ln(1/β)/(1 − β), plus ln T/(1 − β) (`hedge_bound`).
    Only the order inside each feature counts; a missing value (NaN) abstains. Lists come from the weighted votes by
    greedy ordering. Without validation data all rounds are used.

    Parameters
    ----------
    beta
        How fast the weights follow the losses: near 0 the best expert soon has all the weight, near 1 all keep theirs.
        None is the β of the best bound for this number of rounds and experts.
    average
        Take the mean of the weights of all rounds, for which the bound on the cumulated loss says what to expect of new
        queries; False takes the last weights.
    passes
        How often to go over the queries.
    order
        ``"greedy"``, ``"degree"``, ``"quicksort"``, ``"exact"``, or an ordering such as ``QuickSort(k=10)``.

    Attributes
    ----------
    losses_
        Loss of the weighted experts in each round.
    expert_losses_
        Cumulated loss of each expert: of the features, then of their opposites.
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

    ids: ClassVar[tuple[str, ...]] = ("pairwise.ordering_preference",)
    paper: ClassVar[str] = "Cohen, Schapire, Singer 1999"
    allow_nan: ClassVar[bool] = True
    search_space: ClassVar[SearchSpace] = {"passes": Integer(1, 100, log=True)}
    #: A query of weight 2 is one round with twice the loss, not two rounds.
    one_at_a_time: ClassVar[bool] = True

    beta: float | None = None
    average: bool = True
    passes: int = 1
    order: Any = "greedy"

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        if self.passes < 1:
            raise DataError(f"passes={self.passes}; give 1 or more")
        ordering = find_ordering(self.order, random_state=self.random_state)
        losses = _rounds(data, self.n_jobs)
        n_experts = losses.shape[1]
        self.beta_ = hedge_beta(len(losses), n_experts) if self.beta is None else self.beta
        rng = np.random.default_rng(self.random_state)
        total, weights, found = np.zeros(n_experts), np.full(n_experts, 1.0 / n_experts), []
        best = self._scorer(weights, ordering)
        with monitor.training(self.passes, "Hedge"):
            for done in range(1, self.passes + 1):
                run = hedge(losses[rng.permutation(len(losses))], self.beta_, start=weights)
                weights = run.weights[-1]
                total += run.weights[:-1].mean(axis=0) if len(losses) else weights
                found.append(run.losses)
                scorer = self._scorer(total / done if self.average else weights, ordering)
                before, valid = monitor.best_round, monitor.valid
                stop = monitor.update(None if valid is None else scorer.predict(valid.X, valid.offsets, self.n_jobs))
                if valid is None or monitor.best_round != before:
                    best = scorer
                if stop:
                    break
        self.losses_ = np.concatenate(found or [np.empty(0)])
        self.expert_losses_ = losses.sum(axis=0) * len(found)
        self.scorer_ = best

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


def expert_losses(data: RankingDataset, n_jobs: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Weight of the pairs that each feature orders wrongly (half where it abstains), by query; and of all pairs."""
    entries = pair_entries(data)
    first = np.searchsorted(entries.query, np.arange(data.n_queries + 1))
    lost, total = np.zeros((data.n_queries, data.n_features)), np.zeros(data.n_queries)
    X = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
    pairs = (first, entries.first, entries.low, entries.high, entries.order, entries.weight, entries.row_weight)
    over_queries(_losses, data.offsets, X, *pairs, lost, total, n_jobs=n_jobs, rows_per_thread=PAIR_ROWS_PER_THREAD)
    return lost, total


@kernel
def _losses(  # type: ignore[no-untyped-def]
    lo, hi, offsets, X, first, better, low, high, order, weight, row_weight, lost, total
):
    d = X.shape[1]
    for q in range(lo, hi):
        for e in range(first[q], first[q + 1]):
            u = better[e]
            for p in range(low[e], high[e]):
                v = order[p]
                w = weight[e] * row_weight[v]
                total[q] += w
                for j in range(d):
                    lost[q, j] += w * (0.5 + (0.5 if X[u, j] < X[v, j] else 0.0) - (0.5 if X[u, j] > X[v, j] else 0.0))
