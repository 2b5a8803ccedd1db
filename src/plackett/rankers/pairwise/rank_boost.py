"""RankBoost."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from plackett._base.arguments import choice, number
from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.losses.pairwise.base import PairLoss
from plackett.losses.pairwise.exponential import Exponential
from plackett.losses.pairwise.logistic import Logistic
from plackett.rankers.pairwise._pair_boosting import PairBoosting, Round, root
from plackett.solvers.monitor import Monitor

__all__ = ["RankBoost"]

LOSSES: dict[str, type[PairLoss]] = {"exponential": Exponential, "logistic": Logistic}
#: φ' of a pair that is ahead by z.
_SLOPES: dict[str, Callable[[float], float]] = {
    "exponential": lambda z: -math.exp(-z),
    "logistic": lambda z: -1.0 / (1.0 + math.exp(z)),
}


def _search(ranker: RankBoost, round: Round) -> float:
    phantom, slope = ranker.smoothing, _SLOPES[ranker.loss]
    return root(lambda a: round.along(a)[1] / round.total + phantom * (slope(a) - slope(-a)), direction=round.weak.edge)


def _closed(ranker: RankBoost, round: Round) -> float:
    plus, minus = (share + ranker.smoothing for share in round.right_and_wrong)
    return 0.5 * _log_ratio(plus, minus)


def _bound(ranker: RankBoost, round: Round) -> float:
    phantom = 2.0 * ranker.smoothing
    return 0.5 * _log_ratio(1.0 + round.edge + phantom, 1.0 - round.edge + phantom)


def _log_ratio(a: float, b: float) -> float:
    """log(a / b), within ±60 where one of them vanishes."""
    tiny = math.exp(-60.0)
    return math.log(max(a, tiny * b)) - math.log(max(b, tiny * a))


STEPS: dict[str, Callable[[RankBoost, Round], float]] = {"search": _search, "closed": _closed, "bound": _bound}
_AUTO = {"exponential": "bound", "logistic": "search"}


@dataclass(kw_only=True, eq=False, repr=False)
class RankBoost(PairBoosting):
    r"""RankBoost: a sum of weak rankers of one feature each, by coordinate descent on the exponential pair loss.

    Each round has a distribution over the pairs "u before v", :math:`D(u, v) \propto w_{uv}\,e^{-(s_u - s_v)}`, finds
    the weak ranker h of the largest edge :math:`|r|`, :math:`r = \sum D(u, v)\,(h(u) - h(v))`, and adds
    :math:`\alpha h` to the score. The share of misordered pairs is at most the mean exponential loss, the product of
    the normalisers :math:`Z_t` (`plackett.theory.rankboost_error_bounds`).

    With labels, pairs are never listed: the weights are products, so sums over the grades of a query give the potential
    of each document in time linear in the documents, and a round costs one histogram per feature. Explicit preferences
    replace the pairs of unequal labels, with their weights and margins. For a missing value (NaN) the weak ranker
    abstains: the search decides for each weak ranker whether that counts as 0 or 1.

    Parameters
    ----------
    step
        How α is found: ``"search"`` minimises the loss along h numerically (Freund et al.'s first way); ``"closed"``
        is its minimum for h of 0 and 1, :math:`\frac12 \log(W_+ / W_-)` (the second); ``"bound"`` minimises a bound,
        :math:`\frac12 \log\frac{1 + r}{1 - r}` (the third). ``"auto"`` is ``"bound"`` for the exponential loss, whose
        shorter steps did better on validation data, and ``"search"`` for the logistic one.
    smoothing
        Weight, as a share of all pairs, of two pairs that are added to the step of each weak ranker, one that it gets
        right and one that it gets wrong: otherwise a weak ranker without mistakes has an infinite α (capped at 30).
    loss
        ``"exponential"``, or ``"logistic"`` (:math:`\log(1 + e^{-(s_u - s_v)})`), which gives less weight to hopeless
        pairs, visits all pairs in each round and needs the step ``"search"``.
    normalize
        Give each query the same weight at the start, instead of each pair.

    Examples
    --------
    >>> ranker = RankBoost(n_estimators=3).fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[0.2], [1.8]], qid=[2, 2])
    array([2, 1])
    >>> ranker.rounds_["threshold"].tolist()
    [1.5, 0.5, 1.5]

    References
    ----------
    Freund, Iyer, Schapire, Singer: An efficient boosting algorithm for combining preferences. JMLR 2003.
    Mohri, Rostamizadeh, Talwalkar: Foundations of machine learning. MIT Press 2018, chapter 10.
    """

    step: str = "auto"
    smoothing: float = 1e-6
    loss: str = "exponential"
    normalize: bool = False

    def _make_loss(self) -> PairLoss:
        return LOSSES[self.loss](normalize=self.normalize)

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        choice("loss", self.loss, LOSSES, error=LossError)
        choice("step", self.step, ("auto", *STEPS), error=LossError)
        if self.step == "closed" and (self.weak, self.loss) != ("threshold", "exponential"):
            raise LossError('step="closed" is for weak="threshold" with loss="exponential"; use step="search"')
        if self.step == "bound" and self.loss != "exponential":
            raise LossError('step="bound" is for loss="exponential"; use step="search"')
        number("smoothing", self.smoothing, least=0.0, error=LossError)
        super()._fit(data, monitor)

    def _step(self, round: Round) -> float:
        return STEPS[_AUTO[self.loss] if self.step == "auto" else self.step](self, round)
