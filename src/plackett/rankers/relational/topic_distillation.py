"""Topic distillation as a relational function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett.data.relation_builders.neighbours import Neighbours
from plackett.rankers.relational.base import RelationalWrapper

__all__ = ["TopicDistillation"]


@dataclass(kw_only=True, eq=False, repr=False)
class TopicDistillation(RelationalWrapper):
    r"""Ranks parents above their children: any ranker f, with entry pages lifted by the good pages below them,

    .. math:: h = \operatorname{arg\,min}_z \lVert z - f \rVert^2 + \beta \sum_{(c, p)} w_{cp}
              \exp(z_c - z_p)

    over the pairs (child c, parent p) of the relation: among the pages of a site, the entry point of a topic should
    rank above the pages below it. The quadratic form expands the exponential to second order, and has the closed form

    .. math:: h = (2I + \beta(2D - R - R^\top))^{-1} (2f - \beta r), \qquad 2D = \operatorname{diag}(R1 + R^\top 1),
              \quad r = R^\top 1 - R 1,

    with :math:`R_{pc} = w_{cp}` from parent to child. In a forest (one parent per document at most, as
    `plackett.parent_relation` makes it) a list of m documents is solved in O(m), otherwise by conjugate gradients.

    Parameters
    ----------
    exact
        Minimise the exponential form itself, by Newton's method. The quadratic form also pulls back a parent that is
        far above its children; the exponential one does not.

    Examples
    --------
    >>> import plackett as pk
    >>> parents = pk.Relation.from_pairs([(1, 0), (2, 0)])  # row 0 is the parent of rows 1 and 2
    >>> data = pk.RankingDataset.from_arrays([[1.0], [1.2], [0.9]], [2, 1, 0], [1, 1, 1], relations={"parent": parents})
    >>> ranker = TopicDistillation(base="LinearRegression", beta=1.0, through=False).fit(data)
    >>> ranker.rank(data).tolist()
    [1, 2, 3]

    References
    ----------
    Qin, Liu, Zhang, Wang, Xiong, Li: Learning to rank relational objects and its application to web search. WWW 2008.
    """

    _test_settings: ClassVar[dict[str, Any]] = {"relation": Neighbours(k=1), "beta": 0.05}
    _test_variants: ClassVar[tuple[dict[str, Any], ...]] = ({"exact": True, "beta": 0.02},)

    relation: Any = "parent"
    exact: bool = False

    @property
    def function(self) -> str:
        """What the relation means."""
        return "exact parents" if self.exact else "parents"
