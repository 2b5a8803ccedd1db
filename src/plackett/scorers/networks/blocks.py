"""How queries are cut into batches for a step and into blocks for one pass through a network."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Largest number of slots of a padded table; it bounds the memory of a step over very long lists.
MOST_SLOTS = 65_536


def rows_at_once(device: Any) -> int:
    """Rows that go through a network together: enough to occupy several cores, or to fill a CUDA device."""
    return 512 if device.type == "cpu" else MOST_SLOTS


def batches(group: np.ndarray, size: int, list_aware: bool, rng: np.random.Generator) -> list[np.ndarray]:
    """Numbers of the queries in each training batch.

    Batches are random for networks that look at one document at a time. For list-aware networks, queries of similar
    length are batched together, so that there is little padding, and very long ones in smaller batches.
    """
    shuffled = rng.permutation(group.size)
    if list_aware:
        return cut_by_length(shuffled[np.argsort(-group[shuffled], kind="stable")], group, MOST_SLOTS, size)
    return [shuffled[start : start + size] for start in range(0, group.size, size)]


def cut_by_length(queries: np.ndarray, group: np.ndarray, slots: int, size: int | None = None) -> list[np.ndarray]:
    """Cut queries, given from long to short, into runs of at most ``size`` whose padded table has at most this many
    slots.

    The longest list of a run is at most twice as long as its shortest.

    >>> [run.tolist() for run in cut_by_length(np.arange(5), np.array([9, 4, 3, 2, 1]), 8)]
    [[0], [1, 2], [3, 4]]
    """
    runs, start = [], 0
    while start < queries.size:
        longest = int(group[queries[start]])
        fit = max(1, slots // max(longest, 1))
        end = start + (fit if size is None else min(fit, size))
        end = start + int(np.count_nonzero(2 * group[queries[start:end]] >= longest))
        runs.append(queries[start:end])
        start = end
    return runs


def cut_by_rows(queries: np.ndarray, group: np.ndarray, rows: int) -> list[np.ndarray]:
    """Cut queries into runs of about this many rows, without splitting queries.

    >>> [run.tolist() for run in cut_by_rows(np.arange(4), np.array([3, 3, 9, 4]), 6)]
    [[0, 1], [2], [3]]
    """
    part = (np.cumsum(group[queries]) - 1) // rows
    return np.split(queries, np.flatnonzero(np.diff(part)) + 1)


def rows_of(queries: list[np.ndarray], offsets: np.ndarray) -> np.ndarray:
    """Numbers of the rows of runs of queries, one query after another.

    >>> rows_of([np.array([1]), np.array([0])], np.array([0, 2, 3]))
    array([2, 0, 1])
    """
    flat = np.concatenate([*queries, np.empty(0, np.int64)]).astype(np.int64)
    sizes = np.diff(offsets)[flat]
    starts = np.cumsum(sizes) - sizes
    return np.arange(sizes.sum()) + np.repeat(offsets[flat] - starts, sizes)
