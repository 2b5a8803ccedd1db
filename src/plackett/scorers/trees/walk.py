"""Scoring by walking down each tree: the plain definition, and the fastest way for a handful of rows."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel


@kernel(inline=True)
def in_set(value, words):
    """Whether a value, cut to a whole number, is in a set of categories."""
    if not (value > -1.0 and value < 2147483648.0):  # NaN too
        return False
    category = np.int64(value)
    word = category >> 5
    return word < words.size and (words[word] >> np.uint32(category & 31)) & np.uint32(1) == 1


@kernel(inline=True)
def go_left(value, threshold, decision, set_offsets, set_words, tiny):
    """The side that a value takes at a split."""
    if decision & 1:
        number = np.int64(threshold)
        return in_set(value, set_words[set_offsets[number] : set_offsets[number + 1]])
    missing = decision >> 2
    if abs(value) <= tiny:
        if missing == 1:
            return (decision & 2) != 0
        value = 0.0
    elif value != value:
        if missing != 0:
            return (decision & 2) != 0
        value = 0.0
    return value <= threshold


@kernel
def walk(
    lo, hi, blocks, X, split_offsets, leaf_offsets, feature, threshold, decision, left, right, leaf_value, set_offsets,
    set_words, tiny, out
):  # fmt: skip
    """Scores of the rows of some blocks: the leaves are added to ``out[row, output]`` in the order of the trees."""
    outputs = out.shape[1]
    for i in range(blocks[lo], blocks[hi]):
        for t in range(leaf_offsets.size - 1):
            first = split_offsets[t]
            node = 0 if split_offsets[t + 1] > first else -1
            while node >= 0:
                s = first + node
                value = np.float64(X[i, feature[s]])
                to_left = go_left(value, threshold[s], decision[s], set_offsets, set_words, tiny)
                node = left[s] if to_left else right[s]
            out[i, t % outputs] += leaf_value[leaf_offsets[t] + ~node]
