"""Bound nDCG by the gains of inverted pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett.data.arguments import array, matching

__all__ = ["ndcg_inversion_bound"]


def ndcg_inversion_bound(scores: Any, labels: Any) -> float:
    r"""Bound on 1 − nDCG by the inverted pairs, weighted by their gains,

    .. math:: 1 - \text{nDCG} \le \frac{\eta(1) - \eta(2)}{Z} \sum_{\text{inversions}} (G_u - G_v),
              \qquad \eta(1) - \eta(2) = 0.36907

    for the discount 1/log₂(1 + r): any ranking is sorted by exchanges of neighbours, and none costs more discount than
    that at the top. So a preference function with a small weighted pair loss makes a ranking of good nDCG. A tie of
    scores is an inversion. 0 for a list without a gain.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 18.5.
    Sun, Qin, Tao, Wang: Robust sparse rank learning for non-smooth ranking measures. SIGIR 2009.

    Examples
    --------
    >>> round(ndcg_inversion_bound([1.0, 2.0], [1, 0]), 5)  # attained
    0.36907
    """
    s, y = array("scores", scores), array("labels", labels, least=0.0)
    matching(scores=s, labels=y)
    gains = np.exp2(y) - 1.0
    best = float(np.sort(gains)[::-1] @ (1.0 / np.log2(np.arange(2.0, y.size + 2.0))))
    if best == 0:
        return 0.0
    inverted = (y[:, None] > y) & (s[:, None] <= s)
    return float((1.0 - 1.0 / np.log2(3.0)) / best * ((gains[:, None] - gains) * inverted).sum())
