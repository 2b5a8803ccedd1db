"""Novelty- and rank-biased precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import MeasureError
from plackett.measures.alpha_ndcg import discounted_novelty, greedy_gains
from plackett.measures.diversity import (
    DiversityMeasure,
    check_ideal_ties,
    known_subtopics,
    relevant_subtopics,
)
from plackett.measures.ranking import Ranking

__all__ = ["NoveltyRankBiasedPrecision"]


@dataclass(frozen=True, kw_only=True, repr=False)
class NoveltyRankBiasedPrecision(DiversityMeasure):
    r"""Novelty- and rank-biased precision (NRBP): models a patient user who tires of subtopics already seen.

    .. math:: \frac{1 - (1 - \alpha)\beta}{N}
        \sum_{r \ge 1} \beta^{r-1} \sum_t J(d_r, t)\,(1 - \alpha)^{\sum_{s<r} J(d_s, t)}

    with N subtopics that have a relevant document. A list in which every document is relevant to all of them scores 1.

    Parameters
    ----------
    alpha
        Probability that a user who has seen a subtopic has had enough of it.
    beta
        Probability that a user continues to the next rank.
    rel
        Lowest grade that counts as relevant to a subtopic.
    normalised
        Divide by the value of the greedy order, which takes the document with the largest gain next (ndeval's nNRBP).
    ideal_ties
        As for `alpha_nDCG`.

    Notes
    -----
    Ties: exact mean over all orders. A query without a relevant document scores `empty`.

    References
    ----------
    Clarke, Kolla, Vechtomova: An effectiveness measure for ambiguous and underspecified queries. ICTIR 2009.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett.measures.nrbp import NRBP
    >>> data = pk.RankingDataset.from_arrays(None, [1, 1], subtopics=[[1, 0], [1, 1]])
    >>> pk.evaluate(data, [2, 1], NRBP).mean["NRBP"]  # 3/4 · (1 + 1/2 · (1/2 + 1)) / 2
    0.65625
    """

    name: ClassVar[str] = "NRBP"
    aliases: ClassVar[tuple[str, ...]] = ("nrbp",)

    alpha: float = 0.5
    beta: float = 0.5
    rel: float = 1.0
    normalised: bool = False
    ideal_ties: str = "subtopics"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ideal_ties(self.ideal_ties, self.name)
        for name in ("alpha", "beta"):
            number(f"{self.name}: {name}", getattr(self, name), least=0.0, below=1.0, error=MeasureError)

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        keep, longest = 1.0 - self.alpha, ranking.longest
        discount = self.beta ** np.arange(longest)
        gains = ranking.run(discounted_novelty, relevant_subtopics(ranking, self.rel), keep, discount, longest)
        if self.normalised:
            depth = int(np.count_nonzero(discount > 1e-17))  # later positions do not change the sum in float64
            ideal = greedy_gains(ranking.data, self.rel, keep, discount, depth, self.ideal_ties)
            return np.divide(gains, ideal, out=np.full(gains.shape, np.nan), where=ideal > 0)
        n = known_subtopics(ranking.data, self.rel)
        scaled = (1.0 - keep * self.beta) * gains
        return np.divide(scaled, n, out=np.full(gains.shape, np.nan), where=n > 0)


NRBP = NoveltyRankBiasedPrecision()
