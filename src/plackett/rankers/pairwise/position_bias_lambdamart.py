"""LambdaMART for clicks, with a position bias that is added to the scores during training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss
from plackett.losses.pairwise.lambdas import Lambda
from plackett.losses.pairwise.unbiased_lambda import clipped_positions
from plackett.rankers.pairwise._shown_positions import Biases, ClickTrained, JointlyBound

__all__ = ["PositionBiasLambdaMART"]


@dataclass(kw_only=True, eq=False, repr=False)
class PositionBiasLambdaMART(ClickTrained):
    r"""LambdaMART on clicks that attributes part of them to the positions at which documents were shown.

    During training, the score of a document shown at position i is :math:`f(x) + b_i`; a new document is scored by
    :math:`f(x)` alone. Trees are grown on the lambda gradient :math:`g, h` at these sums, and each round ends with a
    Newton step for each position,

    .. math:: b_i \leftarrow b_i - \eta\,\frac{\sum_{d\text{ at }i} g_d + r\,n_i\,b_i}{\sum_{d\text{ at }i} h_d + r\,n_i
        + 0.001}

    with η the learning rate, r ``bias_regularization`` and :math:`n_i` the number of documents shown at i. This is what
    LightGBM does with ``position``. See `UnbiasedLambdaMART` for where positions come from and what validation on
    clicks means. If relevance differs between positions for reasons that the features do not capture, the bias absorbs
    that difference.

    Parameters
    ----------
    bias_regularization
        r, the regularisation of all biases towards 0.
    max_position
        All positions from this one on share one bias; None gives each its own.
    measure, truncation, sigma, normalize
        As in `LambdaMART`.

    Attributes
    ----------
    position_bias_
        b of the positions 1, 2, … in the round that was kept, relative to the first position.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> clicks, qid = [i % 10 > 5 for i in range(100)], [i // 10 for i in range(100)]
    >>> shown = [1 + (7 * i + i // 10) % 10 for i in range(100)]
    >>> ranker = PositionBiasLambdaMART(n_estimators=10).fit(X, clicks, qid=qid, positions=shown)
    >>> ranker.rank([[1.0], [9.0]], qid=[0, 0])
    array([2, 1])

    References
    ----------
    Ke, Meng, Finley, Wang, Chen, Ma, Ye, Liu: LightGBM: a highly efficient gradient boosting decision tree. NIPS 2017.
    The bias is not in the paper but in the program (``lambdarank_position_bias_regularization``).
    """

    gradient_bins: int | None = 254
    bias_regularization: float = 0.0

    def make_loss(self) -> Loss:
        """The lambda gradient, which ignores positions."""
        return Lambda(measure=self.measure, truncation=self.truncation, sigma=self.sigma, normalize=self.normalize)

    def _joint(self, data: RankingDataset, n_jobs: int | None, n: int, start: bool) -> JointlyBound:
        number("bias_regularization", self.bias_regularization, least=0, error=LossError)
        bias = np.zeros(n)
        if start:
            before = self.position_bias_[:n]
            bias[: before.size], bias[before.size :] = before, before[-1]
        bound = self.make_loss().bind(data, n_jobs=n_jobs)
        return _Added(bound, bias, self.learning_rate, self.bias_regularization)


class _Added(JointlyBound):
    def __init__(self, bound: BoundLoss, bias: np.ndarray, rate: float, regularization: float) -> None:
        super().__init__(bound.data, bound.n_jobs)
        self.bound, self.bias, self.rate = bound, bias, rate
        self.positions = clipped_positions(bound.data, bias.size)
        self.pull = regularization * np.bincount(self.positions, minlength=bias.size)

    def step(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, Biases]:
        _, gradient, curvature = self.bound.evaluate(scores + self.bias[self.positions], value=False)
        slope = np.bincount(self.positions, gradient, self.bias.size) + self.pull * self.bias
        bend = np.bincount(self.positions, curvature, self.bias.size) + self.pull
        self.bias = self.bias - self.rate * slope / (bend + 0.001)
        return gradient, curvature, {"position_bias_": self.bias - self.bias[0]}
