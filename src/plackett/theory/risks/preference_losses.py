"""Losses of an order and of a preference function against the truth, pair by pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.aggregation.orderings.preference import Preference, as_preference, pair_blocks
from plackett.data.arguments import array

__all__ = ["preference_loss", "ranking_loss"]

#: Weight ω(i, j) of a pair, from the two true positions, 1 is the top; takes arrays.
Emphasis = Callable[[np.ndarray, np.ndarray], np.ndarray]


def ranking_loss(order: Any, labels: Any, emphasis: Emphasis | None = None) -> float:
    r"""Ranking loss of an order: the weighted number of pairs that it reverses,

    .. math:: L_\omega(\sigma, \sigma^*) = \frac{2}{n (n - 1)} \sum_{u \ne v} \omega(\sigma^*(v), \sigma^*(u))\,
              [\sigma(u) < \sigma(v)]\,[\sigma^*(v) < \sigma^*(u)].

    Parameters
    ----------
    order
        Row numbers, best first, as an ordering's ``order`` gives them.
    labels
        The truth: larger is better, and documents of equal labels form no pair (the divisor still counts them).
    emphasis
        Weight of a pair from its two true positions, see `plackett.theory.partite_emphasis`; 1 without it.

    Examples
    --------
    >>> ranking_loss([2, 1, 0], [3, 2, 1])
    1.0
    >>> round(ranking_loss([1, 0, 2], [1, 0, 0]), 4)  # one of three pairs
    0.3333

    References
    ----------
    Ailon, Mohri: Preference-based learning to rank. Machine Learning 2010.
    """
    labels = array("labels", labels)
    rows = whole_order(order, labels.size)
    position = np.empty(rows.size, np.int64)
    position[rows] = np.arange(rows.size)
    return _loss(lambda u, v: (position[u] < position[v]).astype(np.float64), labels, emphasis)


def preference_loss(preference: Any, labels: Any, emphasis: Emphasis | None = None) -> float:
    r"""Preference loss: how strongly a preference function favours the wrong document of each pair,

    .. math:: L_\omega(h, \sigma^*) = \frac{2}{n (n - 1)} \sum_{u \ne v} \omega(\sigma^*(v), \sigma^*(u))\,
              h(u, v)\,[\sigma^*(v) < \sigma^*(u)].

    Parameters
    ----------
    preference
        Table or function h(u, v), the probability that u belongs before v.
    labels, emphasis
        As in `ranking_loss`.

    References
    ----------
    Ailon, Mohri: Preference-based learning to rank. Machine Learning 2010.

    Examples
    --------
    >>> preference_loss([[0.5, 0.8], [0.2, 0.5]], [1, 0])
    0.2
    """
    values = array("labels", labels)
    return _loss(preference_of(preference, values.size), values, emphasis)


def whole_order(order: Any, n: int | None = None) -> np.ndarray:
    """An order as row numbers, refused unless it holds each of the n documents once."""
    rows = array("order", order)
    n = rows.size if n is None else n
    if not np.array_equal(np.sort(rows), np.arange(n)):
        raise DataError(f"order must hold each of the {n} documents once")
    return rows.astype(np.int64)


def preference_of(preference: Any, n: int) -> Preference:
    """A preference function of n documents; a table of another size, or with NaN, is refused."""
    if callable(preference):
        return as_preference(preference)
    table = array("preference", preference, 2, least=0.0, most=1.0)
    if table.shape != (n, n):
        raise DataError(f"preference has shape {table.shape}; give a row and a column for each of the {n} labels")
    return as_preference(table)


def _loss(wrong: Preference, labels: np.ndarray, emphasis: Emphasis | None) -> float:
    n = labels.size
    if n < 2:
        return 0.0
    best = np.argsort(-labels, kind="stable")
    total = 0.0
    for i, j in pair_blocks(np.array([0, n])):
        some = labels[best[i]] > labels[best[j]]
        i, j = i[some], j[some]
        lost = wrong(best[j], best[i])
        total += float(lost.sum() if emphasis is None else (emphasis(i + 1, j + 1) * lost).sum())
    return 2.0 * total / (n * (n - 1))
