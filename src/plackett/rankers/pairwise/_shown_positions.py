"""Shared base of LambdaMARTs for clicks: display positions, and biases learned along with the trees."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.arguments import whole_or_none
from plackett._base.errors import DataError, LossError, PlackettWarning
from plackett.data.dataset import RankingDataset
from plackett.data.inputs import training_data
from plackett.losses.base import BoundLoss, Loss
from plackett.models.trees.model import Trees
from plackett.rankers.base import GradientTrained
from plackett.solvers.monitor import Monitor

#: The biases of one round, as stored on the ranker.
Biases = dict[str, np.ndarray]


@dataclass(kw_only=True, eq=False, repr=False)
class ClickTrained(GradientTrained, Trees):
    """Trees on a lambda gradient of clicks; the position biases are updated after each round.

    Parameters
    ----------
    max_position
        All positions from this one on share one bias; None gives each its own.
    measure, truncation, sigma, normalize
        As in `LambdaMART`.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {
        "qid": True,
        "sample_weight": True,
        "query_weight": True,
        "positions": True,
        "callbacks": True,
    }

    max_position: int | None = 30
    measure: Any = "nDCG"
    truncation: int | None = 30
    sigma: float = 1.0
    normalize: bool = True

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        positions: Any = None,
        eval_set: Any = None,
        eval_qid: Any = None,
        eval_group: Any = None,
        callbacks: Any = None,
    ) -> Self:
        """Learn from clicks. Like `fit` of other rankers, plus the ``positions`` at which documents were shown, from 1.

        A `RankingDataset` may already contain them.
        """
        data = training_data(X, y, qid, group, sample_weight, query_weight)
        if positions is not None:
            given = np.asarray(positions)
            if given.shape != (data.n_rows,):
                raise DataError(f"positions has shape {given.shape}, but there are {data.n_rows} rows")
            data = data.replace(positions=given if isinstance(X, RankingDataset) else data.from_input_order(given))
        if data.positions is None:
            warnings.warn(
                f"{type(self).__name__} without positions takes no bias out; give positions=…, or a dataset or file "
                "that has them",
                PlackettWarning,
                stacklevel=2,
            )
        return super().fit(data, eval_set=eval_set, eval_qid=eval_qid, eval_group=eval_group, callbacks=callbacks)

    def _joint(self, data: RankingDataset, n_jobs: int | None, n: int, start: bool) -> JointlyBound:
        """The gradient with the biases of n positions, starting from the last fit or from no bias."""
        raise NotImplementedError

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        whole_or_none("max_position", self.max_position, least=1, error=LossError)
        if self.refit:
            raise LossError("refit=True: the biases belong to the trees of the first training; train without it")
        shown = 1 if data.positions is None else int(data.positions.max(initial=1))
        n = min(shown, self.max_position or shown)
        start = self.start()
        loss = _Jointly(lambda data, n_jobs: self._joint(data, n_jobs, n, start is not None))
        self.scorer_ = self.make_model().train(loss, data, monitor, start)
        kept = loss.rounds[min(monitor.best_round, len(loss.rounds) - 1)]  # a forest has one gradient for all trees
        for name, bias in kept.items():
            setattr(self, name, bias)


class JointlyBound(BoundLoss):
    """A gradient with biases: `step` computes the gradient at some scores, updates the biases and returns them."""

    def __init__(self, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.rounds: list[Biases] = []

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Zeros for the value that does not exist, gradient and curvature per score; this also updates the biases."""
        gradient, curvature, biases = self.step(scores)
        self.rounds.append(biases)
        return np.zeros(self.data.n_queries), gradient, curvature

    def step(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, Biases]:
        """Gradient and curvature per score, and the new biases."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, repr=False)
class _Jointly(Loss):
    """The loss of one training, which remembers the biases of all rounds."""

    name: ClassVar[str] = "clicks"
    has_value: ClassVar[bool] = False
    smooth: ClassVar[bool] = False
    curvature: ClassVar[str] = "surrogate"
    counts_rounds: ClassVar[bool] = True

    make: Callable[[RankingDataset, int | None], JointlyBound]
    rounds: list[Biases] = field(default_factory=list)

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The gradient on one dataset."""
        bound = self.make(data, n_jobs)
        bound.rounds = self.rounds
        return bound
