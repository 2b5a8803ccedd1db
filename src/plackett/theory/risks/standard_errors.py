"""How uncertain means are: over queries, over independent pairs, over pairs that share documents."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.theory.risks.associate_loss import AssociateLoss
from plackett.theory.risks.associate_losses import pair_values

#: Most documents for which all pairs are listed.
_MOST = 2000


def of_mean(values: np.ndarray) -> float:
    """Standard error of a mean of independent values."""
    return float(values.std(ddof=1) / sqrt(values.size)) if values.size > 1 else float("nan")


def _observed(loss: AssociateLoss, scores: np.ndarray, data: RankingDataset) -> float:
    """Standard error of a mean over independent associates."""
    if loss.associate == "document":
        single = RankingDataset.from_arrays(None, data.labels, np.arange(data.n_rows))
        return of_mean(loss.sums(scores, single)[data.labels >= 0])
    if data.preferences is None:
        raise DataError("the average view of the document framework has independent pairs: give preferences")
    winner, loser = data.preferences.winner, data.preferences.loser
    labels = np.tile([1.0, 0.0], (winner.size, 1))
    return of_mean(pair_values(loss, np.stack([scores[winner], scores[loser]], axis=1), labels))


def _hoeffding(loss: AssociateLoss, scores: np.ndarray, data: RankingDataset) -> float:
    """Standard error of a U-statistic over the documents of all queries."""
    judged = data.labels >= 0
    s, y = scores[judged], data.labels[judged]
    m = s.size
    if m > _MOST:
        raise DataError(f"{m} documents have too many pairs to list; the most is {_MOST}")
    if m < 3:
        return float("nan")
    u, v = np.triu_indices(m, 1)
    values = pair_values(loss, np.stack([s[u], s[v]], axis=1), np.stack([y[u], y[v]], axis=1))
    by_document = (np.bincount(u, values, m) + np.bincount(v, values, m)) / (m - 1)
    # the variance of the documents' means holds a share of the noise of single pairs
    total = float(values.var(ddof=1))
    first = max(0.0, (float(by_document.var(ddof=1)) - total / (m - 1)) * (m - 1) / (m - 2))
    second = max(0.0, total - 2.0 * first)
    return sqrt(4.0 * first / m + 2.0 * second / (m * (m - 1)))


def _two_samples(loss: AssociateLoss, scores: np.ndarray, data: RankingDataset) -> float:
    """Standard error of a mean over all pairs of a document of one label and one of another."""
    levels = np.unique(data.labels[data.labels >= 0])
    if levels.size != 2:
        raise DataError(f"the bipartite view has a standard error for two labels; found {levels.size}")
    low, high = (scores[data.labels == level] for level in levels)
    if low.size * high.size > _MOST**2 / 2 or min(low.size, high.size) < 2:
        raise DataError(f"{high.size} and {low.size} documents of the two labels; give 2 to {_MOST} in all")
    pairs = np.stack([np.repeat(high, low.size), np.tile(low, high.size)], axis=1)
    values = pair_values(loss, pairs, np.tile([1.0, 0.0], (pairs.shape[0], 1)))
    table = values.reshape(high.size, low.size)
    return sqrt(table.mean(axis=1).var(ddof=1) / high.size + table.mean(axis=0).var(ddof=1) / low.size)


_DOCUMENT: dict[str, Callable[[AssociateLoss, np.ndarray, RankingDataset], float]] = {
    "average": _observed,
    "u-statistic": _hoeffding,
    "bipartite": _two_samples,
}


def document_standard_error(view: str, loss: AssociateLoss, scores: np.ndarray, data: RankingDataset) -> float:
    """Standard error of an empirical risk of the document framework."""
    return _DOCUMENT[view](loss, scores, data)
