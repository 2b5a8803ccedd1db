"""Scoring a few rows: eight trees are walked at once, so that the processor always has something to wait for.

A walk down one tree is a chain of loads, each of which waits for the one before. The steps of several trees do not
depend on each other. A split is one 64-bit word: the row of codes that it asks, the code, and the two children (see
`plackett.scorers.trees.codes`); a leaf is a word that leads to itself, so that no walk has to be stopped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.scorers.trees.arrays import TreeArrays
from plackett.scorers.trees.codes import TreeCodes, encode_few

#: Trees walked at once.
_TREES = 8
#: Steps between looks whether all of them have reached a leaf.
_BETWEEN = 4
#: Largest number of nodes of a tree, and of rows of codes, that a word has room for.
_MOST_NODES, _MOST_ROWS = 1 << 16, 1 << 24


@dataclass(frozen=True, kw_only=True)
class TreeSteps:
    """The words of an ensemble.

    Parameters
    ----------
    words
        Splits and then leaves of each tree: from the low bits the row of codes (24), the code (8), and the nodes of the
        tree that follow if the code of the row is not above it (16) and if it is (16).
    first
        Of each tree, the number of its first word; trees of one leaf are added until their number divides by eight.
    n_splits
        Splits of each tree: a later node is a leaf.
    depth
        Levels of the deepest of each eight trees.
    """

    words: np.ndarray
    first: np.ndarray
    n_splits: np.ndarray
    depth: np.ndarray

    @property
    def n_steps(self) -> int:
        """Steps of one row, at most."""
        return int(_TREES * self.depth.sum())

    @classmethod
    def of(cls, trees: TreeArrays, codes: TreeCodes) -> TreeSteps | None:
        """The words of an ensemble; None if it is too large for them."""
        n_splits = np.diff(trees.split_offsets)
        if 2 * n_splits.max(initial=0) + 1 > _MOST_NODES or codes.row_feature.size > _MOST_ROWS:
            return None
        extra = -trees.n_trees % _TREES
        n_splits = np.concatenate((n_splits, np.zeros(extra, np.int64)))
        first = np.concatenate(([0], np.cumsum(2 * n_splits + 1)))
        tree = np.repeat(np.arange(n_splits.size), 2 * n_splits + 1)
        own = np.arange(first[-1]) - first[tree]
        words = np.int64(0xFF000000) | (own << 32) | (own << 48)  # all are leaves
        of_split = np.repeat(np.arange(n_splits.size), n_splits)
        left, right = (
            np.where(side >= 0, side, n_splits[of_split] + ~side)
            for side in (trees.left.astype(np.int64), trees.right.astype(np.int64))
        )
        stay, go = np.where(codes.swapped, right, left), np.where(codes.swapped, left, right)
        asked = codes.row.astype(np.int64) | (codes.code.astype(np.int64) << 24)
        splits = np.flatnonzero(own < n_splits[tree])
        words[splits] = asked | (stay << 32) | (go << 48)
        depth = np.zeros(n_splits.size, np.int64)
        level = np.zeros(trees.feature.size, np.int64)
        _levels(trees.split_offsets, trees.left, trees.right, level, depth)
        return cls(words=words, first=first[:-1], n_splits=n_splits, depth=depth.reshape(-1, _TREES).max(axis=1))


@kernel
def _levels(split_offsets, left, right, level, depth):
    """Number of splits on the longest way through each tree. A split comes before its children."""
    for t in range(split_offsets.size - 1):
        a = split_offsets[t]
        for s in range(a, split_offsets[t + 1]):
            depth[t] = max(depth[t], level[s] + 1)
            if left[s] >= 0:
                level[a + left[s]] = level[s] + 1
            if right[s] >= 0:
                level[a + right[s]] = level[s] + 1


@kernel(inline=True)
def _step(words, first, node, codes, lane, width):
    word = words[first + node]
    code = np.int64(codes[(word & 0xFFFFFF) * width + lane])
    above = (((word >> 24) & 0xFF) - code) >> 63 & 16  # 16 where the code is above that of the split, without a branch
    return (word >> (32 + above)) & 0xFFFF


@kernel
def score_by_steps(
    lo, hi, blocks, X, tables, table_offsets, row_feature, row_missing, row_block, row_mirrored, row_set, set_offsets,
    set_words, tiny, words, first, n_splits, depth, leaf_value, leaf_offsets, width, out
):  # fmt: skip
    """Scores of the rows of some blocks, each of at most ``width`` rows.

    The leaves are added to ``out[row, output]`` in the order of the trees.
    """
    outputs = out.shape[1]
    flat = np.empty(max(row_feature.size, 1) * width, np.uint8)
    n_trees = leaf_offsets.size - 1
    for b in range(lo, hi):
        start = blocks[b]
        n = blocks[b + 1] - start
        encode_few(X, start, n, tables, table_offsets, row_feature, row_missing, row_block, row_mirrored, row_set,
                   set_offsets, set_words, tiny, flat, width)  # fmt: skip
        for g in range(depth.size):
            t = g * 8
            a0, a1, a2, a3 = first[t], first[t + 1], first[t + 2], first[t + 3]
            a4, a5, a6, a7 = first[t + 4], first[t + 5], first[t + 6], first[t + 7]
            s0, s1, s2, s3 = n_splits[t], n_splits[t + 1], n_splits[t + 2], n_splits[t + 3]
            s4, s5, s6, s7 = n_splits[t + 4], n_splits[t + 5], n_splits[t + 6], n_splits[t + 7]
            for l in range(n):
                n0, n1, n2, n3, n4, n5, n6, n7 = 0, 0, 0, 0, 0, 0, 0, 0
                for _ in range(0, depth[g], _BETWEEN):
                    for _ in range(_BETWEEN):
                        n0 = _step(words, a0, n0, flat, l, width)
                        n1 = _step(words, a1, n1, flat, l, width)
                        n2 = _step(words, a2, n2, flat, l, width)
                        n3 = _step(words, a3, n3, flat, l, width)
                        n4 = _step(words, a4, n4, flat, l, width)
                        n5 = _step(words, a5, n5, flat, l, width)
                        n6 = _step(words, a6, n6, flat, l, width)
                        n7 = _step(words, a7, n7, flat, l, width)
                    # negative while any of them is at a split
                    if (n0 - s0) | (n1 - s1) | (n2 - s2) | (n3 - s3) | (n4 - s4) | (n5 - s5) | (n6 - s6) | (
                        n7 - s7
                    ) >= 0:
                        break
                for i, node in enumerate((n0, n1, n2, n3, n4, n5, n6, n7)):
                    if t + i < n_trees:
                        leaf = leaf_offsets[t + i] + node - n_splits[t + i]
                        out[start + l, (t + i) % outputs] += leaf_value[leaf]
