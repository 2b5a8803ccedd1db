"""The losses of structural SVMs bound the error of a ranking from above."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from plackett._base.errors import DataError, MeasureError
from plackett.data.arguments import array
from plackett.data.dataset import RankingDataset
from plackett.measures.language import parse
from plackett.measures.ranking import Scored

__all__ = ["structured_bounds"]

#: 8! rankings are 40 320.
_MOST_DOCUMENTS = 8


@dataclass(frozen=True)
class StructuredBounds:
    """An error and its bounds.

    Attributes
    ----------
    error
        1 − M of the ranking by score; where scores tie, of the worst one.
    indicator
        The largest 1 − M of a ranking whose feature map scores at least as high as that of a perfect one (4.19).
    margin
        The largest 1 − M plus the violation, as in SVM-MAP (4.20).
    slack
        The largest 1 − M times the violation and one, as in PermuRank (4.21).
    """

    error: float
    indicator: float
    margin: float
    slack: float


def structured_bounds(scores: Any, labels: Any, measure: str = "nDCG") -> StructuredBounds:
    r"""Error of a short list and the three losses that bound it, by trying all rankings.

    .. math:: 1 - M(\hat\pi) \le \max_\pi (1 - M(\pi)) \, I\{F(\pi) \ge 0\} \le
              \begin{cases} \max_\pi [1 - M(\pi) + F(\pi)]_+ \\ \max_\pi (1 - M(\pi)) [1 + F(\pi)]_+ \end{cases}

    where F(π) is how much higher the feature map of π scores than that of a perfect ranking,

    .. math:: F(\pi) = \frac1P \sum_{y_u > y_v} (\pm 1 - 1)(s_u - s_v)

    with + where π puts u above v and P the number of pairs of unequal labels. The ranking by score has the largest F,
    which is not negative; for linear scores F is linear in the weights, so the last two are convex in them.

    Parameters
    ----------
    scores, labels
        Of the documents of one list, at most 8.
    measure
        A measure between 0 and 1, larger is better, that is 1 for rankings by label, such as ``"nDCG"``, ``"AP"`` or
        ``"RR"``. Only pairs that the measure tells apart should differ in label: for AP and RR labels are 0 and 1.

    References
    ----------
    Xu, Liu, Lu, Li, Ma: Directly optimizing evaluation measures in learning to rank. SIGIR 2008.

    Examples
    --------
    Both relevant documents are below the other one, so 1 − AP is 5/12:

    >>> bounds = structured_bounds([3.0, 2.0, 1.0], [0, 1, 1], "AP")
    >>> [round(value, 4) for value in (bounds.error, bounds.indicator, bounds.margin, bounds.slack)]
    [0.4167, 0.4167, 3.4167, 1.6667]
    """
    s, y = array("scores", scores), array("labels", labels)
    if s.shape != y.shape or s.size > _MOST_DOCUMENTS:
        raise DataError(
            f"scores of shape {s.shape} and labels of shape {y.shape}; give both for the same 1 to {_MOST_DOCUMENTS} "
            "documents"
        )
    if np.ptp(y) == 0:
        return StructuredBounds(0.0, 0.0, 0.0, 0.0)  # every ranking is perfect
    orders = np.array(list(permutations(range(s.size))))
    error = 1.0 - _values(y[orders], measure)
    if not (error >= -1e-12).all() or not (error <= 1 + 1e-12).all():
        raise MeasureError(f"{measure} is not between 0 and 1; give a measure such as nDCG, AP or RR")
    perfect = (np.diff(y[orders], axis=1) <= 0).all(axis=1)
    if error[perfect].max() > 1e-12:
        raise MeasureError(f"{measure} of a ranking by label is not 1; for AP and RR make the labels 0 and 1")
    violation = _violation(s, y, orders)
    # rankings that the scores give: all orders inside ties
    by_score = (np.diff(s[orders], axis=1) <= 0).all(axis=1)
    return StructuredBounds(
        error=float(error[by_score].max()),
        indicator=float(error[violation >= -1e-12 * np.abs(s).max()].max()),
        margin=float(np.maximum(error + violation, 0.0).max()),
        slack=float((error * np.maximum(1.0 + violation, 0.0)).max()),
    )


def _values(labels: np.ndarray, measure: str) -> np.ndarray:
    """The measure of lists of labels from the top down."""
    n, length = labels.shape
    data = RankingDataset.from_arrays(None, labels.ravel(), np.repeat(np.arange(n), length))
    parsed = parse(measure)
    return parsed.per_query(Scored(data, np.tile(-np.arange(length, dtype=np.float64), n)))


def _violation(s: np.ndarray, y: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """How much higher the feature map of each ranking scores than that of a perfect one."""
    position = np.argsort(orders, axis=1)
    u, v = np.nonzero(y[:, None] > y)
    wrong = position[:, u] > position[:, v]
    return wrong @ (-2.0 * (s[u] - s[v])) / u.size
