"""Ranking reduced to classifying pairs: weighted pair errors bound the loss of nDCG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.arguments import array
from plackett.measures.gains import check_gain, gains_of

__all__ = ["rsr_reduction"]


@dataclass(frozen=True)
class RSRReduction:
    """The loss of a pair classifier used as a ranker.

    Attributes
    ----------
    ranks
        Position of each document, 1 is the top.
    loss
        1 − nDCG of the ranking.
    bound
        Total weight of the pairs that the classifier gets wrong.
    transitive
        Whether the classifier's preferences form an order. If not, the bound is not guaranteed.
    """

    ranks: np.ndarray
    loss: float
    bound: float
    transitive: bool


def rsr_reduction(classifier: Any, labels: Any, gain: Any = "exp2") -> RSRReduction:
    r"""Both sides of the reduction from nDCG to weighted pairs, for one list.

    .. math:: 1 - \mathrm{nDCG}(\pi_c) \le \sum_{y_u > y_v} \omega_{uv}\, I\{c \text{ prefers } v\}, \qquad
              \omega_{uv} = \frac{|(G_u - G_v)(\eta(\pi_u) - \eta(\pi_v))|}{Z}

    where the classifier c says which of two documents is better, and a document's position is one plus the number of
    documents preferred to it. It holds where the preferences are an order, as those of scores are. Cyclic preferences
    give equal positions, and then it can fail.

    Parameters
    ----------
    classifier
        Scores of the documents, equal ones in the order of the rows; or a square table of 0 and 1, in which the entry
        of row u and column v is 1 where v is preferred to u, and exactly one of two opposite entries is 1.
    labels
        Labels, larger is better; below 0 is unjudged and counts as 0 here, because it still occupies a position.
    gain
        As in nDCG.

    References
    ----------
    Sun, Qin, Tao, Wang: Robust sparse rank learning for non-smooth ranking measures. SIGIR 2009.

    Examples
    --------
    The only relevant document is second: 1 − 1/log2(3), and one pair of that weight is wrong.

    >>> reduction = rsr_reduction([2.0, 1.0, 0.0], [0, 1, 0])
    >>> round(reduction.loss, 4), round(reduction.bound, 4)
    (0.3691, 0.3691)
    """
    y, table = np.maximum(array("labels", labels), 0.0), array("classifier", classifier, None)
    n = y.size
    if table.shape not in ((n,), (n, n)):
        raise DataError(
            f"labels of shape {y.shape} and a classifier of shape {table.shape}; give one list of documents"
        )
    if table.ndim == 1:
        order = np.argsort(-table, kind="stable")
        position = np.empty(n, np.int64)
        position[order] = np.arange(n)
        prefers = position[:, None] > position
    else:
        prefers = table == 1.0
        if not (np.isin(table, (0.0, 1.0)).all() and (prefers ^ prefers.T).sum() == n * (n - 1)):
            raise DataError("classifier: exactly one of each two documents must be preferred, and none to itself")
    lost = prefers.sum(axis=1)
    transitive = np.unique(lost).size == n  # a tournament is an order where all counts differ
    ranks = np.empty(n, np.int64)
    ranks[np.argsort(lost, kind="stable")] = np.arange(1, n + 1)
    gains = gains_of(y, check_gain(gain, "rsr_reduction"))
    best = (np.sort(gains)[::-1] / np.log2(1.0 + np.arange(1, n + 1))).sum()
    if best == 0:
        return RSRReduction(ranks, 0.0, 0.0, transitive)
    discount = 1.0 / np.log2(1.0 + ranks)
    weight = np.abs((gains[:, None] - gains) * (discount[:, None] - discount)) / best
    wrong = (y[:, None] > y) & prefers
    return RSRReduction(ranks, float(1.0 - gains @ discount / best), float(weight[wrong].sum()), transitive)
