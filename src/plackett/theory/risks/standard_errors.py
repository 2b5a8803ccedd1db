"""How uncertain an empirical risk is: each framework has its own variance."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.arguments import row_scores
from plackett.data.dataset import RankingDataset
from plackett.theory.risks.associate_losses import pair_values
from plackett.theory.risks.risk import Risk

__all__ = ["risk_standard_error"]

#: Most documents for which all pairs are listed.
_MOST = 2000


def risk_standard_error(risk: Risk, scores: Any, data: RankingDataset) -> float:
    r"""Standard error of an empirical risk.

    Subset and two-layer framework: the deviation of the queries' losses divided by :math:`\sqrt n`. Document framework,
    average view: pairs are independent draws, so :math:`s / \sqrt{\tilde m}`. U-statistic: pairs that share a document
    are not, and by Hoeffding's decomposition :math:`\sqrt{4 \zeta_1 / m + 2 \zeta_2 / (m (m - 1))}` with
    :math:`\zeta_1` the variance over documents of their mean loss in pairs and :math:`\zeta_2` what is left of the
    variance of a pair; it falls like :math:`1/\sqrt m`, not :math:`1/m`. Bipartite view: the variances of the means of
    the documents of each label, divided by their numbers, added.

    References
    ----------
    Hoeffding: A class of statistics with asymptotically normal distribution. Annals of Mathematical Statistics 1948.
    Liu: Learning to rank for information retrieval. Springer 2011, section 16.1.2.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [1, 0, 0, 1, 0], qid=[1, 1, 1, 2, 2])
    >>> risk_standard_error(Risk("pairwise 0-1", "two-layer"), [2.0, 1.0, 3.0, 0.0, 1.0], data)  # of 1/2 and 1
    0.25
    """
    if risk.framework == "document":
        return risk.scale * _DOCUMENT[risk.view](risk, row_scores(data, scores), data)
    terms = risk.terms(scores, data)
    return _of_mean(terms[~np.isnan(terms)])


def _of_mean(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / sqrt(values.size)) if values.size > 1 else float("nan")


def _observed(risk: Risk, scores: np.ndarray, data: RankingDataset) -> float:
    """Standard error of a mean over independent associates."""
    loss = risk.associate_loss
    if loss.associate == "document":
        single = RankingDataset.from_arrays(None, data.labels, np.arange(data.n_rows))
        return _of_mean(loss.sums(scores, single)[data.labels >= 0])
    if data.preferences is None:
        raise DataError("the average view of the document framework has independent pairs: give preferences")
    winner, loser = data.preferences.winner, data.preferences.loser
    labels = np.tile([1.0, 0.0], (winner.size, 1))
    return _of_mean(pair_values(loss, np.stack([scores[winner], scores[loser]], axis=1), labels))


def _hoeffding(risk: Risk, scores: np.ndarray, data: RankingDataset) -> float:
    """Standard error of a U-statistic over the documents of all queries."""
    judged = data.labels >= 0
    s, y = scores[judged], data.labels[judged]
    m = s.size
    if m > _MOST:
        raise DataError(f"{m} documents have too many pairs to list; the most is {_MOST}")
    if m < 3:
        return float("nan")
    u, v = np.triu_indices(m, 1)
    values = pair_values(risk.associate_loss, np.stack([s[u], s[v]], axis=1), np.stack([y[u], y[v]], axis=1))
    by_document = (np.bincount(u, values, m) + np.bincount(v, values, m)) / (m - 1)
    # the variance of the documents' means holds a share of the noise of single pairs
    total = float(values.var(ddof=1))
    first = max(0.0, (float(by_document.var(ddof=1)) - total / (m - 1)) * (m - 1) / (m - 2))
    second = max(0.0, total - 2.0 * first)
    return sqrt(4.0 * first / m + 2.0 * second / (m * (m - 1)))


def _two_samples(risk: Risk, scores: np.ndarray, data: RankingDataset) -> float:
    """Standard error of a mean over all pairs of a document of one label and one of another."""
    levels = np.unique(data.labels[data.labels >= 0])
    if levels.size != 2:
        raise DataError(f"the bipartite view has a standard error for two labels; found {levels.size}")
    low, high = (scores[data.labels == level] for level in levels)
    if low.size * high.size > _MOST**2 / 2 or min(low.size, high.size) < 2:
        raise DataError(f"{high.size} and {low.size} documents of the two labels; give 2 to {_MOST} in all")
    pairs = np.stack([np.repeat(high, low.size), np.tile(low, high.size)], axis=1)
    values = pair_values(risk.associate_loss, pairs, np.tile([1.0, 0.0], (pairs.shape[0], 1)))
    table = values.reshape(high.size, low.size)
    return sqrt(table.mean(axis=1).var(ddof=1) / high.size + table.mean(axis=0).var(ddof=1) / low.size)


_DOCUMENT: dict[str, Callable[[Risk, np.ndarray, RankingDataset], float]] = {
    "average": _observed,
    "u-statistic": _hoeffding,
    "bipartite": _two_samples,
}
