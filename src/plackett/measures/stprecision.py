"""Subtopic precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import MeasureError
from plackett._kernels.kernel import kernel
from plackett.measures.diversity import DiversityMeasure, greedy_ideal, known_subtopics, relevant_subtopics
from plackett.measures.ranking import Ranking

__all__ = ["SubtopicPrecision"]


@dataclass(frozen=True, kw_only=True, repr=False)
class SubtopicPrecision(DiversityMeasure):
    r"""Subtopic precision (S-precision): how early a level of subtopic recall is reached, compared with the best order.

    .. math:: \frac{\text{minRank}(\text{best}, \rho)}{\text{minRank}(\text{ranking}, \rho)}

    where minRank is the first rank with a `StRecall` of at least ρ; 0 if the ranking never reaches it. Finding the best
    order means finding a smallest set cover, which is NP-hard; as in the paper it is built greedily, taking the
    document with the most new subtopics next.

    Parameters
    ----------
    recall
        The level ρ of subtopic recall, above 0 and up to 1.
    rel
        Lowest grade that counts as relevant to a subtopic.

    Notes
    -----
    Ties: estimated from seeded random orders. A query without a relevant document scores `empty`. The greedy cover
    is not always the smallest, so values above 1 are possible, though rare.

    References
    ----------
    Zhai, Cohen, Lafferty: Beyond independent relevance: methods and evaluation metrics for subtopic retrieval. SIGIR
    2003.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett.measures.stprecision import StPrecision
    >>> data = pk.RankingDataset.from_arrays(None, [1, 1, 1], subtopics=[[1, 0], [1, 0], [0, 1]])
    >>> pk.evaluate(data, [3, 2, 1], StPrecision).mean["StPrecision"].__round__(4)  # 2 documents would do, 3 are needed
    0.6667
    """

    name: ClassVar[str] = "StPrecision"
    aliases: ClassVar[tuple[str, ...]] = ("S_precision", "SubtopicPrecision")
    exact_ties: ClassVar[bool] = False
    bounds: ClassVar[tuple[float, float]] = (0.0, float("inf"))

    recall: float = 1.0
    rel: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        number(f"{self.name}: recall", self.recall, above=0.0, most=1.0, error=MeasureError)

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        data = ranking.data
        known = known_subtopics(data, self.rel)
        wanted = np.ceil(self.recall * known - 1e-9)
        key = ("StPrecision", self.rel, self.recall)
        if key not in data.memo:
            data.memo[key] = greedy_ideal(data, self.rel, _greedy_cover, wanted)
        rank = ranking.run(_first_rank, relevant_subtopics(ranking, self.rel), wanted)
        values = np.divide(data.memo[key], rank, out=np.zeros(rank.shape), where=rank > 0)
        return np.where(known > 0, values, np.nan)


StPrecision = SubtopicPrecision()


@kernel
def _first_rank(lo, hi, offsets, labels, depth, tie_end, relevant, wanted, out):
    seen = np.empty(relevant.shape[1], np.bool_)
    for q in range(lo, hi):
        seen[:] = False
        covered = 0
        out[q] = 0.0
        for i in range(offsets[q], offsets[q] + depth[q]):
            for t in range(seen.size):
                if relevant[i, t] and not seen[t]:
                    seen[t] = True
                    covered += 1
            if covered >= wanted[q]:
                out[q] = i - offsets[q] + 1
                break


@kernel
def _greedy_cover(lo, hi, offsets, relevant, wanted, out):
    seen = np.empty(relevant.shape[1], np.bool_)
    for q in range(lo, hi):
        seen[:] = False
        covered = 0
        taken = 0
        while covered < wanted[q]:
            most = 0
            at = -1
            for i in range(offsets[q], offsets[q + 1]):
                new = 0
                for t in range(seen.size):
                    new += 1 if relevant[i, t] and not seen[t] else 0
                if new > most:
                    most = new
                    at = i
            for t in range(seen.size):
                seen[t] |= relevant[at, t] > 0
            covered += most
            taken += 1
        out[q] = taken
