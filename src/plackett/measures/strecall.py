"""Subtopic recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.measures.diversity import DiversityMeasure, known_subtopics, relevant_subtopics
from plackett.measures.ranking import Ranking

__all__ = ["SubtopicRecall"]


@dataclass(frozen=True, kw_only=True, repr=False)
class SubtopicRecall(DiversityMeasure):
    r"""Subtopic recall (S-recall): share of the subtopics that the first k documents cover.

    .. math:: \frac{|\bigcup_{r \le k} \text{subtopics}(d_r)|}{|\bigcup_d \text{subtopics}(d)|}

    Parameters
    ----------
    k
        Cut-off; None is the whole list.
    rel
        Lowest grade that counts as relevant to a subtopic.

    Notes
    -----
    Ties: exact mean over all orders; a subtopic of m documents among n tied ones of which j are within the cut-off is
    missed with probability :math:`\binom{n-m}{j} / \binom{n}{j}`. Subtopics without a relevant document do not count,
    and a query with none scores `empty`.

    References
    ----------
    Zhai, Cohen, Lafferty: Beyond independent relevance: methods and evaluation metrics for subtopic retrieval. SIGIR
    2003.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett.measures.strecall import StRecall
    >>> data = pk.RankingDataset.from_arrays(None, [1, 1, 1], subtopics=[[1, 0], [1, 0], [0, 1]])
    >>> pk.evaluate(data, [3, 2, 1], [StRecall @ 2, StRecall @ 3]).mean
    {'StRecall@2': 0.5, 'StRecall@3': 1.0}
    """

    name: ClassVar[str] = "StRecall"
    aliases: ClassVar[tuple[str, ...]] = ("strec", "S_recall", "SubtopicRecall")

    k: int | None = None
    rel: float = 1.0

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        covered = ranking.run(_covered, relevant_subtopics(ranking, self.rel), self.k or ranking.longest)
        n = known_subtopics(ranking.data, self.rel)
        return np.divide(covered, n, out=np.full(covered.shape, np.nan), where=n > 0)


StRecall = SubtopicRecall()


@kernel
def _covered(lo, hi, offsets, labels, depth, tie_end, relevant, k, out):  # type: ignore[no-untyped-def]
    for q in range(lo, hi):
        a = offsets[q]
        stop = a + min(k, depth[q])
        total = 0.0
        for t in range(relevant.shape[1]):
            missed = 1.0
            i = a
            while i < stop and missed > 0.0:
                end = tie_end[i]
                among = 0
                for j in range(i, end):
                    among += relevant[j, t]
                for drawn in range(min(end, stop) - i):
                    missed *= max(0.0, 1.0 - among / (end - i - drawn))
                i = end
            total += 1.0 - missed
        out[q] = total
