"""Robust sparse ranker."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.data.mapped import row_blocks
from plackett.data.parts import per_row
from plackett.losses.base import Loss
from plackett.losses.pairwise.logistic import Logistic
from plackett.measures.ranking import Scored
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained
from plackett.rankers.pairwise._frozen_swaps import FrozenSwaps
from plackett.scorers.base import Scorer
from plackett.solvers.monitor import Monitor

__all__ = ["RobustSparseRanker"]


@dataclass(kw_only=True, eq=False, repr=False)
class RobustSparseRanker(GradientTrained, Linear):
    r"""RSRank: a sparse linear ranker whose pairs are weighted by the effect of swapping them on a measure.

    .. math:: \min_w \sum_{y_u > y_v} \omega_{uv} \log\big(1 + e^{-w \cdot (x_u - x_v)}\big) + \alpha \lVert w \rVert_1,
              \qquad \omega_{uv} = \frac{|(G_u - G_v)(\eta(\pi_u) - \eta(\pi_v))|}{Z}

    for nDCG; other measures have their own swap deltas. The ranks π come from the model of the previous round and are
    fixed while the convex problem is solved. Then they are updated, until the ranking no longer changes or `n_rounds`
    is reached. The first round weights all pairs of a query equally. The weighted pair error bounds what is lost of the
    measure (`plackett.theory.rsr_reduction`); the L1 penalty leaves few features.

    ``solver="lbfgs"`` (also ``"auto"``) solves the convex problems to the optimum, with weights that are exactly 0
    where the penalty wins. ``"sgd"`` is online as in the paper: after each step over a batch of queries the weights are
    shrunk towards 0 (truncated gradient). The result is the mean of the last epochs, whose weights are small but rarely
    0.

    Parameters
    ----------
    measure
        Any measure with a swap delta: nDCG, AP, RR, ERR, …; a cut-off leaves out pairs below it.
    n_rounds
        Maximum number of rounds of pair weights.

    Examples
    --------
    >>> ranker = RobustSparseRanker().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Sun, Qin, Tao, Wang: Robust sparse rank learning for non-smooth ranking measures. SIGIR 2009.
    """

    takes_preferences: ClassVar[bool] = False

    alpha: float = 1e-3
    l1_ratio: float = 1.0
    measure: Any = "nDCG"
    n_rounds: int = 5

    def make_loss(self) -> Loss:
        """The loss of the first round."""
        return Logistic(normalize=True)

    def _as_long_as(self, rounds: int) -> dict[str, Any]:
        """Rounds count all stages together, and `max_iter` cannot stop inside a stage, so training runs in full."""
        return {}

    def train(self, loss: Loss, data: RankingDataset, monitor: Monitor, start: Scorer | None = None) -> Any:
        """Train with equal weights first, then with the weights of each resulting ranking."""
        whole("n_rounds", self.n_rounds, least=1, error=LossError)
        if data.preferences is not None:
            raise LossError(
                "RobustSparseRanker weighs pairs by their gains and ranks: it needs labels, not preferences"
            )
        rounds = max(1, self.max_iter // self.n_rounds)
        model = Linear(**{field.name: getattr(self, field.name) for field in fields(Linear)} | {"max_iter": rounds})
        before = None
        for _ in range(self.n_rounds):
            start = model.train(loss, data, monitor, start)
            if monitor.interrupted or monitor.out_of_patience:
                break
            ranking = per_row(data, partial(_ranked, start, self.n_jobs), np.int64)
            if before is not None and all(np.array_equal(before[r], ranking[r]) for r in row_blocks(data.n_rows)):
                break
            before, loss = ranking, FrozenSwaps(measure=str(self.measure), at=start)
        return start


def _ranked(scorer: Scorer, n_jobs: int | None, data: RankingDataset) -> np.ndarray:
    """The rows of a part of the dataset by their scores."""
    return Scored(data, scorer.predict(data.X, data.offsets, n_jobs), n_jobs=n_jobs).ranking("stable").rows
