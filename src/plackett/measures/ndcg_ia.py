"""Intent-aware nDCG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett.data.dataset import RankingDataset
from plackett.measures.base import Measure
from plackett.measures.diversity import IntentAware
from plackett.measures.gains import check_discount, check_gain
from plackett.measures.ndcg import nDCG

__all__ = ["nDCG_IA"]


@dataclass(frozen=True, kw_only=True, repr=False)
class IntentAwareNDCG(IntentAware):
    r"""Intent-aware nDCG: `nDCG` for each subtopic, weighted by its probability.

    .. math:: \text{nDCG-IA} = \sum_t P(t \mid q)\,\text{nDCG}(\text{labels for } t)

    Parameters
    ----------
    k
        Cut-off; None is the whole list.
    gain, discount
        As for `nDCG`.
    missing
        A subtopic of the query for which no document is relevant: ``"zero"``, it adds 0 and keeps its weight;
        ``"renormalise"``, its weight goes to the others.

    Notes
    -----
    Ties: exact mean over all orders, as for `nDCG`. A query without a relevant document scores `empty`.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett.measures.ndcg_ia import nDCG_IA
    >>> data = pk.RankingDataset.from_arrays(
    ...     None, [1, 1, 1], subtopics=[[1, 0], [0, 1], [1, 0]], subtopic_weight=[[0.7, 0.3]]
    ... )
    >>> pk.evaluate(data, [3, 2, 1], nDCG_IA).mean["nDCG_IA"].__round__(6)
    0.833083
    """

    name: ClassVar[str] = "nDCG_IA"
    aliases: ClassVar[tuple[str, ...]] = ("NDCG_IA", "ndcg_ia")
    _ids: ClassVar[tuple[str, ...]] = ("metrics.intent_aware",)
    paper: ClassVar[str] = "Agrawal et al. 2009, Diversifying search results"

    k: int | None = None
    gain: Any = "exp2"
    discount: Any = "log2"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gain", check_gain(self.gain, self.name))
        object.__setattr__(self, "discount", check_discount(self.discount, self.name))

    def plain(self, data: RankingDataset) -> Measure:
        """The measure of one subtopic."""
        return nDCG(k=self.k, gain=self.gain, discount=self.discount)


nDCG_IA = IntentAwareNDCG()
