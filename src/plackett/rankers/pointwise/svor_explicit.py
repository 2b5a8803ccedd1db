"""Support vector ordinal regression with explicit constraints on the thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett.rankers.pointwise.fixed_margin_svm import FixedMarginSVM

__all__ = ["SVORExplicit"]


@dataclass(kw_only=True, eq=False, repr=False)
class SVORExplicit(FixedMarginSVM):
    r"""Ordinal SVM with a fixed margin (`FixedMarginSVM`) whose thresholds are held in order.

    .. math:: \min_{w, \theta} \tfrac12 \lVert w \rVert^2 + C \sum_k \Big( \sum_{y_j = k} \max(0, 1 + s_j - \theta_k)
              + \sum_{y_j = k+1} \max(0, 1 - s_j + \theta_k) \Big), \qquad \theta_1 \le \theta_2 \le \dots

    Equal to `FixedMarginSVM` whenever the thresholds of that one are already in order.

    Examples
    --------
    >>> ranker = SVORExplicit().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 2], qid=[1, 1, 1, 1])
    >>> ranker.rank([[2.0], [3.0]], qid=[1, 1])
    array([2, 1])

    References
    ----------
    Chu, Keerthi: New approaches to support vector ordinal regression. ICML 2005.
    """

    ordered: ClassVar[bool] = True
