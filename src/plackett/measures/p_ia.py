"""Intent-aware precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett.data.dataset import RankingDataset
from plackett.measures.base import Measure
from plackett.measures.diversity import IntentAware
from plackett.measures.precision import P

__all__ = ["P_IA"]


@dataclass(frozen=True, kw_only=True, repr=False)
class IntentAwareP(IntentAware):
    r"""Intent-aware precision: `P` for each subtopic, weighted by its probability.

    .. math:: \text{P-IA} = \sum_t P(t \mid q)\,\text{P}(\text{labels for } t)

    Parameters
    ----------
    k
        Cut-off; None is all retrieved documents.
    rel
        Least grade of a document that is relevant to a subtopic.
    missing
        A subtopic of the query for which no document is relevant: ``"zero"``, it adds 0 and keeps its weight;
        ``"renormalise"``, its weight goes to the others.

    Notes
    -----
    Ties: exact mean over all orders, as for `P`. A query without a relevant document scores `empty`.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett.measures.p_ia import P_IA
    >>> data = pk.RankingDataset.from_arrays(
    ...     None, [1, 1, 1], subtopics=[[1, 0], [0, 1], [1, 0]], subtopic_weight=[[0.7, 0.3]]
    ... )
    >>> pk.evaluate(data, [3, 2, 1], P_IA @ 2).mean["P_IA@2"].__round__(6)  # one of two each
    0.5
    """

    name: ClassVar[str] = "P_IA"
    aliases: ClassVar[tuple[str, ...]] = ("p_ia", "P-IA")
    _ids: ClassVar[tuple[str, ...]] = ("metrics.intent_aware",)
    paper: ClassVar[str] = "Agrawal et al. 2009, Diversifying search results"

    k: int | None = None
    rel: float = 1.0

    def plain(self, data: RankingDataset) -> Measure:
        """The measure of one subtopic."""
        return P(k=self.k, rel=self.rel)


P_IA = IntentAwareP()
