"""The learners by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from plackett._kernels.kernel import kernel_from
from plackett.rankers.pairwise.stochastic import hinge, logistic, margin_perceptron, passive_aggressive, romma
from plackett.rankers.pairwise.stochastic.descent import run


class PairLearner(NamedTuple):
    """What a learner is: its kernel, its target margin, whether weights stay in the ball of radius 1/√λ, its rate.

    ``needs_length``: whether a step uses the length of an example, which takes time to compute for sparse pairs.
    """

    run: Callable[..., None]
    margin: float = 1.0
    projected: bool = False
    rate: str = "pegasos"
    needs_length: bool = False


_HINGE, _LOGISTIC = (kernel_from(run, step=learner.step) for learner in (hinge, logistic))

#: As sofia-ml calls them.
LEARNERS = {
    "pegasos": PairLearner(_HINGE, projected=True),
    "sgd-svm": PairLearner(_HINGE),
    "passive-aggressive": PairLearner(kernel_from(run, step=passive_aggressive.step), needs_length=True),
    "margin-perceptron": PairLearner(kernel_from(run, step=margin_perceptron.step), rate="constant"),
    "romma": PairLearner(kernel_from(run, step=romma.step), needs_length=True),
    "logreg-pegasos": PairLearner(_LOGISTIC, margin=0.0, projected=True),
    "logreg": PairLearner(_LOGISTIC, margin=0.0),
}


def _pegasos(alpha: float, eta0: float) -> tuple[float, float, float]:
    return 1.0, 0.0, alpha


def _basic(alpha: float, eta0: float) -> tuple[float, float, float]:
    return 10.0, 10.0, 1.0


def _constant(alpha: float, eta0: float) -> tuple[float, float, float]:
    return eta0, 1.0, 0.0


#: Rate of step t as a / (b + c t): the numbers a, b, c.
RATES = {"pegasos": _pegasos, "basic": _basic, "constant": _constant}
