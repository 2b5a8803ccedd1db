"""The learners by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from plackett.rankers.pairwise.stochastic import hinge, logistic, margin_perceptron, passive_aggressive, romma


class PairLearner(NamedTuple):
    """What a learner is: its kernel, its target margin, whether weights stay in the ball of radius 1/√λ, its rate.

    ``needs_length``: whether a step uses the length of an example, which takes time to compute for sparse pairs.
    """

    run: Callable[..., None]
    margin: float = 1.0
    projected: bool = False
    rate: str = "pegasos"
    needs_length: bool = False


#: As sofia-ml calls them.
LEARNERS = {
    "pegasos": PairLearner(hinge.run, projected=True),
    "sgd-svm": PairLearner(hinge.run),
    "passive-aggressive": PairLearner(passive_aggressive.run, needs_length=True),
    "margin-perceptron": PairLearner(margin_perceptron.run, rate="constant"),
    "romma": PairLearner(romma.run, needs_length=True),
    "logreg-pegasos": PairLearner(logistic.run, margin=0.0, projected=True),
    "logreg": PairLearner(logistic.run, margin=0.0),
}


def _pegasos(alpha: float, eta0: float) -> tuple[float, float, float]:
    return 1.0, 0.0, alpha


def _basic(alpha: float, eta0: float) -> tuple[float, float, float]:
    return 10.0, 10.0, 1.0


def _constant(alpha: float, eta0: float) -> tuple[float, float, float]:
    return eta0, 1.0, 0.0


#: Rate of step t as a / (b + c t): the numbers a, b, c.
RATES = {"pegasos": _pegasos, "basic": _basic, "constant": _constant}
