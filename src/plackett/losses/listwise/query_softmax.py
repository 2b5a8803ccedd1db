"""Cross entropy between labels and the softmax of the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss, finite_gains
from plackett.losses.listwise.listnet import CrossEntropy
from plackett.measures.gains import check_gain

__all__ = ["QuerySoftmaxLoss"]


@dataclass(frozen=True, kw_only=True, repr=False)
class QuerySoftmaxLoss(Loss):
    r"""Cross entropy of labels as shares and the softmax of the scores: CatBoost's ``QuerySoftMax``.

    .. math:: L = \sum_j w_j\,g(y_j)\,\log\frac{P_j}{Q_j}, \quad P_j \propto w_j\,g(y_j),\ Q_j \propto e^{\beta s_j}

    The weight of a query is the sum of its labels. `ListNetLoss` has :math:`e^{y}` instead of the label, and
    `XENDCGLoss` has :math:`2^y - \gamma`: there a document of label 0 keeps a share, here it has none. A query whose
    labels are all equal has loss and gradient 0.

    Parameters
    ----------
    target
        g: ``"linear"`` (the label), ``"exp2"`` (2^label − 1) or a table label: value, of 0 or more.
    beta
        Scale β of the scores.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0])
    >>> round(QuerySoftmaxLoss()(np.zeros(2), data), 4)  # log 2
    0.6931

    References
    ----------
    Bruch, Wang, Bendersky, Najork: An analysis of the softmax cross entropy loss for learning-to-rank with binary
    relevance. ICTIR 2019.
    """

    name: ClassVar[str] = "QuerySoftmax"
    _test_variants = ({"target": "exp2", "beta": 0.5},)
    convex: ClassVar[bool] = True

    target: Any = "linear"
    beta: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", check_gain(self.target, self.name, "target"))
        if not self.beta > 0:
            raise LossError(f"{self.name}: beta={self.beta}; give a positive number")

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on one dataset."""
        return _Bound(self, data, n_jobs)


class _Bound(BoundLoss):
    def __init__(self, loss: QuerySoftmaxLoss, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.beta = loss.beta
        gains = finite_gains(data.labels, loss.target, loss.name)
        if (gains[data.labels >= 0] < 0).any():
            raise LossError(f"{loss.name}: target={loss.target!r} gives negative shares; targets must be 0 or more")
        with np.errstate(divide="ignore"):
            exponent = np.log(gains)
        amount = np.where(data.labels >= 0, gains * self.sample_weight, 0.0)
        total = np.bincount(data.query_of_row, amount, data.n_queries)
        self.inner = CrossEntropy(data.replace(query_weight=self.query_weight * total), exponent, n_jobs)

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        losses, gradient, curvature = self.inner.evaluate(self.beta * scores, value)
        return losses, self.beta * gradient, self.beta**2 * curvature
