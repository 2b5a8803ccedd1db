"""LambdaMART that avoids falling below a baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plackett.losses.base import Loss
from plackett.losses.pairwise.risk_sensitive import RiskSensitive
from plackett.models.trees.model import Trees
from plackett.rankers.base import GradientTrained

__all__ = ["RiskSensitiveLambdaMART"]


@dataclass(kw_only=True, eq=False, repr=False)
class RiskSensitiveLambdaMART(GradientTrained, Trees):
    """LambdaMART that gives more weight to queries that are, or are about to become, worse than a baseline.

    It trades some of the mean for fewer queries that lose against the current ranking: evaluate it with
    `plackett.urisk`, `plackett.trisk` and `plackett.evaluation.risk.reward_risk`. See
    `plackett.losses.RiskSensitive` for the formulas.

    Parameters
    ----------
    baseline
        The baseline ranking: index (from 0) or name of a feature to rank by, such as the score of the current engine,
        ``"positions"`` (those of the dataset), or None for a random order.
    alpha
        Additional weight of losses; 0 is LambdaMART.
    risk
        ``"urisk"``, ``"saro"`` or ``"faro"``; the latter two are based on TRisk.
    measure, truncation, sigma, normalize
        As in `LambdaMART`.

    Examples
    --------
    >>> X = [[float(i % 10), float(i % 3)] for i in range(100)]
    >>> y, qid = [i % 10 > 5 for i in range(100)], [i // 10 for i in range(100)]
    >>> ranker = RiskSensitiveLambdaMART(baseline=1, alpha=5.0, n_estimators=10).fit(X, y, qid=qid)
    >>> ranker.rank([[1.0, 0.0], [9.0, 0.0]], qid=[0, 0])
    array([2, 1])

    References
    ----------
    Wang, Bennett, Collins-Thompson: Robust ranking models via risk-sensitive optimization. SIGIR 2012.
    Dinçer, Macdonald, Ounis: Hypothesis testing for the risk-sensitive evaluation of retrieval systems. SIGIR 2014.
    """

    baseline: int | str | None = 0
    alpha: float = 1.0
    risk: str = "urisk"
    measure: Any = "nDCG"
    truncation: int | None = 30
    sigma: float = 1.0
    normalize: bool = True

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return RiskSensitive(
            baseline=self.baseline,
            alpha=self.alpha,
            risk=self.risk,
            measure=self.measure,
            truncation=self.truncation,
            sigma=self.sigma,
            normalize=self.normalize,
        )
