"""Training through a relational function: the loss is evaluated at h(f), and its gradient propagated back to f."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss
from plackett.rankers.base import GradientTrained, Ranker
from plackett.scorers.relations.functions import RelationalFunction

#: Makes the function of a dataset, whose relations it has.
Make = Callable[[RankingDataset], RelationalFunction]

#: Properties of the loss inside.
_INHERITED = (
    "name",
    "has_value",
    "smooth",
    "convex",
    "shift_invariant",
    "curvature",
    "counts_rounds",
    "drawn",
    "takes_preferences",
)


@dataclass(frozen=True, kw_only=True, repr=False)
class Through(Loss):
    """The loss of h(f) as a loss of f.

    The curvature is h'(f) times that of the loss. It is an upper bound of the true curvature if that of the loss is,
    because h' is symmetric with non-negative entries and rows that sum to 1.
    """

    loss: Loss
    make: Make

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "loss"), name)

    def __post_init__(self) -> None:
        for name in _INHERITED:
            object.__setattr__(self, name, getattr(self.loss, name))

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on one dataset."""
        return _BoundThrough(self.loss.bind(data, n_jobs=n_jobs), self.make(data))

    def settle(self, data: RankingDataset) -> Self:
        """Settle the loss inside."""
        return self.replace(loss=self.loss.settle(data))


class _BoundThrough(BoundLoss):
    def __init__(self, inner: BoundLoss, function: RelationalFunction) -> None:
        super().__init__(inner.data, n_jobs=inner.n_jobs, n_outputs=inner.n_outputs)
        self.inner, self.function = inner, function

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        h = self.function.scores(scores)
        losses, gradient, curvature = self.inner.evaluate(self.inner.check(h), value)
        back = self.function.pull_back(gradient, h)
        return losses, back, self.function.pull_back(curvature, h) if curvature.any() else curvature


def differentiable(ranker: Ranker) -> bool:
    """Whether a ranker can be trained through a function: it minimises a loss with one output."""
    return isinstance(ranker, GradientTrained) and type(ranker.make_loss()).ranking_scores is Loss.ranking_scores


def trained_through(ranker: Ranker, make: Make) -> Ranker:
    """The ranker with its loss evaluated at h(f); it also scores h(f), until its own class is restored."""
    kind: Any = type(ranker)

    class Related(kind):  # type: ignore[misc]
        def make_loss(self) -> Loss:
            return Through(loss=super().make_loss(), make=make)

        def score_rows(self, data: RankingDataset) -> np.ndarray:
            """Score of each row of a dataset, in its order."""
            return make(data).scores(super().score_rows(data))

    Related.__name__ = kind.__name__
    ranker.__class__ = Related
    return ranker
