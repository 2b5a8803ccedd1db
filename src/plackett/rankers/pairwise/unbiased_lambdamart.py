"""LambdaMART for clicks, with pairs divided by a position bias that is estimated during training."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss
from plackett.losses.pairwise.unbiased_lambda import BoundUnbiasedLambda, UnbiasedLambda, clipped_positions
from plackett.rankers.pairwise._shown_positions import Biases, ClickTrained, JointlyBound

__all__ = ["UnbiasedLambdaMART"]

#: No bias is estimated lower than this: pairs of rare clicks far down would otherwise outweigh all others.
LEAST_BIAS = 0.01


@dataclass(kw_only=True, eq=False, repr=False)
class UnbiasedLambdaMART(ClickTrained):
    r"""LambdaMART on clicks, with each pair divided by the bias of its positions.

    Users click what they see, and they see what was shown high up. The labels are clicks, and the dataset has the
    position at which each document was shown. The pair of a clicked document at position i and a skipped one at
    position j has weight :math:`1 / (t^+_i t^-_j)` (`plackett.losses.UnbiasedLambda`). Each round estimates

    .. math:: t^+_i = \Big[\frac{\ell^+_i}{\ell^+_1}\Big]^{1 / (1 + p)}, \qquad
        t^-_j = \Big[\frac{\ell^-_j}{\ell^-_1}\Big]^{1 / (1 + p)}

    for the next one, with :math:`\ell^+_i` the loss of all pairs whose clicked document was at i, each divided by the
    :math:`t^-` of the other document, and :math:`\ell^-_j` likewise. If a click requires both examination and interest,
    :math:`t^+` is the probability of examination relative to the first position. A position without such pairs takes
    the value of the one before it, and no value is below 0.01.

    The paper estimates :math:`t^-` as well. A model that has learned the bias finds skips far down easy, so that their
    loss and their :math:`t^-` fall and they count even more; with simulated clicks it did better with
    :math:`t^- = 1`, the default here.

    Give a `RankingDataset` with ``positions``, a file with a column ``position``, or ``fit(…, positions=…)``. Without
    positions it trains like `LambdaMART` and warns. Validation data are evaluated as they are: if their labels are
    clicks, the choice of the best round is biased too. `PositionBiasLambdaMART` adds the bias to the scores instead.

    Parameters
    ----------
    bias_norm
        p, the strength of the regularisation of all biases towards 1; infinity is LambdaMART.
    learn_skip_bias
        Also estimate :math:`t^-`, as the paper and XGBoost do.
    max_position
        All positions from this one on share one bias; None gives each its own.
    measure, truncation, sigma, normalize
        As in `LambdaMART`.

    Attributes
    ----------
    click_bias_, skip_bias_
        :math:`t^+` and :math:`t^-` of the positions 1, 2, … in the round that was kept.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> clicks, qid = [i % 10 > 5 for i in range(100)], [i // 10 for i in range(100)]
    >>> shown = [1 + (7 * i + i // 10) % 10 for i in range(100)]
    >>> ranker = UnbiasedLambdaMART(n_estimators=10).fit(X, clicks, qid=qid, positions=shown)
    >>> ranker.rank([[1.0], [9.0]], qid=[0, 0])
    array([2, 1])
    >>> ranker.click_bias_.shape
    (10,)

    References
    ----------
    Hu, Wang, Peng, Li: Unbiased LambdaMART: an unbiased pairwise learning-to-rank algorithm. WWW 2019.
    """

    bias_norm: float = 0.0
    learn_skip_bias: bool = False

    def make_loss(self) -> Loss:
        """The lambda gradient with the biases learned so far, or with none."""
        return UnbiasedLambda(
            click_bias=getattr(self, "click_bias_", (1.0,)),
            skip_bias=getattr(self, "skip_bias_", (1.0,)),
            measure=self.measure,
            truncation=self.truncation,
            sigma=self.sigma,
            normalize=self.normalize,
        )

    def _joint(self, data: RankingDataset, n_jobs: int | None, n: int, start: bool) -> JointlyBound:
        number("bias_norm", self.bias_norm, least=0, most=math.inf, error=LossError)
        loss = self.make_loss()
        bound = (
            loss.bind(data, n_jobs=n_jobs)
            if start
            else loss.replace(click_bias=(1.0,), skip_bias=(1.0,)).bind(data, n_jobs=n_jobs)
        )
        assert isinstance(bound, BoundUnbiasedLambda)
        return _Estimated(bound, n, 1.0 / (1.0 + self.bias_norm), self.learn_skip_bias)


class _Estimated(JointlyBound):
    def __init__(self, bound: BoundUnbiasedLambda, n: int, power: float, skips: bool) -> None:
        super().__init__(bound.data, bound.n_jobs)
        self.bound, self.n, self.power, self.skips = bound, n, power, skips
        self.positions = clipped_positions(bound.data, n)

    def step(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, Biases]:
        _, gradient, curvature, click_cost, skip_cost = self.bound.costs(scores)
        click_bias = self._bias(click_cost)
        skip_bias = self._bias(skip_cost) if self.skips else np.ones(self.n)
        self.bound.weigh(click_bias, skip_bias)
        return gradient, curvature, {"click_bias_": click_bias, "skip_bias_": skip_bias}

    def _bias(self, cost: np.ndarray) -> np.ndarray:
        """Bias of each position from the loss of each document's pairs."""
        total = np.bincount(self.positions, cost, self.n)
        known = np.flatnonzero(total > 0.0)
        if known.size == 0:
            return np.ones(self.n)
        # that of the last known position up to each; the first known one for those before it
        total = total[known[np.maximum(np.searchsorted(known, np.arange(self.n), side="right") - 1, 0)]]
        return np.maximum((total / total[0]) ** self.power, LEAST_BIAS)
