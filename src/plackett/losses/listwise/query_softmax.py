"""Cross entropy between labels and the softmax of the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import LossError
from plackett.losses.base import DeviceForm, LossOnData, finite_gains
from plackett.losses.listwise.listnet import TopOneLoss
from plackett.measures.gains import check_gain

__all__ = ["QuerySoftmaxLoss"]


@dataclass(frozen=True, kw_only=True, repr=False)
class QuerySoftmaxLoss(TopOneLoss):
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

    target: Any = "linear"
    beta: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", check_gain(self.target, self.name, "target"))
        number(f"{self.name}: beta", self.beta, above=0, error=LossError)

    def exponent(self, bound: LossOnData) -> np.ndarray:
        """Logarithm of the shares."""
        with np.errstate(divide="ignore"):
            return np.log(self._shares(bound))

    def _shares(self, bound: LossOnData) -> np.ndarray:
        labels = bound.data.labels
        shares = finite_gains(labels, self.target, self.name)
        if (shares[labels >= 0] < 0).any():
            raise LossError(f"{self.name}: target={self.target!r} gives negative shares; targets must be 0 or more")
        return shares

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """As for ListNet; a query weighs the sum of its shares."""
        target, entropy, query_weight = super().constants(bound)
        amount = np.where(bound.data.labels >= 0, self._shares(bound) * bound.sample_weight, 0.0)
        return target, entropy, query_weight * np.bincount(bound.data.query_of_row, amount, bound.data.n_queries)

    def derivatives(self, bound: LossOnData, scores: np.ndarray, value: bool) -> tuple[Any, Any, Any]:
        """Those at scores times β."""
        losses, gradient, curvature = super().derivatives(bound, self.beta * scores, value)
        return losses, self.beta * gradient, self.beta**2 * curvature

    def device_form(self, bound: LossOnData) -> DeviceForm | None:
        """None: an accelerator does not scale the scores."""
        return None
