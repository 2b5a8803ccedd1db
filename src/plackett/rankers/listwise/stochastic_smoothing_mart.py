"""Trees on a measure smoothed by noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._base.search_space import Real, SearchSpace
from plackett.losses.base import Loss
from plackett.losses.listwise.stochastic_smoothing import StochasticSmoothing
from plackett.models.trees.model import Trees
from plackett.rankers.base import GradientTrained

__all__ = ["StochasticSmoothingMART"]


@dataclass(kw_only=True, eq=False, repr=False)
class StochasticSmoothingMART(GradientTrained, Trees):
    """Gradient-boosted trees on a measure smoothed by Gaussian noise, as CatBoost's ``StochasticRank``.

    The gradient is that of the expected measure when noise is added to the scores
    (`plackett.losses.StochasticSmoothing`); it has no curvature, so a leaf value is a mean rather than a Newton step.
    Gradients are small, so the learning rate is large.

    Parameters
    ----------
    measure
        A measure that is a sum of gains times discounts: nDCG, DCG, P, …
    sigma
        Standard deviation of the noise.
    mu
        How far the noise shifts good labels down, in standard deviations.
    n_samples
        Number of noise samples per round.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> y, qid = [i % 10 > 5 for i in range(100)], [i // 10 for i in range(100)]
    >>> ranker = StochasticSmoothingMART(n_estimators=10).fit(X, y, qid=qid)
    >>> ranker.rank([[1.0], [9.0]], qid=[0, 0])
    array([2, 1])

    References
    ----------
    Ustimenko, Prokhorenkova: StochasticRank: global optimization of scale-free discrete functions. ICML 2020.
    """

    search_space: ClassVar[SearchSpace] = {
        **Trees.search_space,
        "learning_rate": Real(3.0, 100.0, log=True),
        "sigma": Real(0.1, 3.0, log=True),
    }

    learning_rate: float = 20.0
    measure: Any = "nDCG"
    sigma: float = 1.0
    mu: float = 0.0
    n_samples: int = 4

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        settings = {name: getattr(self, name) for name in ("measure", "sigma", "mu", "n_samples")}
        return StochasticSmoothing(random_state=self.random_state or 0, **settings)
