"""LambdaMART: boosted trees on the lambda gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._base.search_space import SearchSpace
from plackett.losses.base import Loss
from plackett.losses.pairwise.lambdas import Lambda
from plackett.models.trees.model import Trees
from plackett.rankers.base import GradientTrained

__all__ = ["LambdaMART"]


@dataclass(kw_only=True, eq=False, repr=False)
class LambdaMART(GradientTrained, Trees):
    """LambdaMART: gradient-boosted trees on the lambda gradient of a measure.

    The gradient of a pair is that of the logistic pair loss times what exchanging the two documents would change in
    the measure (`plackett.losses.Lambda`); each tree takes a Newton step along it. Its relatives are values of
    ``boosting``: ``"dart"`` drops trees out, ``"bagged"`` is a mean of LambdaMARTs on bootstraps of the queries, and
    ``"forest"`` is LambdaRandomForest, trees on the first lambda gradient.

    Parameters
    ----------
    measure
        Any measure with a swap delta: nDCG, AP, RR, ERR, P, ARP, …
    truncation
        Only pairs with a document in this many top ranks count; None uses all pairs.
    sigma
        Steepness of the sigmoid.
    normalize
        Keep queries with many pairs from dominating, as LightGBM does.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> ranker = LambdaMART(n_estimators=10).fit(X, [i % 10 > 5 for i in range(100)], qid=[i // 10 for i in range(100)])
    >>> ranker.rank([[1.0], [9.0]], qid=[0, 0])
    array([2, 1])

    References
    ----------
    Wu, Burges, Svore, Gao: Adapting boosting for information retrieval measures. Information Retrieval 2010.
    Burges: From RankNet to LambdaRank to LambdaMART: an overview. Microsoft Research 2010.
    """

    search_space: ClassVar[SearchSpace] = {**Trees.search_space, "measure": ("nDCG", "AP")}
    _test_variants = tuple({"boosting": boosting, "n_estimators": 20} for boosting in ("dart", "bagged", "forest"))

    gradient_bins: int | None = 254
    measure: Any = "nDCG"
    truncation: int | None = 30
    sigma: float = 1.0
    normalize: bool = True

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return Lambda(measure=self.measure, truncation=self.truncation, sigma=self.sigma, normalize=self.normalize)
