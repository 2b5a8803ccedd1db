"""Kendall's rank correlation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.measures.base import Measure
from plackett.measures.pairs import correlated, pair_counts, per_query_or_float
from plackett.measures.ranking import Ranking

__all__ = ["KendallCorrelation", "kendall_tau"]


@dataclass(frozen=True, kw_only=True, repr=False)
class KendallCorrelation(Measure):
    r"""Kendall's rank correlation between scores and labels, corrected for equal labels (τ-b).

    .. math:: \tau = \frac{C - D}{\sqrt{n_l\,n_s}}

    with C pairs in the same order, D in opposite order, :math:`n_l` pairs of unequal labels, :math:`n_s` pairs of
    unequal scores. From −1 to 1.

    Parameters
    ----------
    corrected
        False: :math:`n_s` counts all pairs, as if ties had been broken, so the tie rules mean the same as for other
        measures. True: :math:`n_s` leaves out tied scores, as SciPy's ``kendalltau`` does (this matters only for
        ``ties="expected"``; the other rules leave no ties).

    Notes
    -----
    Ties: exact; the mean over orders of a tied pair is 0. Unjudged documents form no pairs. Documents that were not
    retrieved are ranked last, tied. A query without a pair of unequal labels scores `empty`.

    References
    ----------
    Kendall: The treatment of ties in ranking problems. Biometrika 1945.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett.measures.kendall_tau import KendallTau
    >>> pk.evaluate([3, 2, 1, 0], [9, 8, 1, 5], KendallTau).mean["KendallTau"].__round__(4)
    0.6667
    """

    name: ClassVar[str] = "KendallTau"
    aliases: ClassVar[tuple[str, ...]] = ("tau", "tau_b", "kendall", "kendalltau", "kendall_tau")
    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)

    corrected: bool = False

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        right, wrong, tied, same = pair_counts(ranking).T
        if self.corrected:
            unequal = right + wrong + same
        else:
            judged = np.bincount(ranking.data.query_of_row, ranking.data.labels >= 0, ranking.data.n_queries)
            unequal = judged * (judged - 1.0) / 2.0
        scale = np.sqrt((right + wrong + tied) * unequal)
        return np.divide(right - wrong, scale, out=np.full(scale.shape, np.nan), where=scale > 0)


KendallTau = KendallCorrelation()


def kendall_tau(a: Any, b: Any, qid: Any = None) -> float | np.ndarray:
    """Kendall's τ-b between two lists of scores of the same documents, in O(n log n).

    Same as ``scipy.stats.kendalltau``, but for all queries of a flat list at once. NaN if one list is constant.

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
    >>> kendall_tau([1, 2, 3, 4], [1, 3, 2, 4]).__round__(4)
    0.6667
    >>> kendall_tau([1, 2, 5, 5], [2, 1, 0, 1], qid=["a", "a", "b", "b"]).tolist()
    [-1.0, nan]
    """
    return per_query_or_float(KendallTau(corrected=True).values(correlated(a, b, qid)), qid)
