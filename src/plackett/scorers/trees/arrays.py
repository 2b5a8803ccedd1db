"""A tree ensemble as flat arrays: what is stored, checked and scored."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from plackett._errors import DataError

__all__ = ["CATEGORICAL", "DEFAULT_LEFT", "MISSING_NAN", "MISSING_NONE", "MISSING_ZERO", "TreeArrays", "missing_type"]

#: Bits of a decision, as in LightGBM: splits by category, missing values go left, and what counts as missing.
CATEGORICAL, DEFAULT_LEFT = 1, 2
MISSING_NONE, MISSING_ZERO, MISSING_NAN = 0, 1, 2


def missing_type(decision: np.ndarray) -> np.ndarray:
    """What counts as missing in each split.

    >>> missing_type(np.array([0b1010])).tolist()  # NaN, and it goes left
    [2]
    """
    return (decision >> 2) & 3


@dataclass(frozen=True, kw_only=True)
class TreeArrays:
    """Binary trees whose leaf values are added up, tree after tree, in float64.

    A row goes left where its value is at most the threshold. A value that is missing goes to the side that the split
    names. NaN is 0 to splits that know no missing values, and so is every value closer to 0 than 1e-35. A split by
    category goes left where the value, cut to a whole number, is in the split's set, and right for NaN and negative
    values. These are LightGBM's rules.

    Parameters
    ----------
    n_features, n_outputs
        Columns of a row; scores per row. Tree t belongs to output ``t % n_outputs``.
    split_offsets, leaf_offsets
        Where the splits and the leaves of each tree begin; one entry more than there are trees. A tree has one leaf
        more than splits.
    feature, threshold, decision
        Of each split: the feature, the threshold or the number of the set of categories, and the bits above.
    left, right
        Children: a split of the same tree, counted from its first, or ``~leaf``. A split stands before its children.
    leaf_value
        Value of each leaf.
    set_offsets, set_words
        The sets of categories: bit ``c % 32`` of word ``c // 32``.
    """

    n_features: int
    n_outputs: int
    split_offsets: np.ndarray
    leaf_offsets: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    decision: np.ndarray
    left: np.ndarray
    right: np.ndarray
    leaf_value: np.ndarray
    set_offsets: np.ndarray
    set_words: np.ndarray

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.leaf_offsets.size - 1

    @property
    def categorical(self) -> np.ndarray:
        """Which splits are by category."""
        return (self.decision & CATEGORICAL) == CATEGORICAL

    def to_arrays(self) -> dict[str, np.ndarray]:
        """As named arrays, to be stored."""
        named = {f.name: np.asarray(getattr(self, f.name)) for f in fields(self)}
        return {name: value.reshape(-1) for name, value in named.items()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> TreeArrays:
        """What `to_arrays` wrote. Nothing is believed: every number that points somewhere is checked."""
        missing = [f.name for f in fields(cls) if f.name not in arrays]
        if missing:
            raise DataError(f"the tree ensemble has no array {missing[0]!r}")
        given: dict[str, Any] = {f.name: _typed(arrays[f.name], f.name) for f in fields(cls)}
        for name in ("n_features", "n_outputs"):
            if given[name].size != 1:
                raise DataError(f"the tree ensemble's {name} is not one number")
            given[name] = int(given[name][0])
        trees = cls(**given)
        trees.check()
        return trees

    def check(self) -> None:
        """Raise where the arrays are not sound trees, so that no kernel can leave them or run forever."""
        splits, leaves = self.feature.size, self.leaf_value.size
        if self.n_features < 0 or self.n_outputs < 1 or self.n_trees % self.n_outputs:
            raise DataError(
                f"{self.n_trees} trees on {self.n_features} features cannot give {self.n_outputs} outputs each round"
            )
        _check_offsets(self.split_offsets, splits, "splits")
        _check_offsets(self.leaf_offsets, leaves, "leaves")
        _check_offsets(self.set_offsets, self.set_words.size, "sets of categories")
        n_splits = np.diff(self.split_offsets)
        if not np.array_equal(np.diff(self.leaf_offsets), n_splits + 1):
            raise DataError("a tree has not one leaf more than splits")
        for name in ("threshold", "decision", "left", "right"):
            if getattr(self, name).size != splits:
                raise DataError(f"{name} has {getattr(self, name).size} entries for {splits} splits")
        if not np.isfinite(self.leaf_value).all():
            raise DataError("a leaf value is not finite")
        if splits == 0:
            return
        if self.feature.min() < 0 or self.feature.max() >= self.n_features:
            raise DataError(f"a split on a feature outside 0…{self.n_features - 1}")
        if np.isnan(self.threshold).any() or (missing_type(self.decision) > MISSING_NAN).any():
            raise DataError("a split without a threshold, or with an unknown rule for missing values")
        sets = self.threshold[self.categorical]
        if sets.size and not np.isin(sets, np.arange(self.set_offsets.size - 1)).all():
            raise DataError("a split by a set of categories that does not exist")
        self._check_links(n_splits)

    def _check_links(self, n_splits: np.ndarray) -> None:
        """Every node but the root has one parent, which stands before it: no loops, nothing out of reach."""
        tree = np.repeat(np.arange(self.n_trees), n_splits)
        own = np.arange(self.feature.size) - self.split_offsets[:-1][tree]
        child = np.concatenate((self.left, self.right)).astype(np.int64)
        of_tree, parent = np.tile(tree, 2), np.tile(own, 2)
        inner = child >= 0
        if (child[inner] <= parent[inner]).any() or (child[inner] >= n_splits[of_tree][inner]).any():
            raise DataError("a split of a tree stands before its parent or outside the tree")
        if (~child[~inner] > n_splits[of_tree][~inner]).any():
            raise DataError("a split of a tree leads to a leaf outside the tree")
        splits = self.split_offsets[:-1][of_tree[inner]] + child[inner]
        leaves = self.leaf_offsets[:-1][of_tree[~inner]] + ~child[~inner]
        if np.unique(splits).size != splits.size or np.unique(leaves).size != leaves.size:
            raise DataError("two splits of a tree lead to the same node")


#: Types of the arrays; the others are int64.
_TYPES: dict[str, type] = {
    "feature": np.int32,
    "threshold": np.float64,
    "decision": np.uint8,
    "left": np.int32,
    "right": np.int32,
    "leaf_value": np.float64,
    "set_words": np.uint32,
}


def _typed(array: np.ndarray, name: str) -> np.ndarray:
    dtype = np.dtype(_TYPES.get(name, np.int64))
    if array.ndim != 1 or array.dtype != dtype:
        raise DataError(
            f"the tree ensemble's {name} is {array.dtype} of shape {array.shape}, expected a list of {dtype}"
        )
    return np.ascontiguousarray(array)


def _check_offsets(offsets: np.ndarray, total: int, what: str) -> None:
    if offsets.size == 0 or offsets[0] != 0 or offsets[-1] != total or (np.diff(offsets) < 0).any():
        raise DataError(f"the offsets of the {what} do not cut {total} of them")
