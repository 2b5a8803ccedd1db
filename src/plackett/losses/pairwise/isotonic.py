"""Isotonic loss: the least change that puts the scores of a query in the right order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from plackett._base.errors import LossError
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, over_queries
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss, finite_gains
from plackett.losses.pairwise._constraints import Constraints, grades
from plackett.losses.pairwise._isotonic_graded import graded_updates
from plackett.losses.pairwise._isotonic_graph import graph_updates
from plackett.measures.gains import check_gain

__all__ = ["Isotonic", "isotonic_update"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Isotonic(Loss):
    r"""Half the least squared effort :math:`\delta` that puts the documents of a query in order, with margins:

    .. math:: L(s) = \tfrac12 \min_{\delta, \zeta, \zeta_2} \sum_i w_i \delta_i^2 + \lambda W \zeta^2
              + \lambda_2 W \zeta_2^2
              \quad\text{subject to}\quad s_i + \delta_i \ge s_j + \delta_j + \Delta_{ij} (1 - \zeta),\;
              0 \le \zeta \le 1

    for all pairs in which i is preferred to j, W the weight of the documents. It is convex and smooth, and its
    gradient is −w·δ: one gradient step of length 1 makes the query consistent, which is what IsoRank fits its trees to.

    Exact, and fast: an isotonic regression of the thresholds between grades for graded labels, O(n log n); for
    explicit preferences a dual active-set method on forests of tight pairs.

    The pairs are those of unequal labels with the difference of the gains as the margin Δ; or the explicit preferences
    of the dataset with their own margins, 1 where they have none. Documents of a preference cycle get one common score,
    and pairs among them have no margin. Weight 0 removes a pair or a document; other pair weights are ignored, as the
    constraints are hard. A document that is in no pair has gradient and curvature 0.

    Parameters
    ----------
    slack
        λ, the price of the shared slack ζ: 0 requires only the order (ζ = 1), infinity full margins (ζ = 0).
    gain
        What the margin is the difference of: ``"linear"`` (the label), ``"exp2"``, or a table label: gain that never
        falls.
    ties
        λ₂, the price of the distance ζ₂ that documents of the same label may have, :math:`|s_i + \delta_i - s_j -
        \delta_j| \le \zeta_2`; infinity makes them equal, 0 does not constrain them. Only for labels, and in queries
        that have pairs.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0, 0], qid=[1, 1, 1])
    >>> gradient, _ = Isotonic(slack=0.0).gradient([1.0, 3.0, -1.0], data)
    >>> (-gradient).tolist()  # the first two meet half-way
    [1.0, -1.0, 0.0]

    References
    ----------
    Zheng, Zha, Sun: Query-level learning to rank using isotonic regression. Allerton 2008.
    """

    name: ClassVar[str] = "Isotonic"
    approach: ClassVar[str] = "pairwise"
    takes_preferences: ClassVar[bool] = True
    convex: ClassVar[bool] = True
    #: The weight: an upper bound of the Hessian.
    curvature: ClassVar[str] = "surrogate"
    _test_variants = ({"slack": 0.3}, {"slack": float("inf"), "gain": "exp2"})

    slack: float = 10.0
    gain: Any = "linear"
    ties: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "gain", check_gain(self.gain, self.name))
        for field in ("slack", "ties"):
            if not getattr(self, field) >= 0:
                raise LossError(f"{self.name}: {field}={getattr(self, field)}; give 0 or more, or infinity")

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> _Bound:
        """The loss on the preferences of a dataset, or on all its pairs of unequal labels."""
        if data.y is None and data.preferences is None:
            raise LossError(f"{self.name} needs labels or preferences, but the dataset has neither")
        if data.preferences is None and self.ties == 0:
            return _Graded(self, data, n_jobs)
        return _Graph(self, data, n_jobs)


class IsotonicUpdate(NamedTuple):
    """What brings scores into order: the move of each document, and per query the slack and the gap left to ties."""

    delta: np.ndarray
    slack: np.ndarray
    tie_gap: np.ndarray


def isotonic_update(
    scores: Any,
    data: RankingDataset,
    *,
    slack: float = 0.0,
    gain: Any = "linear",
    ties: float = 0.0,
    n_jobs: int | None = None,
) -> IsotonicUpdate:
    """The least moves that bring the scores of each query into the order of its labels or preferences.

    Parameters are those of `Isotonic`; by default only the order is required, without margins.

    References
    ----------
    Zheng, Zha, Sun: Query-level learning to rank using isotonic regression. Allerton 2008.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [2, 1, 0], qid=[1, 1, 1])
    >>> isotonic_update([0.0, 1.0, 2.0], data).delta.tolist()
    [1.0, 0.0, -1.0]
    >>> isotonic_update([0.0, 1.0, 2.0], data, slack=float("inf")).delta.tolist()  # apart by the labels' distance
    [2.0, 0.0, -2.0]
    """
    bound = Isotonic(slack=slack, gain=gain, ties=ties).bind(data, n_jobs=n_jobs)
    return bound.update(bound.check(scores))


class _Bound(BoundLoss):
    """What both forms share; ``taking_part`` is the weight of the documents that are in a pair."""

    loss: Isotonic
    taking_part: np.ndarray

    def update(self, scores: np.ndarray) -> IsotonicUpdate:
        raise NotImplementedError

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        data = self.data
        update = self.update(scores)
        curvature = self.query_weight[data.query_of_row] * self.taking_part
        gradient = -curvature * update.delta
        losses: np.ndarray = np.zeros(data.n_queries)
        if value:
            losses = np.bincount(data.query_of_row, -0.5 * gradient * update.delta, data.n_queries)
            mass = self.query_weight * np.bincount(data.query_of_row, self.taking_part, data.n_queries)
            for price, size in ((self.loss.slack, update.slack), (self.loss.ties, update.tie_gap)):
                if 0 < price < np.inf:
                    losses += 0.5 * price * mass * size**2
        return losses, gradient, curvature


class _Graded(_Bound):
    """All pairs of unequal labels."""

    def __init__(self, loss: Isotonic, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.loss = loss
        gains = finite_gains(data.labels, loss.gain, loss.name)
        self.grades = grades(data, self.sample_weight)
        self.gain = gains[self.grades.rows[self.grades.starts]]
        self.taking_part = np.where(self.grades.in_pairs, self.sample_weight, 0.0)

    def update(self, scores: np.ndarray) -> IsotonicUpdate:
        """Moves of the documents."""
        grades = self.grades
        delta, slack = np.zeros(self.data.n_rows), np.empty(self.data.n_queries)
        over_queries(
            graded_updates,
            grades.offsets,
            grades.rows,
            grades.grade_offsets,
            grades.starts,
            self.gain,
            self.sample_weight,
            scores,
            float(self.loss.slack),
            delta,
            slack,
            n_jobs=self.n_jobs,
            rows_per_thread=PAIR_ROWS_PER_THREAD,
        )
        return IsotonicUpdate(delta, slack, np.zeros(self.data.n_queries))


class _Graph(_Bound):
    """Explicit preferences, or labels with ties: constraints between pairs of nodes."""

    def __init__(self, loss: Isotonic, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.loss = loss
        if data.preferences is None:
            gains = finite_gains(data.labels, loss.gain, loss.name)
            self.constraints = Constraints.from_grades(data, self.sample_weight, gains)
        else:
            if loss.ties > 0:
                raise LossError(f"{loss.name}: ties={loss.ties} is for labels; explicit preferences have no ties")
            self.constraints = Constraints.from_preferences(data, self.sample_weight)
        self.taking_part = np.where(self.constraints.node_of_row >= 0, self.sample_weight, 0.0)

    def update(self, scores: np.ndarray) -> IsotonicUpdate:
        """Moves of the documents."""
        graph = self.constraints
        rows = np.flatnonzero(graph.node_of_row >= 0)
        nodes = graph.node_of_row[rows]
        sums = np.zeros(graph.weight.size)
        np.add.at(sums, nodes, self.sample_weight[rows] * scores[rows])
        means = np.divide(sums, graph.weight, out=np.zeros_like(sums), where=graph.weight > 0)
        moved = np.empty_like(means)
        queries = self.data.n_queries
        slack, tie_gap, failed = np.empty(queries), np.empty(queries), np.empty(queries, np.bool_)
        over_queries(
            graph_updates,
            graph.offsets,
            means,
            graph.weight,
            graph.arc_offsets,
            graph.winner,
            graph.loser,
            graph.margin,
            graph.tie,
            float(self.loss.slack),
            float(self.loss.ties),
            moved,
            slack,
            tie_gap,
            failed,
            n_jobs=self.n_jobs,
            rows_per_thread=PAIR_ROWS_PER_THREAD,
        )
        if failed.any():
            raise LossError(f"{self.loss}: the update of query {self.data.qids[np.argmax(failed)]} was not found")
        delta = np.zeros(self.data.n_rows)
        delta[rows] = moved[nodes] - scores[rows]
        return IsotonicUpdate(delta, slack, tie_gap)
