"""How to spend a budget of judgements, by the two-layer bound."""

from __future__ import annotations

from math import inf, log, sqrt
from typing import NamedTuple

from plackett._errors import DataError
from plackett._provenance import fulfils
from plackett.theory.bounds.two_layer import TwoLayerBound

__all__ = ["LabellingBudget", "labelling_budget", "smallest_budget"]


class LabellingBudget(NamedTuple):
    """The split of a budget of judgements that minimises the two-layer bound.

    ``queries`` and ``documents`` minimise the smooth form of the bound, ``bound`` is the bound at whole numbers next to
    them.
    """

    queries: float
    documents: float
    bound: TwoLayerBound


@fulfils("C-07", paper="Chen, Liu, Ma 2010")
def labelling_budget(
    budget: int, vc: float = 10.0, *, delta: float = 0.05, c: float = 1.0, loss_bound: float = 1.0
) -> LabellingBudget:
    r"""Number of queries, and of documents for each, that minimise the two-layer bound for C judgements in all:

    .. math:: n^* = \frac{c \sqrt V + M \sqrt{2 \log(4/\delta)}}{c \sqrt{2 V}} \sqrt C, \qquad m^* = C / n^*

    The richer the class (V), the fewer queries with more documents each; the higher the confidence, the more queries.

    Examples
    --------
    >>> found = labelling_budget(20_000, vc=10)
    >>> round(found.queries, 4), round(found.documents, 2), found.bound.queries, found.bound.documents
    (193.6165, 103.3, 196, 102)
    """
    if not 4 <= budget < inf or not vc > 0 or not c > 0 or not 0 < delta < 1:
        raise DataError(
            f"budget={budget}, vc={vc}, c={c}, delta={delta}; give 4 judgements or more, and positive numbers"
        )
    n = (c * sqrt(vc) + loss_bound * sqrt(2.0 * log(4.0 / delta))) / (c * sqrt(2.0 * vc)) * sqrt(budget)
    n = min(n, budget / 2.0)
    # the bound looks at half of the documents of a query: an odd one is wasted
    even = 2 * max(1, int(budget / n / 2.0))
    splits = {(max(1, min(round(n), budget // 2)), budget // max(1, min(round(n), budget // 2)))}
    splits |= {(budget // m, m) for m in (even, even + 2) if budget // m >= 1}
    bounds = [
        TwoLayerBound(queries=q, documents=m, vc=vc, c=c, delta=delta, loss_bound=loss_bound) for q, m in sorted(splits)
    ]
    return LabellingBudget(n, budget / n, min(bounds, key=lambda bound: bound.value))


@fulfils("C-08", paper="Liu 2011, Learning to rank for information retrieval, section 15.3.2")
def smallest_budget(epsilon: float, vc: float = 10.0, *, delta: float = 0.05, c: float = 1.0) -> LabellingBudget:
    """The smallest budget, to 0.1 %, whose best split has a two-layer bound of at most ε.

    >>> found = smallest_budget(0.5, vc=10)
    >>> found.bound.value <= 0.5 < labelling_budget(int(0.99 * found.queries * found.documents), vc=10).bound.value
    True
    """
    if not epsilon > 0:
        raise DataError(f"epsilon={epsilon}; give a positive number")
    low, high = 4, 8
    while labelling_budget(high, vc, delta=delta, c=c).bound.value > epsilon:
        low, high = high, high * 2
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        met = labelling_budget(middle, vc, delta=delta, c=c).bound.value <= epsilon
        low, high = (low, middle) if met else (middle, high)
    return labelling_budget(high, vc, delta=delta, c=c)
