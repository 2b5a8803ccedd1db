"""Intent-aware expected reciprocal rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import MeasureError
from plackett.data.dataset import RankingDataset
from plackett.measures.alpha_ndcg import discounted_novelty
from plackett.measures.base import Measure
from plackett.measures.err import ERR
from plackett.measures.gains import discount_table
from plackett.measures.intent_aware import IntentAware
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import where_relevant

__all__ = ["IntentAwareERR"]


@dataclass(frozen=True, kw_only=True, repr=False)
class IntentAwareERR(IntentAware):
    r"""Intent-aware expected reciprocal rank: `ERR` for each subtopic, weighted by its probability.

    .. math:: \text{ERR-IA} = \sum_t P(t \mid q)\,\text{ERR}(\text{labels for } t)

    Parameters
    ----------
    k
        Cut-off; None is the whole list.
    max_label
        The largest grade of the scale; None is the largest grade of all subtopics of the dataset.
    alpha
        Probability that a user is satisfied by a document relevant to the subtopic, whatever its grade, as in ndeval.
        None: it depends on the grade, as in `ERR`.
    rel
        Lowest grade that counts as relevant to a subtopic; used when ``alpha`` is given.
    scaled
        Divide by the value of a list in which every document has the largest grade for every subtopic, as ndeval
        does. Such a list then scores 1, instead of ln 2 for two grades.
    missing
        How to treat a subtopic without a relevant document. ``"zero"``: it adds 0 and keeps its weight.
        ``"renormalise"``: its weight goes to the others.

    Notes
    -----
    Ties: exact mean over all orders, as for `ERR`. A query without a relevant document scores `empty`.

    References
    ----------
    Agrawal, Gollapudi, Halverson, Ieong: Diversifying search results. WSDM 2009.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett.measures.err_ia import ERR_IA
    >>> data = pk.RankingDataset.from_arrays(
    ...     None, [1, 1, 1], subtopics=[[1, 0], [0, 1], [1, 0]], subtopic_weight=[[0.7, 0.3]]
    ... )
    >>> pk.evaluate(data, [3, 2, 1], ERR_IA).mean["ERR_IA"].__round__(6)  # 0.7 · (1/2 + 1/12) + 0.3 · 1/4
    0.483333
    """

    name: ClassVar[str] = "ERR_IA"
    aliases: ClassVar[tuple[str, ...]] = ("err_ia", "ERR-IA")

    k: int | None = None
    max_label: float | None = None
    alpha: float | None = None
    rel: float = 1.0
    scaled: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.alpha is not None and (isinstance(self.alpha, (str, bool)) or not 0.0 < self.alpha <= 1.0):
            raise MeasureError(f"{self.name}: alpha={self.alpha!r}; give None or a number above 0 and up to 1")

    def plain(self, data: RankingDataset) -> Measure:
        """The measure of one subtopic."""
        if self.alpha is None:
            return ERR(k=self.k, max_label=self._largest(data))
        return _BinaryERR(k=self.k, alpha=self.alpha, rel=self.rel)

    def _largest(self, data: RankingDataset) -> float:
        return self.max_label or float(np.nanmax(np.asarray(data.subtopics), initial=1.0))

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        values = super().values(ranking)
        if not self.scaled:
            return values
        # the probability of continuing past a document of the largest grade
        passed = 0.5 ** self._largest(ranking.data) if self.alpha is None else 1.0 - self.alpha
        if self.k is None:
            whole = 1.0 if passed == 0.0 else (passed - 1.0) * np.log1p(-passed) / passed
        else:
            ranks = np.arange(1.0, self.k + 1.0)
            whole = ((1.0 - passed) * passed ** (ranks - 1.0) / ranks).sum()
        return values / whole


ERR_IA = IntentAwareERR()


@dataclass(frozen=True, kw_only=True, repr=False)
class _BinaryERR(Measure):
    """ERR in which every relevant document satisfies with the same probability."""

    k: int | None = None
    alpha: float = 0.5
    rel: float = 1.0

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        relevant = (ranking.labels >= self.rel).astype(np.uint8)[:, None]
        discount = discount_table("reciprocal", ranking.longest)
        k = self.k or ranking.longest
        novelty = ranking.run(discounted_novelty, relevant, 1.0 - self.alpha, discount, k)
        return where_relevant(ranking, self.rel, self.alpha * novelty)
