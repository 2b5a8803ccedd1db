"""Relations between groups of documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett.data.relation_builders.neighbours import Neighbours
from plackett.rankers.relational.base import RelationalWrapper
from plackett.scorers.relations.lookup import parsed

__all__ = ["HypergraphRanker"]


@dataclass(kw_only=True, eq=False, repr=False)
class HypergraphRanker(RelationalWrapper):
    r"""Documents of the same groups get similar scores: any ranker f, smoothed over a hypergraph,

    .. math:: h = (I + \beta L_H)^{-1} f, \qquad L_H = D_v - H W D_e^{-1} H^\top,

    where column e of H marks the members of group e (the pages of a site, the offers of a product), W and :math:`D_e`
    hold the weights and sizes of the groups, and :math:`D_v = \operatorname{diag}(HW1)`. A group of all documents
    shrinks every score towards the mean. With groups of two it is `RelationalFeedback` with β/2. Products with
    :math:`L_H` cost the number of memberships: large groups are not expanded into pairs.

    Parameters
    ----------
    relation
        Name of a relation that `plackett.hyperedges` made.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays([[0.0], [1.0], [2.0], [0.9]], [0, 0, 1, 1], [1, 1, 1, 1])
    >>> data = data.replace(relations={"hyperedge": pk.hyperedges(data, ["a", "a", "b", "b"])})
    >>> HypergraphRanker(base="LinearRegression", beta=3.0).fit(data).rank(data).tolist()
    [4, 3, 1, 2]

    References
    ----------
    Zhou, Huang, Schölkopf: Learning with hypergraphs: clustering, classification, and embedding. NIPS 2006.
    """

    # any relation is a hypergraph: documents with the same second entry form a group
    _test_settings: ClassVar[dict[str, Any]] = {"relation": Neighbours(k=1), "beta": 0.1}

    relation: Any = "hyperedge"

    @property
    def _reads_groups(self) -> bool:
        """Whether the groups are given by the data; a builder makes them from the documents present."""
        return not callable(parsed(self.relation))

    @property
    def function(self) -> str:
        """What the relation means."""
        return "groups"
