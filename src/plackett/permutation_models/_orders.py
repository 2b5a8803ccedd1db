"""Orders of items as flat arrays: complete or only the first ranks, of any length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries


class Orders(NamedTuple):
    """Items of order t, best first, are ``items[offsets[t]:offsets[t + 1]]``."""

    items: np.ndarray
    offsets: np.ndarray

    @property
    def n(self) -> int:
        """Number of orders."""
        return self.offsets.size - 1


def as_orders(orders: Any, n_items: int | None = None) -> tuple[Orders, int]:
    """Check a table or a list of lists of item numbers; also return the number of items.

    >>> as_orders([[2, 0], [1]])[0].items.tolist()
    [2, 0, 1]
    """
    if isinstance(orders, np.ndarray) and orders.ndim == 2:
        lengths = np.full(orders.shape[0], orders.shape[1])
        flat = orders.ravel()
    elif isinstance(orders, Sequence) or (isinstance(orders, np.ndarray) and orders.dtype == object):
        parts = [np.asarray(order) for order in orders]
        if any(part.ndim != 1 for part in parts):
            raise DataError("orders must be a list of lists of item numbers, or a table with one order per row")
        lengths = np.array([part.size for part in parts], np.int64)
        flat = np.concatenate(parts) if parts else np.empty(0, np.int64)
    else:
        raise DataError("orders must be a list of lists of item numbers, or a table with one order per row")
    if flat.size and flat.dtype.kind not in "iu":
        raise DataError(f"orders must hold item numbers 0, 1, …, not {flat.dtype}")
    items = np.ascontiguousarray(flat, np.int64)
    largest = int(items.max(initial=-1))
    n_items = largest + 1 if n_items is None else n_items
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    for bad in np.flatnonzero((items < 0) | (items >= n_items))[:1]:
        order = np.searchsorted(offsets, bad, side="right") - 1
        raise DataError(f"order {order} has item {items[bad]}, but the items are 0 to {n_items - 1}")
    repeated = np.zeros(lengths.size, bool)
    over_queries(_repeats, offsets, items, n_items, repeated)
    for order in np.flatnonzero(repeated)[:1]:
        raise DataError(f"order {order} has an item twice: {items[offsets[order] : offsets[order + 1]].tolist()}")
    return Orders(items, offsets), n_items


@kernel
def _repeats(lo, hi, offsets, items, n_items, out):
    seen = np.full(n_items, -1, np.int64)
    for t in range(lo, hi):
        for i in range(offsets[t], offsets[t + 1]):
            out[t] |= seen[items[i]] == t
            seen[items[i]] = t


def as_weights(weights: Any, n: int) -> np.ndarray:
    """How often each observation counts; 1 by default."""
    if weights is None:
        return np.ones(n)
    weights = np.ascontiguousarray(weights, float)
    if weights.shape != (n,) or not (np.isfinite(weights) & (weights >= 0)).all():
        raise DataError(f"weights must be {n} numbers of 0 or more, one per observation")
    return weights


def as_pairs(wins: Any) -> tuple[np.ndarray, np.ndarray, int]:
    """Pairs (winner, loser) and counts from a square table: how often the item of the row beat that of the column."""
    table = np.asarray(wins, float)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise DataError(f"wins must be a square table of counts, got shape {table.shape}")
    if not (np.isfinite(table) & (table >= 0)).all() or np.diagonal(table).any():
        raise DataError("wins must be counts of 0 or more, with zeros on the diagonal")
    pairs = np.argwhere(table > 0)
    return pairs, table[tuple(pairs.T)], table.shape[0]
