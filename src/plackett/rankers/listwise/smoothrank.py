"""SmoothRank, with its annealing."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss
from plackett.losses.listwise.smoothrank import SmoothRankLoss
from plackett.losses.pointwise.square import Square
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained
from plackett.scorers.base import Scorer
from plackett.solvers.monitor import Monitor

__all__ = ["SmoothRank"]


@dataclass(kw_only=True, eq=False, repr=False)
class SmoothRank(GradientTrained, Linear):
    """SmoothRank: a linear model that maximises smoothed nDCG or AP, by deterministic annealing.

    It starts with least squares on the labels and then minimises `plackett.losses.SmoothRankLoss` repeatedly, with a
    width σ that decreases geometrically from `sigma_start` to `sigma` in `n_stages` stages. Each stage starts where the
    last one ended, and `max_iter` is divided among the stages. Early stopping ends the whole schedule. With
    `warm_start`, the last model replaces least squares.

    Parameters
    ----------
    measure
        ``"nDCG"`` or ``"AP"``.
    sigma_start, sigma, n_stages
        First and last width, in squared units of the labels, and the number of stages.
    gain
        ``"exp2"``, ``"linear"``, ``"binary"`` or a table label: gain; for AP any positive gain is relevant.

    Examples
    --------
    >>> ranker = SmoothRank().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Chapelle, Wu: Gradient descent optimization of smoothed information retrieval metrics. Information Retrieval 2010.
    """

    measure: str = "nDCG"
    sigma_start: float = 1.0
    sigma: float = 0.1
    n_stages: int = 5
    gain: Any = "exp2"

    def make_loss(self) -> Loss:
        """The loss of the last stage."""
        return SmoothRankLoss(measure=self.measure, sigma=self.sigma, gain=self.gain)

    def _as_long_as(self, rounds: int) -> dict[str, Any]:
        """Rounds count all stages together, and `max_iter` cannot stop inside a stage, so training runs in full."""
        return {}

    def train(self, loss: Loss, data: RankingDataset, monitor: Monitor, start: Scorer | None = None) -> Any:
        """Least squares, then one run of the linear model for each width."""
        if self.n_stages < 1 or not 0 < self.sigma <= self.sigma_start:
            raise LossError(
                f"SmoothRank: n_stages={self.n_stages}, sigma_start={self.sigma_start}, sigma={self.sigma}; "
                "give a stage at least, and 0 < sigma <= sigma_start"
            )
        widths = np.geomspace(self.sigma_start, self.sigma, self.n_stages)
        stages = [loss.replace(sigma=float(width)) for width in widths]
        if start is None:
            stages.insert(0, Square())
        rounds = max(1, self.max_iter // len(stages))
        model = Linear(**{field.name: getattr(self, field.name) for field in fields(Linear)} | {"max_iter": rounds})
        for stage in stages:
            start = model.train(stage, data, monitor, start)
            if monitor.interrupted or monitor.out_of_patience:
                break
        return start
