"""Two grades, one query: RankBoost with one distribution per grade, and its link to AdaBoost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from plackett._base.arguments import choice, number
from plackett._base.errors import DataError
from plackett.data.arguments import array

__all__ = ["bipartite_rankboost", "exponential_sums"]


class BipartiteBoosting(NamedTuple):
    """Result of `bipartite_rankboost`: total weight of each ranker, chosen ranker and normaliser of each round."""

    weights: np.ndarray
    rankers: np.ndarray
    normalisers: np.ndarray


#: α from p = E[h] over the positives and q = E[h] over the negatives.
_STEPS: dict[str, Callable[[float, float], float]] = {
    "exact": lambda p, q: 0.5 * float(np.log(p * (1.0 - q)) - np.log(q * (1.0 - p))),
    "figure": lambda p, q: 0.5 * float(np.log(p) - np.log(q)),
}


def bipartite_rankboost(positives: Any, negatives: Any, n_rounds: int, step: str = "exact") -> BipartiteBoosting:
    r"""RankBoost for positive and negative documents in O(m + n) per round and ranker.

    The distribution over pairs is a product :math:`D(i, j) = D^+(i)\,D^-(j)`. A round takes the ranker of the largest
    :math:`p - q`, with :math:`p = E_{D^+} h` and :math:`q = E_{D^-} h`, and multiplies :math:`D^+` by
    :math:`e^{-\alpha h}` and :math:`D^-` by :math:`e^{\alpha h}`; the normaliser of the pairs is
    :math:`(1 - p + p e^{-\alpha})(1 - q + q e^{\alpha})`.

    Parameters
    ----------
    positives, negatives
        Value 0 or 1 of each ranker (column) for each document (row).
    n_rounds
        Number of rounds.
    step
        ``"exact"``: :math:`\alpha = \frac12 \log\frac{p (1 - q)}{q (1 - p)}`, the minimiser of the normaliser and the
        step of RankBoost on the pairs. ``"figure"``: :math:`\frac12 \log\frac pq`, as in Figure 10.2 of Mohri et al.
        This confuses shares of documents with shares of pairs and descends more slowly.

    Examples
    --------
    >>> boosting = bipartite_rankboost([[1, 0], [1, 1], [0, 1]], [[0, 1], [1, 0], [0, 0]], 1)
    >>> round(float(boosting.weights[0]), 4)  # ½ log 4
    0.6931

    References
    ----------
    Freund, Iyer, Schapire, Singer: An efficient boosting algorithm for combining preferences. JMLR 2003, section 3.2.
    """
    high, low = array("positives", positives, 2), array("negatives", negatives, 2)
    if high.shape[1] != low.shape[1]:
        raise DataError(f"positives {high.shape} and negatives {low.shape} must have the same rankers as columns")
    number("n_rounds", n_rounds, least=0)
    if not np.isin(np.concatenate([high, low]), (0.0, 1.0)).all():
        raise DataError("the values of the rankers must be 0 or 1")
    choice("step", step, _STEPS)
    above, below = np.full(len(high), 1.0 / len(high)), np.full(len(low), 1.0 / len(low))
    weights, rankers, normalisers = np.zeros(high.shape[1]), [], []
    for _ in range(n_rounds):
        p, q = above @ high, below @ low
        best = int(np.argmax(p - q))
        if p[best] <= q[best]:
            break
        if q[best] <= 0 or (step == "exact" and p[best] >= 1):
            raise DataError(f"ranker {best} orders no pair wrongly under the distribution: its step is infinite")
        alpha = _STEPS[step](float(p[best]), float(q[best]))
        above, below = above * np.exp(-alpha * high[:, best]), below * np.exp(alpha * low[:, best])
        normalisers.append(above.sum() * below.sum())
        above, below = above / above.sum(), below / below.sum()
        weights[best] += alpha
        rankers.append(best)
    return BipartiteBoosting(weights, np.array(rankers, np.int64), np.array(normalisers))


class ExponentialSums(NamedTuple):
    """Result of `exponential_sums`."""

    positive: float
    negative: float

    @property
    def adaboost(self) -> float:
        """F₊ + F₋, the loss of AdaBoost."""
        return self.positive + self.negative

    @property
    def rankboost(self) -> float:
        """F₊ F₋, the loss of RankBoost on all pairs."""
        return self.positive * self.negative


def exponential_sums(positives: Any, negatives: Any) -> ExponentialSums:
    r"""The two sums that make up both AdaBoost's and RankBoost's losses on two-grade data.

    .. math:: F_+ = \sum_i e^{-f(x_i^+)}, \quad F_- = \sum_j e^{f(x_j^-)}, \qquad
              F_\text{Ada} = F_+ + F_-, \quad F_\text{Rank} = F_+ F_-

    Since :math:`\nabla F_\text{Rank} = F_-\,\nabla F_\text{Ada} + (F_+ - F_-)\,\nabla F_-`, a minimum of AdaBoost's
    loss with :math:`F_+ = F_-` is one of RankBoost's; if a constant ranker is among the weak rankers, every minimum of
    AdaBoost's is of that kind.

    Parameters
    ----------
    positives, negatives
        Scores of the positive and of the negative documents.

    References
    ----------
    Rudin, Schapire: Margin-based ranking and an equivalence between AdaBoost and RankBoost. JMLR 2009.

    Examples
    --------
    >>> sums = exponential_sums([0.0, 0.0], [0.0, 0.0, 0.0])
    >>> sums.adaboost, sums.rankboost
    (5.0, 6.0)
    """
    high, low = array("positives", positives), array("negatives", negatives)
    return ExponentialSums(float(np.exp(-high).sum()), float(np.exp(low).sum()))
