"""Shared base of rankers that refine another linear ranker with a non-convex loss."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from plackett._base.errors import LossError
from plackett._base.estimator import clone
from plackett.data.dataset import RankingDataset
from plackett.losses.pairwise.squared_hinge import SquaredHinge
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained, Ranker
from plackett.scorers.base import Scorer
from plackett.scorers.linear import LinearScorer
from plackett.solvers.monitor import Monitor, SilentMonitor


@dataclass(kw_only=True, eq=False, repr=False)
class Refined(GradientTrained, Linear):
    """A linear ranker that starts from another one.

    Parameters
    ----------
    base
        A linear ranker to start from. It is used as is if fitted, and otherwise fitted to the same data first. None
        uses a pairwise support vector machine (squared hinge).
    normalize
        Divide each query's loss by its number of pairs, so that long lists do not dominate.
    """

    allow_nan: ClassVar[bool] = False

    base: Any = None
    normalize: bool = True

    def parts(self) -> list[Ranker]:
        """The ranker to start from, if one is given."""
        return [self.base] if isinstance(self.base, Ranker) else []

    def _start(self, data: RankingDataset) -> Scorer:
        """What to start from: the last fit, or the base."""
        if self.warm_start and hasattr(self, "scorer_"):
            return self.scorer_
        if self.base is None:
            plain, loss = self._plain()
            return plain.train(loss, data, SilentMonitor())
        if not isinstance(self.base, Ranker):
            raise LossError(f"base={self.base!r}; give a linear ranker such as PairHinge(), or None")
        fitted = self.base
        if not hasattr(fitted, "scorer_"):
            fitted = clone(self.base)
            fitted._fit(data, SilentMonitor())
        if not isinstance(fitted.scorer_, LinearScorer):
            raise LossError(f"base={self.base!r} is not a linear ranker, but the start must be one")
        return fitted.scorer_

    def _as_long_as(self, rounds: int) -> dict[str, Any]:
        """`max_iter` also applies to the start, which is kept unchanged."""
        from plackett.rankers.gradient_ranker import GradientRanker

        parameters = super()._as_long_as(rounds)
        if self.base is None and "max_iter" in parameters:
            plain, loss = self._plain()
            parameters["base"] = GradientRanker(loss=loss, model=plain)
        return parameters

    def _plain(self) -> tuple[Linear, SquaredHinge]:
        """Model and loss of the start if no ranker is given."""
        plain = Linear(**{field.name: getattr(self, field.name) for field in fields(Linear)})
        return plain, SquaredHinge(margin=1.0, normalize=self.normalize)

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        self.scorer_ = self.train(self.make_loss(), data, monitor, self._start(data))
