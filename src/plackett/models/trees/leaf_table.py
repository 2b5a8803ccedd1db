"""The leaf of each row in each of many trees, to add the trees up again whenever their weights change."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel, over_queries

#: Rows whose scores stay in the cache while the trees are added one by one.
_BLOCK = 1024


class LeafTable:
    """A line of leaf numbers per tree: a byte per row, or as many as the largest tree needs.

    Parameters
    ----------
    offsets
        Where the queries of the rows begin and end.
    n_jobs
        Threads.
    """

    def __init__(self, offsets: np.ndarray, n_jobs: int | None) -> None:
        self.offsets, self.n_jobs = offsets, n_jobs
        self.leaves = np.empty((0, int(offsets[-1])), np.uint8)

    def put(self, line: int, leaf: np.ndarray) -> None:
        """Write a line; it may replace that of another tree."""
        lines, rows = self.leaves.shape
        if line >= lines or leaf.dtype.itemsize > self.leaves.dtype.itemsize:
            larger = np.empty((max(lines, line + 1 + line // 2), rows), max(leaf.dtype, self.leaves.dtype))
            larger[:lines] = self.leaves
            self.leaves = larger
        self.leaves[line] = leaf

    def add(self, lines: list[int], values: list[np.ndarray], scores: np.ndarray) -> None:
        """Add the values of the leaves of some trees to the scores, tree by tree in this order."""
        if not lines:
            return
        table = np.zeros((len(values), max(value.size for value in values)))
        for row, value in zip(table, values, strict=True):
            row[: value.size] = value
        over_queries(_add, self.offsets, self.leaves, np.array(lines), table, scores, n_jobs=self.n_jobs)


@kernel
def _add(lo, hi, offsets, leaves, lines, table, scores):
    end = offsets[hi]
    for a in range(offsets[lo], end, _BLOCK):
        b = min(a + _BLOCK, end)
        for t in range(lines.size):
            leaf = leaves[lines[t]]
            values = table[t]
            for i in range(a, b):
                scores[i] += values[leaf[i]]
