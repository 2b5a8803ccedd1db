"""The mask kernel in plain Python: one row, one byte and one split at a time."""

from __future__ import annotations

import numpy as np

from plackett.scorers.trees.codes import NODE, TreeCodes, encode


def codes_of(trees, codes: TreeCodes, X):
    """The codes of all rows, a column each."""
    width = len(X)
    out = np.empty((max(codes.row_feature.size, 1), width), np.uint8)
    tables = codes.thresholds32 if X.dtype == np.float32 else codes.thresholds
    encode(X, 0, width, tables, codes.table_offsets, codes.row_feature, codes.row_missing, codes.row_block,
           codes.row_mirrored, codes.row_set, trees.set_offsets, trees.set_words, trees.tiny, np.empty(width, X.dtype),
           np.empty(width, X.dtype), np.empty(width, np.int32), out)  # fmt: skip
    return out


def plain_scores(trees, X):
    """Scores of an ensemble: every split clears what it rules out, and the first leaf that is left counts."""
    codes = TreeCodes.of(trees)
    of_row = codes_of(trees, codes, X)
    nodes = codes.nodes.view(NODE).reshape(-1)
    scores = np.zeros((len(X), trees.n_outputs))
    for i in range(len(X)):
        for t in range(trees.n_trees):
            mask = []
            for byte in range(codes.byte_offsets[t], codes.byte_offsets[t + 1]):
                mask.append(0xFF)
                for node in nodes[codes.node_offsets[byte] : codes.node_offsets[byte + 1]]:
                    if of_row[node["row"], i] > node["code"]:
                        mask[-1] &= int(node["keep"])
            bits = int.from_bytes(bytes(mask), "little")
            leaf = (bits & -bits).bit_length() - 1
            scores[i, t % trees.n_outputs] += codes.leaf_value[codes.leaf_offsets[t] + leaf]
    return scores[:, 0] if trees.n_outputs == 1 else scores
