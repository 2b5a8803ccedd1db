"""The rank correlation RC: weighted share of pairs in the right order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError, MeasureError
from plackett._kernels.kernel import kernel
from plackett.measures.base import Measure
from plackett.measures.pairs import correlated, pair_counts, per_query_or_float
from plackett.measures.ranking import Ranking

__all__ = ["RankCorrelation", "weighted_kendall"]


@dataclass(frozen=True, kw_only=True, repr=False)
class RankCorrelation(Measure):
    r"""Rank correlation against the set of all orders that agree with the labels (weighted Kendall's τ, from 0 to 1).

    .. math:: \text{RC}(\pi, \Omega_l) = \max_{\pi_l \in \Omega_l}
        \frac{\sum_{u<v} w_{uv}\,(1 + \text{sgn}((\pi(u)-\pi(v))(\pi_l(u)-\pi_l(v))))}{2 \sum_{u<v} w_{uv}}

    The best order breaks equal labels as the ranking does, so RC is one minus the weight of the pairs of unequal labels
    in the wrong order, divided by the weight of all pairs, those of equal labels included.

    Parameters
    ----------
    weight
        ``"uniform"``: every pair weighs 1. ``"sample"``: a pair weighs the product of the ``sample_weight`` of its two
        documents.

    Notes
    -----
    Ties: exact; a tied pair is half wrong. Unjudged documents form no pairs. Documents that were not retrieved are
    ranked last, tied. A query without a pair of unequal labels scores `empty`. For preferences that are not labels see
    `plackett.weighted_kendall_omega`; for two lists of scores, `plackett.weighted_kendall`.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 1.2.2.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett.measures.rc import RC
    >>> pk.evaluate([1, 0, 1], [3, 2, 1], RC).mean["RC"].__round__(4)
    0.6667
    """

    name: ClassVar[str] = "RC"
    aliases: ClassVar[tuple[str, ...]] = ("RankCorrelation",)

    weight: str = "uniform"

    def __post_init__(self) -> None:
        super().__post_init__()
        choice(f"{self.name}: weight", self.weight, ("uniform", "sample"), error=MeasureError)

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        data = ranking.data
        weight = data.sample_weight if self.weight == "sample" else None
        right, wrong, tied, _ = pair_counts(ranking, weight).T
        total = _total_weight(ranking, weight)
        loss = np.divide(wrong + 0.5 * tied, total, out=np.full(total.shape, np.nan), where=right + wrong + tied > 0)
        return 1.0 - loss


RC = RankCorrelation()


def weighted_kendall(a: Any, b: Any, qid: Any = None, *, weight: Any = None) -> float | np.ndarray:
    r"""Weighted rank correlation of two lists of scores of the same documents: the weighted share of pairs that agree.

    .. math:: \frac{\sum_{u<v} w_{uv}\,(1 + \text{sgn}((a_u - a_v)(b_u - b_v)))}{2 \sum_{u<v} w_{uv}}

    From 0 (reversed) to 1 (the same order); a pair tied in either list counts one half. With equal weights and no ties
    it is (1 + τ) / 2.

    Parameters
    ----------
    a, b
        Scores of the same documents, larger is better.
    qid
        Query of each document; without it, all documents form one list.
    weight
        One weight per document, where a pair weighs the product of its two (n log n); or, without ``qid``, a symmetric
        ``(n, n)`` table of pair weights (n²).

    Returns
    -------
    float or numpy.ndarray
        One number, or with ``qid`` one per query; NaN where no pair has weight.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 1.2.2.

    Examples
    --------
    >>> weighted_kendall([3, 2, 1], [3, 1, 2]).__round__(4), weighted_kendall([3, 2, 1], [3, 1, 2], weight=[1, 1, 0])
    (0.6667, 1.0)
    """
    ranking = correlated(a, b, qid)
    weights = None if weight is None else np.ascontiguousarray(weight, np.float64)
    n = ranking.data.n_rows
    if weights is not None and weights.ndim == 2:
        if qid is not None or weights.shape != (n, n) or not np.array_equal(weights, weights.T):
            raise DataError(f"a table of weights must be symmetric, ({n}, {n}), and needs qid=None")
        return float(_weighted_agreement(np.asarray(a, np.float64), np.asarray(b, np.float64), weights))
    if weights is not None:
        weights = ranking.data.from_input_order(weights)
    right, wrong, _, _ = pair_counts(ranking, weights).T
    total = _total_weight(ranking, weights)
    agreement = np.divide(right - wrong, total, out=np.full(total.shape, np.nan), where=total > 0)
    return per_query_or_float(0.5 + 0.5 * agreement, qid)


def _total_weight(ranking: Ranking, weight: np.ndarray | None) -> np.ndarray:
    """Weight of all pairs of judged documents of each query."""
    data = ranking.data
    weights = (data.labels >= 0) * (1.0 if weight is None else weight)
    total = np.bincount(data.query_of_row, weights, data.n_queries)
    return 0.5 * (total * total - np.bincount(data.query_of_row, weights * weights, data.n_queries))


@kernel
def _weighted_agreement(a, b, weight):
    agreed = 0.0
    total = 0.0
    for u in range(a.size):
        for v in range(u):
            total += weight[u, v]
            agreed += weight[u, v] * np.sign(a[u] - a[v]) * np.sign(b[u] - b[v])
    return 0.5 + 0.5 * agreed / total
