"""Nested rankers: each reranks what the previous one put at the top."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.data.some_rows import some_rows
from plackett.losses.base import Loss
from plackett.losses.pairwise.logistic import Logistic
from plackett.measures.ranking import Scored
from plackett.models.base import Model, check_model
from plackett.models.networks.neural import Neural
from plackett.rankers.base import GradientTrained
from plackett.scorers.base import Scorer
from plackett.scorers.nested import NestedScorer, lift
from plackett.solvers.monitor import Monitor

__all__ = ["NestedRanker"]


@dataclass(kw_only=True, eq=False, repr=False)
class NestedRanker(GradientTrained, Neural):
    """Multiple nested rankers: a RankNet for all documents, another for the best of them, and so on.

    The first stage is trained on all documents. Each further one is trained on the documents that the previous stages
    put at the top of their lists, and reranks those; the others keep their order below. So the last stages learn to
    separate very good documents from good ones. Documents whose scores tie with the last one kept are kept too. A stage
    is left out if no training list is long enough for it; with validation data, so are the stages after the best one.
    Needs the extra ``neural`` unless another ``model`` is given.

    Parameters
    ----------
    keep
        Number of documents that the second stage, the third stage, … rerank: decreasing numbers.
    model
        Model of each stage, such as ``Trees()``; None uses the network described by the other parameters.
    normalize
        Divide each query's loss by its number of pairs, so that long lists do not dominate.

    Attributes
    ----------
    history_
        Value of `eval_measure` on the validation data after each stage.

    Examples
    --------
    >>> from plackett.models.linear import Linear
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> ranker = NestedRanker(keep=(5, 2), model=Linear())
    >>> ranker = ranker.fit(X, [i % 10 for i in range(100)], qid=[i // 10 for i in range(100)])
    >>> ranker.rank([[1.0], [9.0], [5.0]], qid=[0, 0, 0])
    array([3, 1, 2])

    References
    ----------
    Matveeva, Burges, Burkard, Laucius, Wong: High accuracy retrieval with multiple nested ranker. SIGIR 2006.
    """

    effort: ClassVar[str | None] = None  # that of the model, which may be any

    architecture: str = "sigmoid"
    learning_rate: float = 0.02
    weight_decay: float = 6.0
    max_epochs: int = 100
    keep: tuple[int, ...] = (1000, 100, 10)
    model: Any = None
    normalize: bool = True

    def make_loss(self) -> Loss:
        """The loss of every stage."""
        return Logistic(normalize=self.normalize)

    def make_model(self) -> Model:
        """The model of every stage."""
        if self.model is None:
            return self  # type: ignore[return-value]
        check_model(self.model)
        return self.model

    def _as_long_as(self, rounds: int) -> dict[str, Any]:
        """Rounds are stages."""
        assert isinstance(self.scorer_, NestedScorer)
        return {"keep": tuple(self.scorer_.keep[1:rounds].tolist())}

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        if min(self.keep, default=1) < 1 or (np.diff(self.keep) >= 0).any():
            raise LossError(f"keep={self.keep}; give decreasing positive numbers of documents")
        try:
            for nested in self._grow(data, monitor):
                if monitor.keep(nested) or monitor.interrupted:
                    break
        except KeyboardInterrupt:  # between stages: as `Monitor.training` has it inside them
            if monitor.n_rounds == 0:
                raise
            monitor.interrupted = True
        self.scorer_ = monitor.best

    def _grow(self, data: RankingDataset, monitor: Monitor) -> Iterator[NestedScorer]:
        """The ranker with one stage, with two, …"""
        model, loss, before = self.make_model(), self.make_loss(), self._stages_before()
        nested, seen = NestedScorer((), np.empty(0, np.int64)), -1
        for n in (max(data.n_rows, 1), *self.keep):
            rows, valid_rows = (nested.top(part, n) for part in (data, monitor.valid))
            if rows.size == seen:
                continue  # no list is long enough for this stage
            stage = _Stage(monitor, nested, valid_rows)
            start = before[len(nested.stages)] if len(nested.stages) < len(before) else None
            nested = nested.then(model.train(loss, some_rows(data, rows), stage, start), n)
            seen = rows.size
            monitor.interrupted |= stage.interrupted
            yield nested

    def _stages_before(self) -> tuple[Scorer, ...]:
        """The stages of the last fit, if training continues from them."""
        if not (self.warm_start and hasattr(self, "scorer_")):
            return ()
        assert isinstance(self.scorer_, NestedScorer)
        return self.scorer_.stages

    @property
    def allow_nan(self) -> bool:  # type: ignore[override]
        """Whether NaN features are treated as missing values; decided by the model."""
        return Neural.allow_nan if self.model is None else self.make_model().allow_nan


class _Stage(Monitor):
    """Monitors one stage by the measure of the whole nested ranking; the stage scores only its own rows."""

    def __init__(self, whole: Monitor, nested: NestedScorer, rows: np.ndarray) -> None:
        valid = whole.valid
        part = None if valid is None else some_rows(valid, rows)
        super().__init__(part, whole.measure, whole.patience, whole.verbose, whole.n_jobs)
        self.whole, self.rows = valid, rows
        self.scores = np.zeros(0 if valid is None else valid.n_rows)
        if valid is not None and nested.stages:
            self.scores = nested.predict(valid.X, valid.offsets, whole.n_jobs)

    def update(self, scores: Any = None) -> bool:
        """Record a finished round of the stage; True means that the stage should stop."""
        if callable(scores):
            scores = scores(self.valid)
        self.n_rounds += 1
        valid, measure = self.whole, self.measure
        if scores is None or valid is None or measure is None:
            return False
        everything = lift(self.scores, self.rows, scores, valid.offsets)
        value = measure.mean(measure.per_query(Scored(valid, everything, n_jobs=self.n_jobs)))
        self.history.append(value)
        better = measure.worth(value) > measure.worth(self.best_value)
        if self.best_round < 0 or np.isnan(self.best_value) or better:
            self.best_round, self.best_value = len(self.history) - 1, value
        return self.out_of_patience
