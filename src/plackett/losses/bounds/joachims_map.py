"""AP by the number of inverted pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett.data.arguments import array, matching

__all__ = ["joachims_map_bound"]

__home__ = "theory"


def joachims_map_bound(pair_loss: Any, n_relevant: Any) -> np.ndarray:
    r"""Bound of 1 − AP by a pair loss L that is at least the number of inverted pairs of relevant and other documents,

    .. math:: 1 - \text{AP} \le 1 - \frac{1}{m_1} \Big(L + \frac{m_1 (m_1 + 1)}{2}\Big)^{-1}
              \Big(\sum_{j \le m_1} \sqrt j\Big)^2

    The hinge and exponential losses are, and so is the logistic loss divided by log 2. The bound is not tight: it is
    above 0 for L = 0 where more than one document is relevant.

    Parameters
    ----------
    pair_loss, n_relevant
        L and :math:`m_1` of each query.

    References
    ----------
    Joachims: Optimizing search engines using clickthrough data. KDD 2002.

    Examples
    --------
    >>> joachims_map_bound([0.0, 1.0, 0.0], [1, 1, 2]).round(4).tolist()
    [0.0, 0.5, 0.0286]
    """
    loss, counts = array("pair_loss", pair_loss, least=0.0), array("n_relevant", n_relevant, least=0)
    matching(pair_loss=loss, n_relevant=counts)
    m = counts.astype(np.int64)
    roots = np.concatenate(([0.0], np.cumsum(np.sqrt(np.arange(1.0, m.max(initial=0) + 1.0)))))[m]
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = 1.0 - roots**2 / (m * (loss + m * (m + 1) / 2.0))
    return np.where(m > 0, bound, 0.0)
