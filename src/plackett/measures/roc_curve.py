"""The ROC curve over all queries of a dataset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import MeasureError
from plackett.data.dataset import RankingDataset
from plackett.data.estimators import scores_of

__all__ = ["roc_curve"]


@dataclass(frozen=True, eq=False)
class RocCurve:
    """Points of a ROC curve, from (0, 0) to (1, 1).

    Attributes
    ----------
    fpr, tpr
        Share of the irrelevant and of the relevant documents with a score of at least the threshold.
    thresholds
        Score of each point, descending; the first is infinite.
    """

    fpr: np.ndarray
    tpr: np.ndarray
    thresholds: np.ndarray

    @property
    def area(self) -> float:
        """Area by trapezoids: the AUC over all pairs of the dataset, tied pairs counting one half."""
        return float(np.trapezoid(self.tpr, self.fpr))


def roc_curve(data: RankingDataset, scores: Any, *, rel: float = 1.0) -> RocCurve:
    """ROC curve of scores over all judged documents of a dataset together.

    The threshold falls from high to low, and equal scores move together, so the curve does not depend on the order of
    the rows. For the curve of one query pass ``data.select([q])``; for the mean area over queries see `AUC`.

    Parameters
    ----------
    data
        Dataset with labels; documents with a label below 0 are left out.
    scores
        One score per row, larger is better; or a fitted ranker. Scores of different queries are compared with each
        other here.
    rel
        Lowest label that counts as relevant.

    References
    ----------
    Fawcett: An introduction to ROC analysis. Pattern Recognition Letters 2006.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [1, 1, 1, 0, 0])
    >>> curve = roc_curve(data, [0.9, 0.5, 0.5, 0.5, 0.1])
    >>> curve.tpr.round(3).tolist(), curve.fpr.tolist(), round(curve.area, 4)
    ([0.0, 0.333, 1.0, 1.0], [0.0, 0.0, 0.5, 1.0], 0.8333)
    """
    values = scores_of(data, scores)
    judged = data.labels >= 0
    values, relevant = values[judged], data.labels[judged] >= rel
    n_relevant = int(relevant.sum())
    if n_relevant in (0, relevant.size):
        raise MeasureError(
            f"a ROC curve needs relevant and other documents; {n_relevant} of {relevant.size} judged ones have a "
            f"label of at least rel={rel:g}"
        )
    order = np.argsort(-values)
    values, relevant = values[order], relevant[order]
    last = np.append(np.flatnonzero(values[1:] != values[:-1]), values.size - 1)
    true = np.cumsum(relevant)[last]
    false = 1 + last - true
    return RocCurve(
        np.concatenate(([0.0], false / (relevant.size - n_relevant))),
        np.concatenate(([0.0], true / n_relevant)),
        np.concatenate(([np.inf], values[last])),
    )
