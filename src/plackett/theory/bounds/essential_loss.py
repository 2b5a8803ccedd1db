"""The essential loss: what losses that bound measures have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett.data.arguments import array, row_scores
from plackett.data.dataset import RankingDataset
from plackett.measures.gains import discount_table, gains_of, ideal_dcg

__all__ = ["essential_ap_bound", "essential_loss", "essential_ndcg_bound"]


def essential_loss(scores: Any, data: RankingDataset, beta: Any = None) -> np.ndarray:
    r"""Essential loss of each query: ranking as a sequence of classifications,

    .. math:: L_\beta = \min_{\pi_y} \sum_{t<m} \beta(t)\, 1[\text{some later document scores at least as high}]

    along an order :math:`\pi_y` by label. The minimum is reached where documents of equal label are in the order of
    their scores. Unjudged documents are ignored.

    Parameters
    ----------
    beta
        Weight of each rank: None for 1, one number for each rank of a list, none larger than the one before, or one
        for each judged document in the order by query, label and score.

    References
    ----------
    Chen, Liu, Lan, Ma, Li: Ranking measures and loss functions in learning to rank. NIPS 2009.

    Examples
    --------
    A, B, C by label, and B scores more than A:

    >>> data = RankingDataset.from_arrays(None, [3, 2, 1])
    >>> essential_loss([2.0, 3.0, 1.0], data).tolist(), essential_loss([2.0, 3.0, 1.0], data, [0.7, 0.2]).tolist()
    ([1.0], [0.7])
    """
    s, order, rank, judged = _along(scores, data)
    if beta is None:
        weight = np.ones(order.size)
    else:
        given = array("beta", beta, least=0.0, empty=True)
        short = given.shape != (order.size,)
        if given.ndim != 1 or (short and given.size < int(data.group.max(initial=1)) - 1):
            raise DataError(f"beta has shape {given.shape}; give a weight for each rank, or for each judged document")
        if short and (np.diff(given) > 0).any():
            raise DataError("beta must not increase with the rank: the smallest sum is found for such weights only")
        weight = np.append(given, 0.0)[np.minimum(rank, given.size)] if short else given
    out = np.empty(data.n_queries)
    offsets = np.concatenate(([0], np.cumsum(judged)))
    over_queries(_missed, offsets, s[order], weight, out)
    return out


def _along(scores: Any, data: RankingDataset) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Scores, judged rows by query, label and score, the rank of each, and the number of each query."""
    s = row_scores(data, scores)
    order = np.lexsort((-s, -data.labels, data.query_of_row))
    order = order[data.labels[order] >= 0]
    judged = np.bincount(data.query_of_row[order], minlength=data.n_queries)
    rank = np.arange(order.size) - np.concatenate(([0], np.cumsum(judged)))[:-1][data.query_of_row[order]]
    return s, order, rank, judged


def essential_ndcg_bound(
    scores: Any, data: RankingDataset, *, gain: Any = "exp2", discount: Any = "log2", k: int | None = None
) -> np.ndarray:
    r"""Bound :math:`1 - \text{nDCG} \le L_{\beta_1} / Z`, :math:`\beta_1(t) = G(y_{(t)})\, \eta(t)`, for each query.

    Without ties of scores it is 0 exactly where the ranking is perfect; a tie is an error. 0 where there is no gain.

    >>> data = RankingDataset.from_arrays(None, [1, 0])
    >>> essential_ndcg_bound([0.0, 1.0], data).tolist()  # 1 − nDCG is 0.369
    [1.0]

    References
    ----------
    Chen, Liu, Lan, Ma, Li: Ranking measures and loss functions in learning to rank. NIPS 2009.
    """
    _, order, rank, _ = _along(scores, data)
    eta = discount_table(discount, int(data.group.max(initial=1)))
    eta[k or eta.size :] = 0.0
    beta = gains_of(data.labels[order], gain) * eta[rank]
    best = ideal_dcg(data, gain, discount, k)
    return np.divide(essential_loss(scores, data, beta), best, out=np.zeros(best.size), where=best > 0)


def essential_ap_bound(scores: Any, data: RankingDataset, *, rel: float = 1.0) -> np.ndarray:
    r"""Bound :math:`1 - \text{AP} \le L_{1} / m_1` for each query with :math:`m_1` documents of label ``rel`` or more.

    It holds for any threshold; for binary labels and without ties of scores it is 0 exactly where AP is 1. 0 where
    nothing is relevant.

    >>> data = RankingDataset.from_arrays(None, [1, 0, 1])
    >>> essential_ap_bound([1.0, 2.0, 0.0], data).tolist()  # 1 − AP is 0.4167
    [1.0]

    References
    ----------
    Chen, Liu, Lan, Ma, Li: Ranking measures and loss functions in learning to rank. NIPS 2009.
    """
    relevant = np.bincount(data.query_of_row, data.labels >= rel, data.n_queries)
    return np.divide(essential_loss(scores, data), relevant, out=np.zeros(relevant.size), where=relevant > 0)


@kernel
def _missed(lo, hi, offsets, scores, weight, out):  # type: ignore[no-untyped-def]
    for q in range(lo, hi):
        total = 0.0
        largest = -np.inf
        for i in range(offsets[q + 1] - 1, offsets[q] - 1, -1):
            if largest >= scores[i]:
                total += weight[i]
            largest = max(largest, scores[i])
        out[q] = total
