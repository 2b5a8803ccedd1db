"""The loop that RankBoost and its relatives share: weigh the pairs, find the best weak ranker, take a step."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice, whole
from plackett._base.cached import cached_property
from plackett._base.errors import LossError
from plackett._base.search_space import Integer, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss
from plackett.losses.pairwise.exponential import Exponential
from plackett.rankers.base import Ranker
from plackett.rankers.pairwise._pair_weights import right_and_wrong_weight
from plackett.rankers.pairwise._weak_rankers import WEAK_RANKERS, WeakRanker
from plackett.scorers.additive import AdditiveScorer, AdditiveTerms
from plackett.solvers.monitor import Monitor

#: One row per round. ``edge`` is r = W₊ − W₋ of a distribution over pairs (``plus``, ``minus`` where h is 0 or 1),
#: ``loss`` the mean loss of the pairs after the round.
ROUND = np.dtype(
    [("feature", np.int64)]
    + [(n, np.float64) for n in ("threshold", "default", "alpha", "edge", "plus", "minus", "loss")]
)
#: An edge below this is rounding error: no weak ranker is better than chance.
_NO_EDGE = 1e-10
#: Beyond this, all pairs are right by so much that the exponentials underflow.
_SOLVED = 1e-200
_LARGEST_STEP = 30.0


@dataclass
class Round:
    """The state that a step rule may use."""

    bound: BoundLoss
    scores: np.ndarray
    weak: WeakRanker
    h: np.ndarray
    #: Sum of the pair weights: the loss now for exponential weights, at the start for others.
    total: float
    #: The loss now.
    value: float
    #: Sum of |α| so far.
    norm: float

    @property
    def edge(self) -> float:
        """The edge r of the weak ranker under the distribution over pairs."""
        return self.weak.edge / self.total

    @cached_property
    def right_and_wrong(self) -> tuple[float, float]:
        """Shares W₊, W₋ of the pairs that h orders correctly and wrongly; NaN unless h is 0 or 1 and D is a product."""
        if not isinstance(getattr(self.bound, "loss", None), Exponential) or np.isnan(self.weak.threshold):
            return np.nan, np.nan
        plus, minus = right_and_wrong_weight(self.bound, self.scores, self.h)
        return plus / self.total, minus / self.total

    def along(self, alpha: float) -> tuple[float, float]:
        """The loss after a step, and its derivative by the step."""
        losses, gradient, _ = self.bound.evaluate(self.scores + alpha * self.h)
        return float(losses.sum()), float(gradient @ self.h)


def root(slope: Callable[[float], float], direction: float) -> float:
    """Root of an increasing function of the step on the side of ``direction``, at most 30 away.

    0 if it does not decrease in that direction: the edge that chose the direction was a rounding error.
    """
    from scipy.optimize import brentq

    near, far = 0.0, float(np.sign(direction))
    if slope(near) * far >= 0:
        return 0.0
    while slope(far) * far < 0:
        near, far = far, 2.0 * far
        if abs(near) >= _LARGEST_STEP:
            return float(np.sign(direction)) * _LARGEST_STEP
    return float(brentq(slope, near, far, xtol=1e-12, rtol=1e-14))


@dataclass(kw_only=True, eq=False, repr=False)
class PairBoosting(Ranker):
    """Boosting with a distribution over pairs, which is never formed explicitly for pairs of unequal labels.

    Parameters
    ----------
    n_estimators
        Maximum number of rounds. Training stops earlier if no weak ranker has an edge, or if the loss underflows.
    weak
        ``"threshold"``: 1 where a feature is above a threshold, 0 elsewhere; ``"real"``: the feature itself, scaled to
        0..1 on the training data.
    n_thresholds
        Maximum number of thresholds per feature, 1 to 255.

    Attributes
    ----------
    rounds_
        One row per round that was kept, with the fields feature, threshold (−∞: the feature is not missing), default
        (value if the feature is missing), alpha, edge, plus, minus and loss. It is not saved with the model.
    """

    takes_preferences: ClassVar[bool] = True
    allow_nan: ClassVar[bool] = True
    effort: ClassVar[str | None] = "n_estimators"
    search_space: ClassVar[SearchSpace] = {"n_estimators": Integer(30, 1000, log=True)}

    n_estimators: int = 300
    weak: str = "threshold"
    n_thresholds: int = 255

    @abstractmethod
    def _make_loss(self) -> Loss:
        """The pair loss to minimise."""

    def _pair_weight(self, start: float, value: float) -> float:
        """Sum of the pair weights by the loss at the start and now; it makes the edge a number between −1 and 1."""
        if isinstance(self._make_loss(), Exponential):
            return value
        return start / (2.0 * np.log(2.0))  # the slope of the logistic loss is ½ at 0, its value log 2

    def _choose(self, search: Any, potential: np.ndarray, X: Any, bound: BoundLoss, scores: np.ndarray) -> WeakRanker:
        """The weak ranker of a round: the one with the largest edge."""
        return search.best(potential)  # type: ignore[no-any-return]

    @abstractmethod
    def _step(self, round: Round) -> float:
        """The weight α of a weak ranker; 0 stops training."""

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        choice("weak", self.weak, WEAK_RANKERS, error=LossError)
        whole("n_estimators", self.n_estimators, least=1, error=LossError)
        bound = self._make_loss().bind(data, n_jobs=self.n_jobs)
        kept: list[tuple[WeakRanker, Any]] = []
        with monitor.training(self.n_estimators, type(self).__name__):
            self._boost(bound, monitor, kept)
        kept = kept[: monitor.kept]
        terms = AdditiveTerms()
        for weak, row in kept:
            weak.add_to(terms, row[3])
        self.scorer_: AdditiveScorer = terms.scorer(data.n_features)
        self.rounds_ = np.array([row for _, row in kept], ROUND)

    def _boost(self, bound: BoundLoss, monitor: Monitor, kept: list[tuple[WeakRanker, Any]]) -> None:
        """Add one weak ranker after another to ``kept``."""
        data, valid = bound.data, monitor.valid
        X, valid_X = _by_column(data.X), None if valid is None else _by_column(valid.X)
        scores, valid_scores = np.zeros(data.n_rows), np.zeros(0 if valid is None else valid.n_rows)
        losses, gradient, bends = bound.evaluate(scores)
        start = value = float(losses.sum())
        rows = np.flatnonzero(bends)  # the documents of some pair
        if rows.size == 0:
            return
        search = WEAK_RANKERS[self.weak](X if rows.size == data.n_rows else X[rows], self.n_thresholds, self.n_jobs)
        total = self._pair_weight(start, value)
        norm = 0.0
        for _ in range(self.n_estimators):
            weak = self._choose(search, -gradient if rows.size == data.n_rows else -gradient[rows], X, bound, scores)
            if abs(weak.edge) <= _NO_EDGE * total:
                return
            now = Round(bound, scores, weak, weak.values(X), total, value, norm)
            alpha = self._step(now)
            if alpha == 0.0:
                return
            norm += abs(alpha)
            scores = scores + alpha * now.h
            losses, gradient, _ = bound.evaluate(scores)
            value = float(losses.sum())
            row = (weak.feature, weak.threshold, weak.default, alpha, now.edge, *now.right_and_wrong, value / start)
            kept.append((weak, row))
            total = self._pair_weight(start, value)
            if valid is not None:
                valid_scores = valid_scores + alpha * weak.values(valid_X)
            if monitor.update(None if valid is None else valid_scores) or value < _SOLVED * start:
                return


def _by_column(X: Any) -> Any:
    """The table as it is, or a sparse one stored by columns."""
    return X if isinstance(X, np.ndarray) else X.tocsc()
