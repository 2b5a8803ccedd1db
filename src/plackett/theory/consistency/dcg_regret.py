"""How much DCG a regression can lose."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.arguments import number
from plackett.data.arguments import array, matching
from plackett.measures.gains import check_discount, discount_table

__all__ = ["dcg_regret_bound"]


def dcg_regret_bound(scores: Any, expected_gains: Any, discount: Any = "log2", k: int | None = None) -> float:
    r"""Bound on the DCG lost by ranking by scores instead of by the expected gains,

    .. math:: \text{DCG}(r_B) - \text{DCG}(r_f) \le \Big(2 \sum_i c_i^2\Big)^{1/2} \lVert s - s_B \rVert_2,
              \qquad s_{B,j} = E[g_j \mid x]

    (the book prints the label itself for the conditional mean). So a regression with a small square loss ranks well;
    the converse is false. `SubsetSquare` is the loss that spends its effort on the relevant documents and on the worst
    of the others, for which such a bound holds as well.

    Parameters
    ----------
    scores, expected_gains
        Of the documents of a list.
    discount, k
        Discounts c of the ranks as in nDCG, 0 beyond k.

    References
    ----------
    Cossock, Zhang: Subset ranking using regression. COLT 2006.

    Examples
    --------
    >>> round(dcg_regret_bound([2.0, 1.0], [1.0, 1.0], discount=[1.0, 1.0]), 4)  # √(2 · 2) · 1
    2.0
    """
    s, g = array("scores", scores), array("expected_gains", expected_gains)
    matching(scores=s, expected_gains=g)
    if k is not None:
        number("k", k, least=1)
    c = discount_table(check_discount(discount, "dcg_regret_bound"), s.size)[: k or s.size]
    return float(np.sqrt(2.0 * np.square(c).sum()) * np.linalg.norm(s - g))
