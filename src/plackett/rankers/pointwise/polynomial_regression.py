"""Regression on products of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._base.arguments import whole
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss
from plackett.losses.pointwise.square import Square
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained
from plackett.scorers.polynomial import PolynomialScorer, expanded
from plackett.solvers.monitor import Monitor

__all__ = ["PolynomialRegression"]


@dataclass(kw_only=True, eq=False, repr=False)
class PolynomialRegression(GradientTrained, Linear):
    r"""Polynomial retrieval function: least squares on all products of up to ``degree`` features.

    d features become :math:`\binom{d + g}{g} - 1` products of degree g: choose few features or degree 2.

    Parameters
    ----------
    alpha
        Strength of the penalty, 1000 by default: a few thousand products need a strong one. Chosen on validation
        queries of several small sets (see "Defaults on small data" in the guide to rankers).
    degree
        Largest number of factors; 1 is `LinearRegression`.
    interaction_only
        Leave out powers of a single feature.
    target
        ``"linear"`` (the label), ``"exp2"`` (2^label − 1), or a table label: target.

    Examples
    --------
    >>> ranker = PolynomialRegression().fit([[-2.0], [-1.0], [0.0], [1.0], [2.0]], [4, 1, 0, 1, 4], qid=[1] * 5)
    >>> ranker.rank([[-3.0], [0.5], [1.5]], qid=[2, 2, 2])
    array([1, 3, 2])

    References
    ----------
    Fuhr: Optimum polynomial retrieval functions based on the probability ranking principle. TOIS 1989.
    """

    #: With a few thousand products the penalty must be strong: around 100 was best on LETOR validation data.
    search_space: ClassVar[SearchSpace] = {"alpha": Real(1.0, 1e4, log=True)}

    alpha: float = 1000.0
    degree: int = 2
    interaction_only: bool = False
    target: Any = "linear"

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return Square(target=self.target)

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        whole("degree", self.degree, least=1)
        if monitor.valid is not None:
            monitor.valid = self._expanded(monitor.valid)
        super()._fit(self._expanded(data), monitor)
        self.scorer_ = PolynomialScorer(self.scorer_, data.n_features, self.degree, bool(self.interaction_only))

    def _expanded(self, data: RankingDataset) -> RankingDataset:
        return data.replace(X=expanded(data.X, self.degree, self.interaction_only), feature_names=None)
