"""Preference functions: how probable it is that one document belongs before another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from plackett._base.errors import DataError

__all__ = ["agreement", "symmetrised"]

#: ``h(first, second)``: for arrays of row numbers, the probability that each row of the first belongs before that of
#: the second, with h(u, v) + h(v, u) = 1. It is called with many pairs at a time.
Preference = Callable[[np.ndarray, np.ndarray], np.ndarray]

#: Approximate number of pairs compared at a time.
_AT_ONCE = 1 << 18


def as_preference(h: Any) -> Preference:
    """A preference function that checks its results, from a function or a square table."""
    if not callable(h):
        h = _table(h)

    def checked(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        values = np.asarray(h(first, second), np.float64)
        if values.shape != first.shape:
            raise DataError(f"the preference function gave shape {values.shape} for {first.size} pairs")
        if values.size and not (values.min() >= 0.0 and values.max() <= 1.0):
            bad = int(np.flatnonzero(~((values >= 0.0) & (values <= 1.0)))[0])
            raise DataError(f"h({first[bad]}, {second[bad]}) is {values[bad]}; a preference is a number from 0 to 1")
        return values

    return checked


def _table(h: Any) -> Preference:
    values = np.asarray(h, np.float64)
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise DataError(f"a table of preferences must be square, got shape {values.shape}")
    wrong = np.abs(values + values.T - 1.0) > 1e-9
    np.fill_diagonal(wrong, False)
    if wrong.any():
        u, v = (int(i) for i in np.argwhere(wrong)[0])
        raise DataError(f"h[{u}, {v}] = {values[u, v]} and h[{v}, {u}] = {values[v, u]} must add up to 1")
    return lambda first, second: values[first, second]


def symmetrised(h: Preference) -> Preference:
    """The function (h(u, v) + 1 − h(v, u)) / 2, for which h(u, v) + h(v, u) = 1.

    >>> h = symmetrised(lambda u, v: np.where(u < v, 0.9, 0.3))
    >>> h(np.array([0, 1]), np.array([1, 0])).round(6).tolist()
    [0.8, 0.2]
    """
    return lambda first, second: 0.5 * (np.asarray(h(first, second)) + 1.0 - np.asarray(h(second, first)))


def agreement(preference: Any, order: Any) -> float:
    r"""How much an order agrees with the preferences: :math:`\sum_{u \text{ before } v} h(u, v)`.

    >>> agreement([[0.5, 0.9], [0.1, 0.5]], [0, 1])
    0.9
    """
    h, rows = as_preference(preference), np.asarray(order, np.int64)
    blocks = pair_blocks(np.array([0, rows.size]))
    return float(sum(h(rows[first], rows[second]).sum() for first, second in blocks))


def pair_blocks(offsets: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All pairs of rows u < v of the same list, a bounded number at a time."""
    n = int(offsets[-1])
    rows = np.arange(n)
    partners = np.repeat(offsets[1:], np.diff(offsets)) - rows - 1
    ends = np.cumsum(partners)
    lo = 0
    while lo < n:
        done = ends[lo - 1] if lo else 0
        hi = max(lo + 1, int(np.searchsorted(ends, done + _AT_ONCE, side="right")))
        counts = partners[lo:hi]
        first = np.repeat(rows[lo:hi], counts)
        if first.size:
            yield first, first + 1 + np.arange(first.size) - np.repeat(np.cumsum(counts) - counts, counts)
        lo = hi
