"""Nested rankers: each orders anew what the one before put at the top."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from plackett._errors import DataError, LossError
from plackett.data.dataset import RankingDataset
from plackett.data.preferences import Preferences
from plackett.losses.base import Loss
from plackett.losses.pairwise.logistic import Logistic
from plackett.measures.ranking import Scored
from plackett.models.base import Model, Monitor, Scorer
from plackett.models.neural import Neural
from plackett.rankers.base import GradientTrained

__all__ = ["NestedRanker", "NestedScorer"]


@dataclass(kw_only=True, eq=False, repr=False)
class NestedRanker(GradientTrained, Neural):
    """Multiple nested rankers: a RankNet for all documents, another for the best of them, and so on.

    The first stage is trained on all documents. Each further one is trained on the documents that the stages before put
    at the top of their lists, and orders those anew; the others keep their order and stay below. So the last stages
    learn to tell good documents from very good ones. Documents whose scores tie with the last one kept are kept too. A
    stage that no training list is long enough for is left out, and with validation data so are the stages after the
    best one. Needs the extra ``neural`` unless another ``model`` is given.

    Parameters
    ----------
    keep
        How many documents the second stage, the third stage, … order anew: decreasing numbers.
    model
        Model of each stage, such as ``Trees()``; None is the network described by the other parameters.
    pair_normalize
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

    _ids: ClassVar[tuple[str, ...]] = ("pairwise.nested_ranker",)
    paper: ClassVar[str] = "Matveeva, Burges, Burkard, Laucius, Wong 2006"

    effort: ClassVar[str | None] = None  # that of the model, which may be any

    architecture: str = "sigmoid"
    learning_rate: float = 0.02
    weight_decay: float = 6.0
    max_epochs: int = 100
    keep: tuple[int, ...] = (1000, 100, 10)
    model: Any = None
    pair_normalize: bool = True

    def make_loss(self) -> Loss:
        """The loss of every stage."""
        return Logistic(normalize=self.pair_normalize)

    def make_model(self) -> Model:
        """The model of every stage."""
        return self if self.model is None else self.model  # type: ignore[return-value]

    def _as_long_as(self, rounds: int) -> dict[str, Any]:
        """Rounds are stages."""
        assert isinstance(self.scorer_, NestedScorer)
        return {"keep": tuple(self.scorer_.keep[1:rounds].tolist())}

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        if min(self.keep, default=1) < 1 or (np.diff(self.keep) >= 0).any():
            raise LossError(f"keep={self.keep}; give decreasing positive numbers of documents")
        nested = None
        try:
            for nested in self._grow(data, monitor):
                scores = None
                if monitor.valid is not None:
                    scores = nested.predict(monitor.valid.X, monitor.valid.offsets, self.n_jobs)
                if monitor.update(scores) or monitor.interrupted:
                    break
        except KeyboardInterrupt:  # between stages: as `Monitor.training` has it inside them
            if monitor.n_rounds == 0:
                raise
            monitor.interrupted = True
        assert nested is not None  # there is always a first stage
        last = len(nested.stages) if monitor.best_round < 0 else monitor.best_round + 1
        self.scorer_ = NestedScorer(nested.stages[:last], nested.keep[:last])

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
            nested = nested.then(model.train(loss, _some_rows(data, rows), stage, start), n)
            seen = rows.size
            monitor.interrupted |= stage.interrupted
            yield nested

    def _stages_before(self) -> tuple[Scorer, ...]:
        """The stages of the last fit, where training goes on from them."""
        if not (self.warm_start and hasattr(self, "scorer_")):
            return ()
        assert isinstance(self.scorer_, NestedScorer)
        return self.scorer_.stages

    @property
    def allow_nan(self) -> bool:  # type: ignore[override]
        """Whether NaN features are missing values: as the model has it."""
        return Neural.allow_nan if self.model is None else self.model.allow_nan


@dataclass(frozen=True)
class NestedScorer:
    """Scorers of the stages, and how many documents of a list each of them orders."""

    kind: ClassVar[str] = "nested"
    stages: tuple[Scorer, ...]
    keep: np.ndarray

    @property
    def list_aware(self) -> bool:
        """Whether a document's score depends on its list: with more than one stage it does."""
        return len(self.stages) > 1 or any(stage.list_aware for stage in self.stages)

    def then(self, stage: Scorer, n: int) -> NestedScorer:
        """With one more stage, for the n best documents of each list."""
        return NestedScorer((*self.stages, stage), np.append(self.keep, n))

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Scores in the order of the last stage, below them those it left alone in the order of the one before, …"""
        return self._run(X, offsets, n_jobs)[0]

    def top(self, data: RankingDataset | None, n: int) -> np.ndarray:
        """The rows that a further stage would order: the n best of each list, of those that came so far."""
        if data is None or not self.stages:
            return np.arange(0 if data is None else data.n_rows)
        scores, rows = self._run(data.X, data.offsets, None)
        return _best(scores, rows, data.offsets, n)

    def _run(self, X: Any, offsets: np.ndarray, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Scores, and the rows that came to the last stage."""
        rows = np.arange(offsets[-1])
        scores = self.stages[0].predict(X, offsets, n_jobs)
        for stage, n in zip(self.stages[1:], self.keep[1:], strict=True):
            rows = _best(scores, rows, offsets, int(n))
            scores = lift(scores, rows, stage.predict(X[rows], _offsets(rows, offsets), n_jobs), offsets)
        return scores, rows

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays, those of stage i with the prefix ``i.``."""
        kinds = np.frombuffer(json.dumps([stage.kind for stage in self.stages]).encode(), np.uint8)
        arrays = {"keep": self.keep, "kinds": kinds}
        for i, stage in enumerate(self.stages):
            arrays |= {f"{i}.{name}": array for name, array in stage.to_arrays().items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> NestedScorer:
        """The scorer that `to_arrays` wrote."""
        from plackett.rankers.storage import SCORERS

        kinds, keep = json.loads(arrays["kinds"].tobytes()), np.array(arrays["keep"])
        if keep.shape != (len(kinds),) or not 0 < len(kinds) <= len(arrays):  # every stage has arrays
            raise DataError(f"a nested ranker of {len(kinds)} stages with sizes of shape {keep.shape}")
        stages = []
        for i, kind in enumerate(kinds):
            module, symbol = SCORERS[kind]
            part = {name.removeprefix(f"{i}."): a for name, a in arrays.items() if name.startswith(f"{i}.")}
            stages.append(getattr(import_module(module), symbol).from_arrays(part))
        return cls(tuple(stages), keep)


def _offsets(rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Where the lists begin in an ascending selection of rows."""
    return np.searchsorted(rows, offsets)


def _best(scores: np.ndarray, rows: np.ndarray, offsets: np.ndarray, n: int) -> np.ndarray:
    """Those of some rows whose score is among the n best of their list, with all that tie with the last."""
    starts = _offsets(rows, offsets)
    sizes = np.diff(starts)
    query = np.repeat(np.arange(sizes.size), sizes)
    found = scores[rows]
    order = np.lexsort((-found, query))
    last = np.zeros(sizes.size)
    some = sizes > 0
    last[some] = found[order[(starts[:-1] + np.minimum(n, sizes) - 1)[some]]]
    return rows[found >= last[query]]


def lift(scores: np.ndarray, rows: np.ndarray, new: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """New scores for some rows, moved above the other rows of their list where there are others."""
    query = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    others = np.ones(scores.size, bool)
    others[rows] = False
    roof, floor = np.full(offsets.size - 1, -np.inf), np.full(offsets.size - 1, np.inf)
    np.maximum.at(roof, query[others], scores[others])
    np.minimum.at(floor, query[rows], new)
    split = np.isfinite(roof) & np.isfinite(floor)
    shift = np.zeros(roof.size)
    shift[split] = roof[split] + 1.0 - floor[split]
    lifted = scores.copy()
    lifted[rows] = new + shift[query[rows]]
    return lifted


def _some_rows(data: RankingDataset, rows: np.ndarray) -> RankingDataset:
    """Dataset of some rows, of which every list keeps its own; pairs with both documents among them stay."""
    if rows.size == data.n_rows:
        return data
    parts: dict[str, Any] = {"offsets": _offsets(rows, data.offsets), "input_rows": None, "comments": None}
    for name in ("X", "y", "docids", "sample_weight", "positions", "subtopics"):
        value = getattr(data, name)
        parts[name] = None if value is None else value[rows]
    pairs = data.preferences
    if pairs is not None:
        place = np.full(data.n_rows, -1)
        place[rows] = np.arange(rows.size)
        kept = pairs.take(np.flatnonzero((place[pairs.winner] >= 0) & (place[pairs.loser] >= 0)))
        parts["preferences"] = Preferences(place[kept.winner], place[kept.loser], kept.margin, kept.weight)
    return replace(data, **parts)


class _Stage(Monitor):
    """Watches one stage: the measure of the whole nested ranking, for which a stage scores only its own rows."""

    def __init__(self, whole: Monitor, nested: NestedScorer, rows: np.ndarray) -> None:
        valid = whole.valid
        part = None if valid is None else _some_rows(valid, rows)
        super().__init__(part, whole.measure, whole.patience, whole.verbose, whole.n_jobs)
        self.whole, self.rows = valid, rows
        self.scores = np.zeros(0 if valid is None else valid.n_rows)
        if valid is not None and nested.stages:
            self.scores = nested.predict(valid.X, valid.offsets, whole.n_jobs)

    def update(self, scores: np.ndarray | None = None) -> bool:
        """Note a finished round of the stage; True means that the stage should end."""
        self.n_rounds += 1
        valid, measure = self.whole, self.measure
        if scores is None or valid is None or measure is None:
            return False
        everything = lift(self.scores, self.rows, scores, valid.offsets)
        value = measure.mean(measure.per_query(Scored(valid, everything, n_jobs=self.n_jobs)))
        self.history.append(value)
        sign = 1.0 if measure.ascending else -1.0
        if self.best_round < 0 or np.isnan(self.best_value) or sign * value > sign * self.best_value:
            self.best_round, self.best_value = len(self.history) - 1, value
        return self.patience is not None and len(self.history) - 1 - self.best_round >= self.patience
