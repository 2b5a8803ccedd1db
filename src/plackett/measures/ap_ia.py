"""Intent-aware average precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett.data.dataset import RankingDataset
from plackett.measures.ap import AP
from plackett.measures.base import Measure
from plackett.measures.diversity import IntentAware

__all__ = ["AP_IA"]


@dataclass(frozen=True, kw_only=True, repr=False)
class IntentAwareAP(IntentAware):
    r"""Intent-aware average precision: `AP` for each subtopic, weighted by its probability.

    .. math:: \text{AP-IA} = \sum_t P(t \mid q)\,\text{AP}(\text{labels for } t)

    Parameters
    ----------
    k
        Cut-off; None is the whole list.
    rel
        Least grade of a document that is relevant to a subtopic.
    missing
        A subtopic of the query for which no document is relevant: ``"zero"``, it adds 0 and keeps its weight;
        ``"renormalise"``, its weight goes to the others.

    Notes
    -----
    Ties: exact mean over all orders, as for `AP`. A query without a relevant document scores `empty`.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett.measures.ap_ia import AP_IA
    >>> data = pk.RankingDataset.from_arrays(
    ...     None, [1, 1, 1], subtopics=[[1, 0], [0, 1], [1, 0]], subtopic_weight=[[0.7, 0.3]]
    ... )
    >>> pk.evaluate(data, [3, 2, 1], AP_IA).mean["AP_IA"].__round__(6)  # 0.7 · 5/6 + 0.3 · 1/2
    0.733333
    """

    name: ClassVar[str] = "AP_IA"
    aliases: ClassVar[tuple[str, ...]] = ("MAP_IA", "map_ia", "ap_ia", "MAP-IA", "AP-IA")
    _ids: ClassVar[tuple[str, ...]] = ("metrics.intent_aware",)
    paper: ClassVar[str] = "Agrawal et al. 2009, Diversifying search results"

    k: int | None = None
    rel: float = 1.0

    def plain(self, data: RankingDataset) -> Measure:
        """The measure of one subtopic."""
        return AP(k=self.k, rel=self.rel)


AP_IA = IntentAwareAP()
