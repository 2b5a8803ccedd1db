"""nDCG by the errors of a classifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett.data.arguments import row_scores
from plackett.data.dataset import RankingDataset
from plackett.measures.gains import ideal_dcg

__all__ = ["multiclass_bound"]


def multiclass_bound(predicted: Any, data: RankingDataset, *, n_classes: int | None = None) -> np.ndarray:
    r"""Bound of 1 − nDCG of each query that is ranked by predicted grades, by the number of wrong ones,

    .. math:: 1 - \text{nDCG} \le \frac{2^{K-1} - 1}{Z} \sqrt{2 \Big(\sum_t \eta(t)^2 - m \prod_t \eta(t)^{2/m}\Big)}
              \sqrt{\#\text{errors}}

    for grades 0 to K − 1. It may be far above 1 for a perfect ranking: every document of the example is misclassified.

    Parameters
    ----------
    predicted
        Predicted grade of each document.
    n_classes
        K; by default one more than the largest grade.

    References
    ----------
    Li, Burges, Wu: McRank: learning to rank using multiple classification and gradient boosting. NIPS 2007.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [4, 3, 2, 1])
    >>> multiclass_bound([3, 2, 1, 0], data).round(3).tolist()  # 1 − nDCG is 0
    [1.191]
    """
    guess, y = row_scores(data, predicted, "predicted"), data.labels
    if (y < 0).any():
        raise DataError("some documents are not judged; the bound needs a grade for each")
    if n_classes is not None:
        number("n_classes", n_classes, least=max(float(y.max(initial=0.0)), float(guess.max(initial=0.0))) + 1.0)
    top = max(float(y.max(initial=0.0)), float(guess.max(initial=0.0))) if n_classes is None else n_classes - 1.0
    wrong = np.bincount(data.query_of_row, guess != y, data.n_queries)
    longest = int(data.group.max(initial=1))
    eta = 1.0 / np.log2(np.arange(2.0, longest + 2.0))
    m = np.maximum(data.group, 1)
    squares = np.cumsum(eta**2)[m - 1]
    mean = m * np.exp(2.0 * np.cumsum(np.log(eta))[m - 1] / m)
    best = ideal_dcg(data, "exp2", "log2", None)
    bound = (np.exp2(top) - 1.0) * np.sqrt(np.maximum(2.0 * (squares - mean), 0.0) * wrong)
    return np.divide(bound, best, out=np.zeros(best.size), where=best > 0)
