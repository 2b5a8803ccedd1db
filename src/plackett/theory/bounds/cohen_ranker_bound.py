"""How many pairs an order built from preferences can get wrong."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett.aggregation.orderings.preference import agreement
from plackett.data.arguments import array
from plackett.theory.risks.preference_losses import preference_of, whole_order

__all__ = ["cohen_ranker_bound"]


class CohenRankerBound(NamedTuple):
    """Share of the true pairs that the order violates, and its bound."""

    violated: float
    bound: float


def cohen_ranker_bound(order: Any, preference: Any, pairs: Any, tight: bool = True) -> CohenRankerBound:
    r"""Both sides of the bound (3.3) on the share of true pairs S that an order violates,

    .. math:: \frac{1}{|S|} \Big( \sum_{u \text{ before } v} (1 - h(u, v)) + \sum_{(u, v) \in S} (1 - h(u, v)) \Big),

    the disagreement of the order with the preferences, and that of the preferences with the truth. It holds for any
    order, as long as h(u, v) + h(v, u) = 1.

    Parameters
    ----------
    order
        Row numbers, best first.
    preference
        Table or function h(u, v) in 0..1.
    pairs
        True pairs, the better document first: a table of two columns.
    tight
        False counts the first sum twice, as the textbook does.

    Examples
    --------
    >>> sides = cohen_ranker_bound([1, 0], [[0.5, 0.8], [0.2, 0.5]], [(0, 1)])
    >>> sides.violated, round(sides.bound, 6)
    (1.0, 1.0)

    References
    ----------
    Cohen, Schapire, Singer: Learning to order things. Journal of Artificial Intelligence Research 1999.
    """
    rows = whole_order(order)
    n = rows.size
    table = array("pairs", pairs, None, least=0, most=n - 1, empty=True)
    if table.ndim != 2 or table.shape[1] != 2 or not len(table):
        raise DataError(f"pairs must be a table of two columns with at least one row, got shape {table.shape}")
    true = table.astype(np.int64)
    position = np.empty(n, np.int64)
    position[rows] = np.arange(n)
    better, worse = true.T
    prefers = preference_of(preference, n)
    disagreement = n * (n - 1) / 2 - agreement(prefers, rows)
    wrong = float((1.0 - prefers(better, worse)).sum())
    violated = float((position[better] > position[worse]).mean())
    return CohenRankerBound(violated, ((1.0 if tight else 2.0) * disagreement + wrong) / len(true))
