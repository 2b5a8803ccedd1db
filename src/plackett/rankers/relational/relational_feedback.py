"""Pseudo relevance feedback as a relational function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett.data.relation_builders.neighbours import Neighbours
from plackett.rankers.relational.base import RelationalWrapper

__all__ = ["RelationalFeedback"]


@dataclass(kw_only=True, eq=False, repr=False)
class RelationalFeedback(RelationalWrapper):
    r"""Similar documents get similar scores: any ranker f, smoothed over the similarities R of the documents of a list,

    .. math:: h = \operatorname{arg\,min}_z \lVert z - f \rVert^2 + \frac{\beta}{2} \sum_{i, j} R_{ij} (z_i - z_j)^2
              = (I + \beta (D - R))^{-1} f, \qquad D = \operatorname{diag}\Big(\sum_j R_{ij}\Big).

    A document similar to good ones rises, as in pseudo relevance feedback; one without similar documents keeps its
    score. f is trained so that h, not f, fits the labels. A relation given in one direction counts half in both. Each
    list is solved by conjugate gradients on its related pairs; the sum of its scores stays the same.

    Examples
    --------
    >>> import plackett as pk
    >>> X, y, qid = [[0.0, 1], [1, 1], [2, 5], [3, 5]], [0, 0, 1, 1], [1, 1, 1, 1]
    >>> similar = pk.Relation.from_pairs([(0, 1), (2, 3)])
    >>> data = pk.RankingDataset.from_arrays(X, y, qid, relations={"similarity": similar})
    >>> ranker = RelationalFeedback(base="LinearRegression", beta=1.0).fit(data)
    >>> ranker.rank(data).tolist()
    [4, 3, 2, 1]
    >>> RelationalFeedback(relation=pk.Neighbours(k=1), beta=0.5).fit(X, y, qid=qid).rank(X, qid=qid).tolist()
    [4, 3, 2, 1]

    References
    ----------
    Qin, Liu, Zhang, Wang, Xiong, Li: Learning to rank relational objects and its application to web search. WWW 2008.
    """

    _test_settings: ClassVar[dict[str, Any]] = {"relation": Neighbours(k=2), "beta": 0.1}
    _test_variants: ClassVar[tuple[dict[str, Any], ...]] = ({"beta": "auto", "base": "LinearRegression"},)

    @property
    def function(self) -> str:
        """What the relation means."""
        return "similarity"
