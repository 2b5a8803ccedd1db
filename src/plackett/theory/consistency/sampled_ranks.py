"""Ranks and measures where only some of the documents were sampled."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError
from plackett.data.arguments import array, row_scores
from plackett.data.dataset import RankingDataset

__all__ = ["sampled_dcg", "sampled_ranks"]


def sampled_ranks(scores: Any, data: RankingDataset, inclusion: Any) -> np.ndarray:
    r"""Estimated rank of each sampled document among all documents of its query,
    :math:`\tilde r_u = 1 + \sum_{s_v > s_u} 1 / p_v`.

    Unbiased, given that u was sampled, where document v is in the sample with probability :math:`p_v`, independently.

    Parameters
    ----------
    inclusion
        p: one number, or one for each row.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, exercise 18.3.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [1, 0, 0])
    >>> sampled_ranks([3.0, 2.0, 1.0], data, 0.5).tolist()
    [1.0, 3.0, 5.0]
    """
    s, p = _checked(scores, data, inclusion)
    order = np.lexsort((-s, data.query_of_row))
    query = data.query_of_row[order]
    weight = (1.0 / p)[order]
    before = np.concatenate(([0.0], np.cumsum(weight)))[:-1]
    new = np.concatenate(([True], (np.diff(query) != 0) | (np.diff(s[order]) != 0)))[: s.size]
    block = np.cumsum(new) - 1  # equal scores share what is above them
    above = before[np.flatnonzero(new)][block]
    start = before[data.offsets[:-1][data.group > 0]]
    number = np.cumsum(np.concatenate(([True], np.diff(query) != 0))[: s.size]) - 1
    out = np.empty(s.size)
    out[order] = 1.0 + above - start[number]
    return out


def sampled_dcg(scores: Any, data: RankingDataset, inclusion: Any, *, discount: str = "log2") -> np.ndarray:
    r"""DCG of each query from a sample of its documents: :math:`\sum_u \frac{1}{p_u} G(y_u)\, \eta(\tilde r_u)`.

    With the linear discount :math:`\eta(r) = -r` (``"linear"``; only differences between rankings mean anything) it is
    unbiased. With ``"log2"`` it is not, because η is curved: it overstates documents whose rank is uncertain. Pair
    measures (AUC, Kendall's τ, `Risk` with U-statistics) need no correction at all.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, exercise 18.3.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [1, 0, 1])
    >>> sampled_dcg([3.0, 2.0, 1.0], data, 1.0).round(4).tolist()  # 1 + 1/2
    [1.5]
    """
    _, p = _checked(scores, data, inclusion)
    choice("discount", discount, _DISCOUNTS)
    gains = np.exp2(np.maximum(data.labels, 0.0)) - 1.0
    worth = gains / p * _DISCOUNTS[discount](sampled_ranks(scores, data, inclusion))
    return np.bincount(data.query_of_row, worth, data.n_queries)


_DISCOUNTS = {"log2": lambda r: 1.0 / np.log2(1.0 + r), "linear": lambda r: -r}


def _checked(scores: Any, data: RankingDataset, inclusion: Any) -> tuple[np.ndarray, np.ndarray]:
    s = row_scores(data, scores)
    p = array("inclusion", inclusion, None, least=0.0, most=1.0, empty=True)
    if p.shape not in ((), s.shape):
        raise DataError(f"inclusion has shape {p.shape}; give one probability, or one for each of {s.size} rows")
    if not (p > 0).all():
        raise DataError("inclusion has a 0; give probabilities above 0: what is never sampled has no estimate")
    return s, np.broadcast_to(p, s.shape)
