"""Trees in the plainest form that every engine has: one comparison with a float32 per split, and a side for NaN.

A fitted ranker scores float32 features with LightGBM's rules: thresholds are float64, values closer to 0 than 1e-35 are
0, zeros may count as missing, and a split may be by category. Here all of this becomes ``x <= t`` with a float32 `t`,
which decides the same for every float32. A target translates that one comparison into its own, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett.scorers.trees.arrays import (
    CATEGORICAL,
    DEFAULT_LEFT,
    MISSING_NONE,
    MISSING_ZERO,
    TINY,
    TreeArrays,
    missing_type,
)

#: Splits by category, or with zeros as missing, are written as several comparisons, with copies of the subtrees. More
#: splits than this, and more than ten times as many as the model has, are refused.
_MOST_SPLITS = 100_000
_BELOW_ZERO = np.nextafter(np.float32(-TINY), np.float32(-np.inf))


def floor32(values: np.ndarray) -> np.ndarray:
    """The largest float32 that is not above each number.

    >>> floor32(np.array([0.5, 1e300, -1e300])).tolist()
    [0.5, 3.4028234663852886e+38, -inf]
    """
    values = np.asarray(values, np.float64)
    with np.errstate(over="ignore"):
        near = values.astype(np.float32)
    return np.where(near.astype(np.float64) > values, np.nextafter(near, np.float32(-np.inf)), near)


def above32(values: np.ndarray) -> np.ndarray:
    """The next float32 above each: ``x <= t`` is ``x < above32(t)`` for every float32 but infinity.

    >>> above32(np.float32([1.0, np.inf])).tolist()
    [1.0000001192092896, inf]
    """
    with np.errstate(over="ignore"):
        return np.nextafter(np.asarray(values, np.float32), np.float32(np.inf))


def above32_finite(values: np.ndarray) -> np.ndarray:
    """The next float32 above each, for JSON, which has no infinity: the largest float32 stands for it.

    >>> above32_finite(np.float32([1.0, np.inf])).tolist()
    [1.0000001192092896, 3.4028234663852886e+38]
    """
    return np.minimum(above32(values), np.finfo(np.float32).max)


def largest_double(values: np.ndarray) -> np.ndarray:
    """The largest float64 that rounds to a float32 of at most each: for engines that compare doubles.

    Rankers round features to float32 before they compare. With this threshold an engine need not.

    >>> t = largest_double(np.float32([1.0]))[0]
    >>> bool(np.float32(t) <= 1.0 < np.float32(np.nextafter(t, 2.0)))
    True
    """
    low = np.asarray(values, np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        high = above32(low).astype(np.float64)
        high = np.where(low == np.finfo(np.float32).max, 2.0**128, high)
        middle = low.astype(np.float64) + (high - low.astype(np.float64)) / 2.0  # exact: both are float32
        rounds_up = middle.astype(np.float32) > low
    middle = np.where(rounds_up, np.nextafter(middle, -np.inf), middle)
    lowest = -(2.0**128 - 2.0**103)  # from here on doubles round to minus infinity
    return np.where(low == np.inf, np.inf, np.where(low == -np.inf, lowest, middle))


def above_double(values: np.ndarray) -> np.ndarray:
    """The next float64 above `largest_double`: for engines that compare doubles with ``<``."""
    return np.nextafter(largest_double(values), np.inf)


class Tree(NamedTuple):
    """One tree: splits with their children (a split, or ``~leaf``), and the values of the leaves."""

    feature: list[int]
    threshold: np.ndarray
    missing_left: list[bool]
    left: list[int]
    right: list[int]
    value: list[float]

    @property
    def root(self) -> int:
        """The first node."""
        return 0 if self.feature else -1

    def flat(self) -> Iterator[tuple[int, int]]:
        """Nodes in preorder, for formats that number splits and leaves alike: the node, and its number."""
        stack, number = [self.root], 0
        while stack:
            node = stack.pop()
            yield node, number
            number += 1
            if node >= 0:
                stack += [self.right[node], self.left[node]]

    def numbers(self) -> dict[int, int]:
        """Number of each node in preorder."""
        return dict(self.flat())

    def paired(self) -> dict[int, int]:
        """Number of each node, level by level: the right child comes right after the left one."""
        numbers, queue = {self.root: 0}, [self.root]
        for node in queue:
            if node >= 0:
                for child in (self.left[node], self.right[node]):
                    numbers[child] = len(numbers)
                    queue.append(child)
        return numbers


@dataclass(frozen=True)
class Forest:
    """Trees whose leaf values are added up in their order, in float64.

    Parameters
    ----------
    split_offsets, leaf_offsets
        Where the splits and leaves of each tree begin.
    feature, threshold, missing_left
        Of each split: a row goes left where its value is at most the threshold, a float32; NaN, where ``missing_left``.
    left, right
        Children: a split of the same tree, counted from its first, or ``~leaf``. A split comes before its children.
    leaf_value
        Value of each leaf.
    """

    split_offsets: np.ndarray
    leaf_offsets: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    left: np.ndarray
    right: np.ndarray
    leaf_value: np.ndarray

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.leaf_offsets.size - 1

    def __iter__(self) -> Iterator[Tree]:
        for t in range(self.n_trees):
            splits = slice(self.split_offsets[t], self.split_offsets[t + 1])
            leaves = slice(self.leaf_offsets[t], self.leaf_offsets[t + 1])
            yield Tree(
                self.feature[splits].tolist(),
                self.threshold[splits],
                self.missing_left[splits].tolist(),
                self.left[splits].tolist(),
                self.right[splits].tolist(),
                self.leaf_value[leaves].tolist(),
            )

    def scaled(self, factor: float) -> Forest:
        """The forest with all its values multiplied."""
        return self if factor == 1.0 else replace(self, leaf_value=self.leaf_value * factor)

    def imputed(self, fills: np.ndarray, added: np.ndarray) -> Forest:
        """The forest behind an imputer: a missing value takes the branch of the number that it would become.

        The features after the first ``fills.size`` say whether the features ``added`` are missing (1) or not (0).
        """
        size = fills.size
        own = self.feature < size
        feature = np.where(own, self.feature, added[np.maximum(self.feature - size, 0)] if added.size else 0)
        filled = fills[np.where(own, self.feature, 0)]
        present_left = np.where(self.threshold >= 0.0, np.float32(np.inf), np.float32(-np.inf))
        return replace(
            self,
            feature=feature.astype(self.feature.dtype),
            threshold=np.where(own, self.threshold, present_left),
            missing_left=np.where(own, filled <= self.threshold, self.threshold >= 1.0),
        )

    def tells_missing(self) -> np.ndarray:
        """The features whose missing values do not all take the branch of 0."""
        return np.unique(self.feature[self.missing_left != (self.threshold >= 0.0)])

    @classmethod
    def join(cls, trees: list[Tree]) -> Forest:
        """A forest of single trees."""
        sizes = np.array([0, *(len(tree.feature) for tree in trees)])
        leaves = np.array([0, *(len(tree.value) for tree in trees)])

        def column(name: str, dtype: type) -> np.ndarray:
            parts: list[np.ndarray] = [np.asarray(getattr(tree, name), dtype) for tree in trees]
            return np.concatenate([np.empty(0, dtype), *parts]).astype(dtype)

        return cls(
            np.cumsum(sizes),
            np.cumsum(leaves),
            column("feature", np.int32),
            column("threshold", np.float32),
            column("missing_left", np.bool_),
            column("left", np.int32),
            column("right", np.int32),
            column("value", np.float64),
        )

    @classmethod
    def of(cls, trees: TreeArrays) -> Forest:
        """The trees of a scorer, with all their rules written as comparisons."""
        zero_left = trees.threshold >= 0.0
        kind = missing_type(trees.decision)
        by_default = (trees.decision & DEFAULT_LEFT) != 0
        threshold = np.where(zero_left & (trees.threshold < TINY), TINY, trees.threshold)
        folded = np.where(~zero_left & (threshold >= -TINY), float(_BELOW_ZERO), threshold)
        missing_left = np.where(kind == MISSING_NONE, zero_left, by_default)
        plain = (kind != MISSING_ZERO) | (by_default == zero_left)
        plain &= (trees.decision & CATEGORICAL) == 0
        forest = cls(
            trees.split_offsets, trees.leaf_offsets, trees.feature, floor32(folded), missing_left, trees.left,
            trees.right, trees.leaf_value,
        )  # fmt: skip
        return forest if plain.all() else _expanded(forest, trees, plain)


# ------------------------------------------------------------------------------- splits that need several comparisons

#: What a split decides: ascending upper bounds of ranges, the side of each (0 is left), and the range that NaN joins.
_Ranges = tuple[list[np.float32], list[int], int]


def _expanded(forest: Forest, trees: TreeArrays, plain: np.ndarray) -> Forest:
    expanded, total = [], 0
    for t, tree in enumerate(forest):
        first = int(trees.split_offsets[t])
        ranges = {s - first: _ranges(trees, s) for s in range(first, first + len(tree.feature)) if not plain[s]}
        if ranges:
            total += _size(tree, ranges)
            if total > max(_MOST_SPLITS, 10 * forest.feature.size):
                raise DataError(
                    "splits by category (or with zeros as missing values) would need more than "
                    f"{max(_MOST_SPLITS, 10 * forest.feature.size)} plain comparisons; train with fewer categories"
                )
            tree = _grown(tree, ranges)
        expanded.append(tree)
    return Forest.join(expanded)


def _ranges(trees: TreeArrays, s: int) -> _Ranges:
    infinity = np.float32(np.inf)
    if trees.decision[s] & CATEGORICAL:
        number = int(trees.threshold[s])
        set_words = trees.set_words[trees.set_offsets[number] : trees.set_offsets[number + 1]]
        member = np.unpackbits(set_words.astype("<u4").view(np.uint8), bitorder="little").astype(np.int8)
        edges = np.flatnonzero(np.diff(member, prepend=0, append=0))  # the first category of each run, in and out
        ends = [_last_before(int(edge)) for edge in edges]
        return [*ends, infinity], [1 - i % 2 for i in range(len(ends) + 1)], 0  # below -1 and NaN: right
    threshold = floor32(trees.threshold[s])
    if trees.decision[s] & DEFAULT_LEFT:  # x <= t < 0, or nearly 0
        pieces = [(threshold, 0), (_BELOW_ZERO, 1), (np.float32(TINY), 0), (infinity, 1)]
    else:  # x <= t with 0 <= t, but not nearly 0
        pieces = [(_BELOW_ZERO, 0), (np.float32(TINY), 1), (threshold, 0), (infinity, 1)]
    bounds: list[np.float32] = []
    sides: list[int] = []
    for bound, side in pieces:
        if bounds and bound <= bounds[-1]:
            continue
        if sides and sides[-1] == side:
            bounds[-1] = np.float32(bound)
        else:
            bounds.append(np.float32(bound))
            sides.append(side)
    missing = 0 if trees.decision[s] & DEFAULT_LEFT else 1
    return bounds, sides, sides.index(missing)


def _last_before(category: int) -> np.float32:
    """The last float32 that is not cut to this category or a later one; everything above -1 is cut to 0."""
    return np.float32(-1.0) if category == 0 else np.float32(floor32(np.nextafter(float(category), -np.inf)))


def _size(tree: Tree, ranges: dict[int, _Ranges]) -> int:
    """Number of splits after the expansion."""
    sizes = [0] * len(tree.feature)
    for node in reversed(range(len(tree.feature))):
        sides = ranges[node][1] if node in ranges else [0, 1]
        below = [0 if child < 0 else sizes[child] for child in (tree.left[node], tree.right[node])]
        sizes[node] = len(sides) - 1 + sum(below[side] for side in sides)
    return sizes[0]


def _grown(tree: Tree, ranges: dict[int, _Ranges]) -> Tree:
    """The tree with a small tree of comparisons in place of each split that needs one."""
    feature: list[int] = []
    threshold: list[np.float32] = []
    missing_left: list[bool] = []
    children: list[list[int]] = []
    value: list[float] = []
    # what to write, and where its number goes: a node of the tree, or some ranges of a split
    stack: list[tuple[int, int, int, list[int] | None]] = []

    def write(node: int, low: int, high: int) -> int:
        """Write one split of a node's ranges ``low … high``; returns its number."""
        bounds, sides, missing = ranges.get(node) or (
            [tree.threshold[node], np.float32(np.inf)],
            [0, 1],
            0 if tree.missing_left[node] else 1,
        )
        high = len(sides) - 1 if high < 0 else high
        middle = (low + high) // 2
        number = len(feature)
        feature.append(tree.feature[node])
        threshold.append(bounds[middle])
        missing_left.append(missing <= middle)
        children.append([0, 0])
        for side_index, (a, b) in enumerate(((low, middle), (middle + 1, high))):
            if a == b:
                child = (tree.left, tree.right)[sides[a]][node]
                stack.append((child, 0, -1, [number, side_index]))
            else:
                stack.append((node, a, b, [number, side_index]))
        return number

    stack.append((tree.root, 0, -1, None))
    while stack:
        node, low, high, parent = stack.pop()
        while node in ranges and len(ranges[node][1]) == 1:  # an empty set of categories decides nothing
            node = (tree.left, tree.right)[ranges[node][1][0]][node]
        if node < 0:
            number = ~len(value)
            value.append(tree.value[~node])
        else:
            number = write(node, low, high)
        if parent is not None:
            children[parent[0]][parent[1]] = number
    return Tree(
        feature,
        np.array(threshold, np.float32),
        missing_left,
        [c[0] for c in children],
        [c[1] for c in children],
        value,
    )
