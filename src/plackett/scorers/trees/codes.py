"""A tree ensemble prepared for scoring many rows at once: one byte per row and question, one byte mask per split.

The value of a feature becomes a *code*: the number of the ensemble's thresholds of that feature below it. A split is
then one comparison of bytes, code > k, for many rows at once. What a split rules out, a run of leaves, is cleared in a
mask over the leaves of its tree, kept as bytes; after all splits the first leaf that is left is the one reached. The
children of a split are exchanged where the right subtree is the smaller one (the test is mirrored), so that little has
to be cleared: about one byte a split, whatever the number of leaves.

A feature has several *rows of codes* where one is not enough: one for each way its splits treat missing values, one for
each 255 thresholds, a mirrored one, and one for each set of categories.

Lucchese, Nardini, Orlando, Perego, Tonellotto, Venturini: QuickScorer. SIGIR 2015.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.scorers.trees.arrays import DEFAULT_LEFT, MISSING_NONE, TreeArrays, missing_type
from plackett.scorers.trees.walk import in_set

#: Thresholds that one row of codes can tell apart.
_BLOCK = 255
#: Trees with more leaves are walked: a mask has at most 32 bytes.
MOST_LEAVES = 256
#: What a split does to one byte of the mask: row of codes, code, what stays of the byte above that code.
NODE = np.dtype([("row", "<u4"), ("code", "u1"), ("keep", "u1"), ("unused", "u1", 2)])


@dataclass(frozen=True, kw_only=True)
class TreeCodes:
    """The tables of an ensemble; see the module.

    Parameters
    ----------
    thresholds, thresholds32
        The distinct thresholds of each feature, ascending, padded with infinity to 2^k − 1 entries; and the largest
        float32 not above each, which decides the same for float32 values.
    table_offsets
        Where the thresholds of each feature begin.
    row_feature, row_missing, row_block, row_mirrored, row_set
        Of each row of codes: the feature; 0 where NaN is 0, else 2 · type + (1 where missing values go left); the
        number of thresholds that lie below its first; whether it is mirrored; the set of categories, or -1.
    nodes
        What the splits do to the bytes of the masks, byte by byte: a byte is finished, in a register, before the next.
    node_offsets
        Where the nodes of each byte begin.
    byte_offsets
        Where the bytes of each tree's mask begin.
    leaf_value, leaf_offsets
        Leaf values in the order of the mask's bits.
    row, code, swapped
        Of each split of the ensemble: its row of codes, its code, and whether its children are exchanged. Where the
        code of a document is above that of the split, it goes right, or left if they are exchanged.
    """

    thresholds: np.ndarray
    thresholds32: np.ndarray
    table_offsets: np.ndarray
    row_feature: np.ndarray
    row_missing: np.ndarray
    row_block: np.ndarray
    row_mirrored: np.ndarray
    row_set: np.ndarray
    nodes: np.ndarray
    node_offsets: np.ndarray
    byte_offsets: np.ndarray
    leaf_value: np.ndarray
    leaf_offsets: np.ndarray
    row: np.ndarray
    code: np.ndarray
    swapped: np.ndarray

    @classmethod
    def of(cls, trees: TreeArrays) -> TreeCodes:
        """Prepare an ensemble whose trees have at most `MOST_LEAVES` leaves."""
        swapped, first_leaf, end_leaf, order = _leaf_ranges(trees)
        tables, table_offsets, place = _threshold_tables(trees)
        row, rows = _code_rows(trees, place, swapped)
        k = np.where(trees.categorical, 0, place % _BLOCK)
        code = np.where(swapped, 254 - k, k)
        nodes, node_offsets, byte_offsets = _mask_nodes(trees, row, code, first_leaf, end_leaf)
        return cls(
            thresholds=tables,
            thresholds32=_floor32(tables),
            table_offsets=table_offsets,
            **rows,
            nodes=nodes.view(np.uint8).reshape(-1, NODE.itemsize),
            node_offsets=node_offsets,
            byte_offsets=byte_offsets,
            leaf_value=trees.leaf_value[order],
            leaf_offsets=trees.leaf_offsets,
            row=row,
            code=code,
            swapped=swapped,
        )


def _mask_nodes(
    trees: TreeArrays, row: np.ndarray, code: np.ndarray, first_leaf: np.ndarray, end_leaf: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The nodes of the masks, where those of each byte begin, and where the bytes of each tree begin."""
    byte_offsets = np.concatenate(([0], np.cumsum((np.diff(trees.leaf_offsets) + 7) >> 3)))
    first, last = first_leaf >> 3, (end_leaf - 1) >> 3
    count = last - first + 1
    split = np.repeat(np.arange(row.size), count)
    own = first[split] + np.arange(split.size) - np.repeat(np.cumsum(count) - count, count)  # byte of the tree's mask
    # bits of the leaves before the run, and of those behind it
    before = (1 << np.clip(first_leaf[split] - 8 * own, 0, 8)) - 1
    behind = 0xFF & ~((1 << np.clip(end_leaf[split] - 8 * own, 0, 8)) - 1)
    nodes = np.zeros(split.size, NODE)
    nodes["row"], nodes["code"], nodes["keep"] = row[split], code[split], before | behind
    tree = np.repeat(np.arange(trees.n_trees), np.diff(trees.split_offsets))
    byte = byte_offsets[tree[split]] + own
    ends = np.cumsum(np.bincount(byte, minlength=byte_offsets[-1]))
    return nodes[np.lexsort((nodes["row"], byte))], np.concatenate(([0], ends)), byte_offsets


def _floor32(values: np.ndarray) -> np.ndarray:
    """Largest float32 that is not above each value."""
    with np.errstate(over="ignore"):
        nearest = values.astype(np.float32)
        lower = np.nextafter(nearest, np.float32(-np.inf))
    return np.where(nearest.astype(np.float64) > values, lower, nearest).astype(np.float32)


def _threshold_tables(trees: TreeArrays) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The padded tables of distinct thresholds, their offsets, and the place of each split's threshold in its table."""
    numeric = np.flatnonzero(~trees.categorical)
    feature, threshold = trees.feature[numeric], trees.threshold[numeric] + 0.0  # −0 is 0
    order = np.lexsort((threshold, feature))
    f, t = feature[order], threshold[order]
    new = np.ones(f.size, np.bool_)
    new[1:] = (f[1:] != f[:-1]) | (t[1:] != t[:-1])
    starts = np.searchsorted(f[new], np.arange(trees.n_features + 1))
    place = np.zeros(trees.feature.size, np.int64)
    place[numeric[order]] = np.cumsum(new) - 1 - starts[f]
    count = np.diff(starts)
    padded = (1 << np.ceil(np.log2(count + 1)).astype(np.int64)) - 1
    offsets = np.concatenate(([0], np.cumsum(padded)))
    tables = np.full(offsets[-1], np.inf)
    tables[np.arange(new.sum()) - starts[f[new]] + offsets[f[new]]] = t[new]
    return tables, offsets, place


def _code_rows(trees: TreeArrays, place: np.ndarray, swapped: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The row of codes that each split asks, and what each row is."""
    categorical = trees.categorical
    kind = missing_type(trees.decision)
    left = (trees.decision & DEFAULT_LEFT) != 0
    missing = np.where(categorical | (kind == MISSING_NONE), 0, 2 * kind + left)
    block = np.where(categorical, 0, place // _BLOCK)
    sets = np.where(categorical, trees.threshold, -1.0).astype(np.int64)
    detail = np.where(categorical, block.max(initial=0) + 1 + sets, block)
    _, group = _distinct(8 * trees.feature.astype(np.int64) + missing)  # ordered by feature
    asked = 2 * (group * (detail.max(initial=0) + 1) + detail) + swapped
    split, row = _distinct(asked)
    rows = {
        "row_feature": trees.feature[split],
        "row_missing": missing[split].astype(np.uint8),
        "row_block": (block[split] * _BLOCK).astype(np.int32),
        "row_mirrored": swapped[split],
        "row_set": sets[split].astype(np.int32),
    }
    return row, rows


def _distinct(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each distinct value stands first, ascending by value, and the number of each entry's value.

    `numpy.unique` does the same, but imports masked arrays for it.
    """
    order = np.argsort(values, kind="stable")
    new = np.ones(values.size, np.bool_)
    new[1:] = values[order[1:]] != values[order[:-1]]
    number = np.empty(values.size, np.int64)
    number[order] = np.cumsum(new) - 1
    return order[new], number


def _leaf_ranges(trees: TreeArrays) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    n = trees.feature.size
    swapped = np.zeros(n, np.bool_)
    first, end = np.zeros(n, np.int64), np.zeros(n, np.int64)
    order = np.zeros(trees.leaf_value.size, np.int64)
    size = np.zeros(n, np.int64)
    _number_leaves(trees.split_offsets, trees.leaf_offsets, trees.left, trees.right, size, swapped, first, end, order)
    return swapped, first, end, order


@kernel
def _number_leaves(split_offsets, leaf_offsets, left, right, size, swapped, first, end, order):
    """Number the leaves of each tree, the smaller subtree of every split first.

    Of each split: whether its children are exchanged for that, and the run of leaves of the child that comes first. A
    split comes before its children, so sizes are found backwards and numbers forwards.
    """
    for t in range(leaf_offsets.size - 1):
        a = split_offsets[t]
        n = split_offsets[t + 1] - a
        if n == 0:
            order[leaf_offsets[t]] = leaf_offsets[t]
        for i in range(n - 1, -1, -1):
            of_left = size[a + left[a + i]] if left[a + i] >= 0 else 1
            of_right = size[a + right[a + i]] if right[a + i] >= 0 else 1
            size[a + i] = of_left + of_right
            swapped[a + i] = of_right < of_left
        for i in range(n):
            s = a + i
            one, other = (right[s], left[s]) if swapped[s] else (left[s], right[s])
            end[s] = first[s] + (size[a + one] if one >= 0 else 1)
            if one >= 0:
                first[a + one] = first[s]
            else:
                order[leaf_offsets[t] + first[s]] = leaf_offsets[t] + ~one
            if other >= 0:
                first[a + other] = end[s]
            else:
                order[leaf_offsets[t] + end[s]] = leaf_offsets[t] + ~other


# ----------------------------------------------------------------------------------------------------------- encoding


@kernel
def encode(
    X, start, n, tables, table_offsets, row_feature, row_missing, row_block, row_mirrored, row_set, set_offsets,
    set_words, tiny, values, known, places, codes
):  # fmt: skip
    """Codes of rows ``start`` to ``start + n`` of X; the lanes behind them repeat the last one.

    ``tables`` has the type of X, so that all comparisons are between numbers of one type. ``values``, ``known`` and
    ``places`` are scratch.
    """
    width = codes.shape[1]
    last = -1
    for r in range(row_feature.size):
        f = row_feature[r]
        if f != last:
            last = f
            for l in range(width):
                values[l] = X[start + min(l, n - 1), f]
                known[l] = values[l] if abs(values[l]) > tiny else 0.0  # NaN too
            _below(known, tables[table_offsets[f] : table_offsets[f + 1]], places)
        row = codes[r]
        if row_set[r] >= 0:
            _outside(values, set_words[set_offsets[row_set[r]] : set_offsets[row_set[r] + 1]], row)
        else:
            _cut(places, row_block[r], row)
            if row_missing[r] > 0:
                _fill_missing(values, row_missing[r], tiny, row)
        if row_mirrored[r]:
            for l in range(width):
                row[l] = np.uint8(255) - row[l]


@kernel
def _below(values, table, places):
    """Number of thresholds below each value. All lanes search in step, which vectorises."""
    for l in range(places.size):
        places[l] = 0
    step = np.int32((table.size + 1) >> 1)
    while step > 0:
        for l in range(places.size):
            places[l] += step if table[places[l] + step - 1] < values[l] else np.int32(0)
        step >>= 1


@kernel
def _cut(places, block, row):
    """Codes of one block of thresholds: 0 below it, 255 above it."""
    for l in range(row.size):
        row[l] = np.uint8(min(max(places[l] - block, np.int32(0)), np.int32(255)))


@kernel
def _fill_missing(values, missing, tiny, row):
    """Send what is missing to its side: code 0 goes left at every split, 255 goes right."""
    side = np.uint8(0) if missing & 1 else np.uint8(255)
    zeros = missing < 4
    for l in range(row.size):
        if values[l] != values[l] or (zeros and abs(values[l]) <= tiny):
            row[l] = side


@kernel
def _outside(values, words, row):
    """255 where a value is not in a set of categories and so goes right, else 0."""
    for l in range(row.size):
        row[l] = np.uint8(0) if in_set(np.float64(values[l]), words) else np.uint8(255)


@kernel
def encode_few(
    X, start, n, tables, table_offsets, row_feature, row_missing, row_block, row_mirrored, row_set, set_offsets,
    set_words, tiny, codes, width
):  # fmt: skip
    """As `encode`, row by row: views of arrays and loops over lanes would take longer than a search in a table.

    The code of lane l in row r of codes is ``codes[r * width + l]``.
    """
    for l in range(n):
        last = -1
        value = known = X[start, 0]
        place = 0
        for r in range(row_feature.size):
            f = row_feature[r]
            if f != last:
                last = f
                value = X[start + l, f]
                known = value if abs(value) > tiny else X.dtype.type(0.0)  # NaN too
                first = table_offsets[f] - 1
                step = (table_offsets[f + 1] - first) >> 1
                place = 0
                while step > 0:
                    place += step if tables[first + place + step] < known else 0
                    step >>= 1
            if row_set[r] >= 0:
                words = set_words[set_offsets[row_set[r]] : set_offsets[row_set[r] + 1]]
                code = 0 if in_set(np.float64(value), words) else 255
            else:
                code = min(max(place - row_block[r], 0), 255)
                missing = row_missing[r]
                if missing > 0 and (value != value or (missing < 4 and abs(value) <= tiny)):
                    code = 0 if missing & 1 else 255
            codes[r * width + l] = np.uint8(255 - code if row_mirrored[r] else code)
