"""ListNet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._base.search_space import Real, SearchSpace
from plackett.losses.base import Loss
from plackett.losses.listwise.listnet import ListNetLoss
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained
from plackett.rankers.chosen_penalty import ChosenPenalty

__all__ = ["ListNet"]


@dataclass(kw_only=True, eq=False, repr=False)
class ListNet(ChosenPenalty, GradientTrained, Linear):
    """ListNet: a linear model whose top-one probabilities approximate those of the labels.

    Minimises the cross entropy between softmax(labels) and softmax(scores) of each query
    (`plackett.losses.ListNetLoss`). For ListNet on trees or a network: ``GradientRanker(loss="ListNet", model=…)``.

    Parameters
    ----------
    alpha
        Strength of the penalty. ``"auto"`` chooses 0.01, 0.1, 1 or 10 by five-fold cross-validation over the training
        queries, with `eval_measure` (a sample of about 50,000 documents of larger data, 0.1 for fewer than ten
        queries). The choice is in ``alpha_`` and in the model card. Labels above 1,000, for which nDCG has no gains,
        are judged with linear gain, and a warning, unless another measure is given.
    target, temperature
        Exponent of the target distribution (``"linear"``, ``"exp2"`` or a table), and the temperature that divides it.

    Examples
    --------
    >>> ranker = ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Cao, Qin, Liu, Tsai, Li: Learning to rank: from pairwise approach to listwise approach. ICML 2007.
    """

    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-4, 1.0, log=True), "temperature": Real(0.2, 1.0, log=True)}

    _penalty: ClassVar[tuple[str, tuple[float, ...]]] = ("alpha", (0.1, 0.01, 1.0, 10.0))

    alpha: float | str = "auto"  # type: ignore[assignment]
    target: Any = "linear"
    temperature: float = 1.0

    def _penalty_for_all(self, value: float, share: float) -> float:
        return value * share  # it is weighed against the mean loss of a query

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return ListNetLoss(target=self.target, temperature=self.temperature)
