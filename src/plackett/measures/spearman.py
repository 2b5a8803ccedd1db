"""Spearman's rank correlation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._kernels.fenwick import distinct, level_of
from plackett._kernels.kernel import kernel
from plackett._kernels.scratch import longest
from plackett.measures.base import Measure
from plackett.measures.pairs import block_end, correlated, per_query_or_float
from plackett.measures.ranking import Ranking

__all__ = ["SpearmanCorrelation", "spearman_rho"]


@dataclass(frozen=True, kw_only=True, repr=False)
class SpearmanCorrelation(Measure):
    r"""Spearman's rank correlation between scores and labels: the correlation of their ranks.

    Documents with equal labels share their mean rank. From −1 to 1.

    Parameters
    ----------
    corrected
        False: the spread of the ranks by score is that of 1..n, as if ties had been broken, so the tie rules mean the
        same as for other measures. True: it is that of mean ranks, as in SciPy's ``spearmanr`` (this matters only for
        ``ties="expected"``; the other rules leave no ties).

    Notes
    -----
    Ties: exact; a tied document has the mean rank of its block. Unjudged documents have no rank. Documents that were
    not retrieved are ranked last, tied. A query whose labels are all equal scores `empty`.

    References
    ----------
    Spearman: The proof and measurement of association between two things. American Journal of Psychology 1904.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett.measures.spearman import Spearman
    >>> pk.evaluate([3, 2, 1, 0], [9, 8, 1, 5], Spearman).mean["Spearman"].__round__(4)
    0.8
    """

    name: ClassVar[str] = "Spearman"
    aliases: ClassVar[tuple[str, ...]] = ("rho", "spearmanr", "spearman_rho")
    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)

    corrected: bool = False

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        return ranking.run(_spearman, ranking.data.sorted_labels, self.corrected)


Spearman = SpearmanCorrelation()


def spearman_rho(a: Any, b: Any, qid: Any = None) -> float | np.ndarray:
    """Spearman's ρ between two lists of scores of the same documents.

    Same as ``scipy.stats.spearmanr``, but for all queries of a flat list at once. NaN if one list is constant.

    Parameters
    ----------
    a, b
        Scores of the same documents, larger is better.
    qid
        Query of each document; without it, all documents form one list.

    Returns
    -------
    float or numpy.ndarray
        One number, or with ``qid`` one per query in the order in which the queries first appear.

    Examples
    --------
    >>> spearman_rho([1, 2, 3, 4], [1, 3, 2, 4]).__round__(4)
    0.8
    """
    return per_query_or_float(Spearman(corrected=True).values(correlated(a, b, qid)), qid)


@kernel
def _spearman(lo, hi, offsets, labels, depth, tie_end, ideal, corrected, out):  # type: ignore[no-untyped-def]
    n_max = longest(lo, hi, offsets)
    levels = np.empty(n_max)
    rank = np.empty(n_max)  # of each level, from its middle
    count = np.empty(n_max)
    for q in range(lo, hi):
        a = offsets[q]
        b = offsets[q + 1]
        n = distinct(ideal, a, b, levels)
        count[:n] = 0.0
        for i in range(a, b):
            if labels[i] >= 0:
                count[level_of(levels, n, labels[i])] += 1.0
        judged = count[:n].sum()
        middle = 0.5 * (judged + 1.0)
        above = 0.0
        spread = 0.0
        for c in range(n):
            rank[c] = above + 0.5 * (count[c] + 1.0) - middle
            spread += count[c] * rank[c] * rank[c]
            above += count[c]
        above = 0.0
        common = 0.0
        score_spread = 0.0
        start = a
        while start < b:
            stop = block_end(start, a, b, depth[q], tie_end)
            inside = 0.0
            ranks = 0.0
            for i in range(start, stop):
                if labels[i] >= 0:
                    inside += 1.0
                    ranks += rank[level_of(levels, n, labels[i])]
            mean_rank = above + 0.5 * (inside + 1.0) - middle
            common += mean_rank * ranks
            score_spread += inside * mean_rank * mean_rank
            above += inside
            start = stop
        if not corrected:
            score_spread = (judged * judged * judged - judged) / 12.0
        out[q] = common / np.sqrt(spread * score_spread) if spread * score_spread > 0.0 else np.nan
