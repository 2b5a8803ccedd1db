"""nDCG and AP by the square loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from plackett.data.arguments import row_scores
from plackett.data.dataset import RankingDataset
from plackett.losses.bounds.known_bound import KnownBound, has_falling_discount
from plackett.measures.ap import AveragePrecision
from plackett.measures.base import Measure
from plackett.measures.gains import discount_table, gains_of, ideal_dcg
from plackett.measures.ndcg import NDCG

__all__ = ["regression_ap_bound", "regression_bound"]

__home__ = "theory"


def regression_bound(
    scores: Any, data: RankingDataset, *, gain: Any = "exp2", discount: Any = "log2", k: int | None = None
) -> np.ndarray:
    r"""Bound of 1 − nDCG of each query by the square loss of the gains,

    .. math:: 1 - \text{nDCG} \le \frac1Z \Big(2 \sum_t \eta(t)^2\Big)^{1/2} \Big(\sum_j (s_j - G(y_j))^2\Big)^{1/2}

    The targets must be the gains: with the labels themselves, as the book has it, it fails. The converse is false: a
    perfect ranking may have any square loss. 0 for queries without a gain.

    References
    ----------
    Cossock, Zhang: Subset ranking using regression. COLT 2006.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [4, 3])
    >>> bound = regression_bound([3.49, 3.51], data)
    >>> bool(bound[0] > 0.152)  # which is 1 − nDCG; with raw labels the right-hand side would be 0.062
    True
    """
    s = row_scores(data, scores)
    judged = data.labels >= 0
    miss = np.where(judged, s - gains_of(data.labels, gain), 0.0)
    square = np.bincount(data.query_of_row, miss**2, data.n_queries)
    eta = discount_table(discount, int(data.group.max(initial=1)))
    eta[k or eta.size :] = 0.0
    power = np.concatenate(([0.0], np.cumsum(eta**2)))[
        np.bincount(data.query_of_row, judged, data.n_queries).astype(int)
    ]
    best = ideal_dcg(data, gain, discount, k)
    return np.divide(np.sqrt(2.0 * power * square), best, out=np.zeros(best.size), where=best > 0)


def regression_ap_bound(scores: Any, data: RankingDataset) -> np.ndarray:
    r"""Bound of 1 − AP of each query of binary labels by :math:`S = \sum_j (s_j - y_j)^2`:
    :math:`\min(1, S / ((1 - S)\, m_1))` where S < 1, and 0 where S < ½.

    >>> data = RankingDataset.from_arrays(None, [1, 0])
    >>> regression_ap_bound([0.6, 0.3], data).tolist(), regression_ap_bound([0.2, 0.4], data).round(4).tolist()
    ([0.0], [1.0])

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, exercise 5.1.
    """
    judged = data.labels >= 0
    miss = np.where(judged, row_scores(data, scores) - (data.labels >= 1), 0.0)
    square = np.bincount(data.query_of_row, miss**2, data.n_queries)
    relevant = np.bincount(data.query_of_row, data.labels >= 1, data.n_queries)
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = np.where(square < 1.0, np.minimum(1.0, square / ((1.0 - square) * relevant)), 1.0)
    return np.where((relevant == 0) | (square < 0.5), 0.0, bound)


def square_bounds(loss: Any, measure: Measure) -> Iterator[KnownBound]:
    """The square loss of the gains, by (5.1); of binary labels, by exercise 5.1."""
    if isinstance(measure, NDCG) and has_falling_discount(measure) and loss.target == measure.gain:
        settings = {"gain": measure.gain, "discount": measure.discount, "k": measure.k}
        yield KnownBound(
            loss,
            measure,
            f"1 − {measure} ≤ (2 Σ η²)^½ (2 L)^½ / Z",
            "Cossock, Zhang 2006 (5.1)",
            "graded",
            lambda s, data: regression_bound(s, data, **settings),
        )
    if isinstance(measure, AveragePrecision) and measure.k is None and measure.rel == 1:
        yield KnownBound(
            loss,
            measure,
            f"1 − {measure} ≤ 2 L / ((1 − 2 L) m₁) where L < ½",
            "exercise 5.1",
            "binary",
            lambda s, data: regression_ap_bound(s, data),
        )
