"""Intent-aware measures: a measure for each subtopic, weighted by the probability of the subtopic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import MeasureError
from plackett.data.dataset import RankingDataset
from plackett.measures.ap import AP
from plackett.measures.base import Measure
from plackett.measures.diversity import DiversityMeasure, subtopic_weights
from plackett.measures.gains import check_discount, check_gain
from plackett.measures.ndcg import nDCG
from plackett.measures.precision import P
from plackett.measures.ranking import Ranking
from plackett.measures.rr import RR

__all__ = ["IntentAwareAP", "IntentAwareNDCG", "IntentAwareP", "IntentAwareRR"]


@dataclass(frozen=True, kw_only=True, repr=False)
class IntentAware(DiversityMeasure):
    r"""Base of intent-aware measures: the mean of a plain measure over the subtopics of a query.

    .. math:: M\text{-IA} = \sum_t P(t \mid q)\,M(\text{labels for } t)

    where each subtopic has its own ideal list. A value of 1 may be out of reach: no single order need be best for all
    subtopics. The probabilities are ``data.subtopic_weight``, or uniform.

    Parameters
    ----------
    missing
        A subtopic of the query for which no document is relevant: ``"zero"``: it adds 0 and keeps its weight;
        ``"renormalise"``: its weight goes to the other subtopics.
    """

    missing: str = "zero"

    def __post_init__(self) -> None:
        super().__post_init__()
        choice(f"{self.name}: missing", self.missing, ("zero", "renormalise"), error=MeasureError)

    def plain(self, data: RankingDataset) -> Measure:
        """The measure of one subtopic."""
        raise NotImplementedError

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        data = ranking.data
        plain, weights = self.plain(data), subtopic_weights(data)
        total, used = np.zeros(data.n_queries), np.zeros(data.n_queries)
        for t, grades in enumerate(np.asarray(data.subtopics).T):
            labels = np.nan_to_num(grades.astype(np.float64))
            values = plain.values(replace(ranking, data=data.replace(y=labels), labels=labels[ranking.rows]))
            defined = ~np.isnan(values)
            total += np.where(defined, weights[:, t] * np.nan_to_num(values), 0.0)
            used += np.where(defined, weights[:, t], 0.0)
        if self.missing == "zero":
            return np.where(used > 0, total, np.nan)
        return np.divide(total, used, out=np.full(total.shape, np.nan), where=used > 0)


@dataclass(frozen=True, kw_only=True, repr=False)
class _OfRelevance(IntentAware):
    """Intent-aware measures of what is relevant and what is not."""

    k: int | None = None
    rel: float = 1.0
    #: The measure of one subtopic.
    of: ClassVar[Measure]

    def plain(self, data: RankingDataset) -> Measure:
        """The measure of one subtopic."""
        return self.of(k=self.k, rel=self.rel)


@dataclass(frozen=True, kw_only=True, repr=False)
class IntentAwareAP(_OfRelevance):
    r"""Intent-aware average precision: `AP` for each subtopic, weighted by its probability.

    .. math:: \text{AP-IA} = \sum_t P(t \mid q)\,\text{AP}(\text{labels for } t)

    Parameters
    ----------
    k
        Cut-off; None is the whole list.
    rel
        Lowest grade that counts as relevant to a subtopic.
    missing
        A subtopic of the query for which no document is relevant: ``"zero"``, it adds 0 and keeps its weight;
        ``"renormalise"``, its weight goes to the others.

    Notes
    -----
    Ties: exact mean over all orders, as for `AP`. A query without a relevant document scores `empty`.

    References
    ----------
    Agrawal, Gollapudi, Halverson, Ieong: Diversifying search results. WSDM 2009.

    Examples
    --------
    >>> import plackett as pk

    >>> data = pk.RankingDataset.from_arrays(
    ...     None, [1, 1, 1], subtopics=[[1, 0], [0, 1], [1, 0]], subtopic_weight=[[0.7, 0.3]]
    ... )
    >>> pk.evaluate(data, [3, 2, 1], AP_IA).mean["AP_IA"].__round__(6)  # 0.7 · 5/6 + 0.3 · 1/2
    0.733333
    """

    name: ClassVar[str] = "AP_IA"
    aliases: ClassVar[tuple[str, ...]] = ("MAP_IA", "map_ia", "ap_ia", "MAP-IA", "AP-IA")
    of: ClassVar[Measure] = AP


AP_IA = IntentAwareAP()


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

    References
    ----------
    Agrawal, Gollapudi, Halverson, Ieong: Diversifying search results. WSDM 2009.

    Examples
    --------
    >>> import plackett as pk

    >>> data = pk.RankingDataset.from_arrays(
    ...     None, [1, 1, 1], subtopics=[[1, 0], [0, 1], [1, 0]], subtopic_weight=[[0.7, 0.3]]
    ... )
    >>> pk.evaluate(data, [3, 2, 1], nDCG_IA).mean["nDCG_IA"].__round__(6)
    0.833083
    """

    name: ClassVar[str] = "nDCG_IA"
    aliases: ClassVar[tuple[str, ...]] = ("NDCG_IA", "ndcg_ia")

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


@dataclass(frozen=True, kw_only=True, repr=False)
class IntentAwareP(_OfRelevance):
    r"""Intent-aware precision: `P` for each subtopic, weighted by its probability.

    .. math:: \text{P-IA} = \sum_t P(t \mid q)\,\text{P}(\text{labels for } t)

    Parameters
    ----------
    k
        Cut-off; None is all retrieved documents.
    rel
        Lowest grade that counts as relevant to a subtopic.
    missing
        A subtopic of the query for which no document is relevant: ``"zero"``, it adds 0 and keeps its weight;
        ``"renormalise"``, its weight goes to the others.

    Notes
    -----
    Ties: exact mean over all orders, as for `P`. A query without a relevant document scores `empty`.

    References
    ----------
    Agrawal, Gollapudi, Halverson, Ieong: Diversifying search results. WSDM 2009.

    Examples
    --------
    >>> import plackett as pk

    >>> data = pk.RankingDataset.from_arrays(
    ...     None, [1, 1, 1], subtopics=[[1, 0], [0, 1], [1, 0]], subtopic_weight=[[0.7, 0.3]]
    ... )
    >>> pk.evaluate(data, [3, 2, 1], P_IA @ 2).mean["P_IA@2"].__round__(6)  # one of two each
    0.5
    """

    name: ClassVar[str] = "P_IA"
    aliases: ClassVar[tuple[str, ...]] = ("p_ia", "P-IA")
    of: ClassVar[Measure] = P


P_IA = IntentAwareP()


@dataclass(frozen=True, kw_only=True, repr=False)
class IntentAwareRR(_OfRelevance):
    r"""Intent-aware reciprocal rank: `RR` for each subtopic, weighted by its probability.

    .. math:: \text{RR-IA} = \sum_t P(t \mid q)\,\text{RR}(\text{labels for } t)

    Parameters
    ----------
    k
        Cut-off; None is the whole list.
    rel
        Lowest grade that counts as relevant to a subtopic.
    missing
        A subtopic of the query for which no document is relevant: ``"zero"``, it adds 0 and keeps its weight;
        ``"renormalise"``, its weight goes to the others.

    Notes
    -----
    Ties: exact mean over all orders, as for `RR`. A query without a relevant document scores `empty`.

    References
    ----------
    Agrawal, Gollapudi, Halverson, Ieong: Diversifying search results. WSDM 2009.

    Examples
    --------
    >>> import plackett as pk

    >>> data = pk.RankingDataset.from_arrays(
    ...     None, [1, 1, 1], subtopics=[[1, 0], [0, 1], [1, 0]], subtopic_weight=[[0.7, 0.3]]
    ... )
    >>> pk.evaluate(data, [3, 2, 1], RR_IA).mean["RR_IA"].__round__(6)  # 0.7 · 1 + 0.3 · 1/2
    0.85
    """

    name: ClassVar[str] = "RR_IA"
    aliases: ClassVar[tuple[str, ...]] = ("MRR_IA", "rr_ia")
    of: ClassVar[Measure] = RR


RR_IA = IntentAwareRR()
