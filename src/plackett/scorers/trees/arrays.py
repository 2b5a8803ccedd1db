"""A tree ensemble as flat arrays: what is stored, checked and scored."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._files.checks import offsets_fit

#: Bits of a decision, as in LightGBM: splits by category, missing values go left, and what counts as missing.
CATEGORICAL, DEFAULT_LEFT = 1, 2
MISSING_NONE, MISSING_ZERO, MISSING_NAN = 0, 1, 2

#: LightGBM's bound, which is a float32 there; it drops what is closer to 0 when it reads a row.
TINY = float(np.float32(1e-35))

#: LightGBM walks trees by recursion when it explains scores, with memory that grows with the square of the depth.
_MOST_DEPTH = 4000
_NAMES = re.compile(r"[A-Za-z0-9_.:-]+(?: [A-Za-z0-9_.:-]+)*")
_INFOS = re.compile(r"(?:none|[\[\]0-9eE+.:infa-]+)(?: (?:none|[\[\]0-9eE+.:infa-]+))*")


def missing_type(decision: np.ndarray) -> np.ndarray:
    """What counts as missing in each split.

    >>> missing_type(np.array([0b1010])).tolist()  # NaN, and it goes left
    [2]
    """
    return (decision >> 2) & 3


@dataclass(frozen=True, kw_only=True)
class TreeArrays:
    """Binary trees whose leaf values are added up, tree after tree, in float64.

    A row goes left where its value is at most the threshold. A missing value goes to the side given by the split.
    Splits without missing values treat NaN as 0; every value closer to 0 than ``tiny`` is 0 too. A split by category
    goes left where the value, cut to a whole number, is in the split's set, and right for NaN and negative values.
    These are LightGBM's rules.

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
        Children: a split of the same tree, counted from its first, or ``~leaf``. A split comes before its children.
    leaf_value
        Value of each leaf.
    set_offsets, set_words
        The sets of categories: bit ``c % 32`` of word ``c // 32``.
    shrinkage, split_gain, internal_value, internal_weight, internal_count, leaf_weight, leaf_count
        What LightGBM records about trees, splits and leaves. Scores do not depend on them, but explanations,
        importances and further training do. 0 if unknown.
    feature_names, feature_infos, monotone_constraints
        What LightGBM records about the features: two lists of words, and a sign for each feature or no entry at all.
    tiny
        Values at most this far from 0 are 0: LightGBM's bound, or 0 for trees of other libraries.

    `plackett.scorers.trees.build.build_trees` makes the arrays of trees that decide by other rules.
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
    shrinkage: np.ndarray
    split_gain: np.ndarray
    internal_value: np.ndarray
    internal_weight: np.ndarray
    internal_count: np.ndarray
    leaf_weight: np.ndarray
    leaf_count: np.ndarray
    feature_names: str
    feature_infos: str
    monotone_constraints: np.ndarray
    tiny: float = TINY

    @property
    def n_trees(self) -> int:
        """Number of trees, all outputs together."""
        return self.leaf_offsets.size - 1

    @property
    def categorical(self) -> np.ndarray:
        """Which splits are by category."""
        return (self.decision & CATEGORICAL) == CATEGORICAL

    def head(self, n_trees: int) -> TreeArrays:
        """The ensemble of the first trees."""
        return self.part(0, n_trees)

    def part(self, first: int, last: int) -> TreeArrays:
        """The ensemble of the trees from ``first`` up to, but not including, ``last``."""
        ends = {name: getattr(self, name)[first : last + 1] for name in ("split_offsets", "leaf_offsets")}
        splits, leaves = (slice(int(end[0]), int(end[-1])) for end in ends.values())
        cut = {name: getattr(self, name)[splits] for name in ("feature", *_PER_SPLIT)}
        cut |= {name: getattr(self, name)[leaves] for name in _PER_LEAF}
        offsets = {name: end - end[0] for name, end in ends.items()}
        return replace(self, **cut, **offsets, shrinkage=self.shrinkage[first:last])

    def to_arrays(self) -> dict[str, np.ndarray]:
        """As named arrays, to be stored."""
        named = {f.name: getattr(self, f.name) for f in fields(self)}
        named |= {name: np.frombuffer(named[name].encode(), np.uint8) for name in _WORDS}
        return {name: np.asarray(value).reshape(-1) for name, value in named.items()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> TreeArrays:
        """What `to_arrays` wrote. Nothing is trusted: every number that points somewhere is checked."""
        missing = [f.name for f in fields(cls) if f.name not in arrays]
        if missing:
            raise DataError(f"the tree ensemble has no array {missing[0]!r}")
        given: dict[str, Any] = {f.name: _typed(arrays[f.name], f.name) for f in fields(cls)}
        for name in ("n_features", "n_outputs"):
            if given[name].size != 1:
                raise DataError(f"the tree ensemble's {name} is not one number")
            given[name] = int(given[name][0])
        if given["tiny"].tolist() not in ([0.0], [TINY]):
            raise DataError("the tree ensemble's tiny is neither 0 nor LightGBM's bound")
        given["tiny"] = float(given["tiny"][0])
        for name in _WORDS:
            given[name] = given[name].tobytes().decode("latin-1")
        trees = cls(**given)
        trees.check()
        return trees

    def check(self) -> None:
        """Raise an error unless the arrays are valid trees, so that no kernel reads out of bounds or runs forever."""
        rounds, rest = divmod(self.n_trees, max(self.n_outputs, 1))
        if self.leaf_offsets.size == 0 or rest or self.n_outputs < 1 or (rounds == 0 and self.n_outputs > 1):
            raise DataError(f"{self.n_trees} trees cannot give {self.n_outputs} outputs each round")
        _check_offsets(self.split_offsets, self.feature.size, "splits")
        _check_offsets(self.leaf_offsets, self.leaf_value.size, "leaves")
        _check_offsets(self.set_offsets, self.set_words.size, "sets of categories")
        if not np.array_equal(np.diff(self.leaf_offsets), np.diff(self.split_offsets) + 1):
            raise DataError("a tree must have one leaf more than splits")
        sizes = {"splits": self.feature.size, "leaves": self.leaf_value.size, "trees": self.n_trees}
        for names, what in ((_PER_SPLIT, "splits"), (_PER_LEAF, "leaves"), (("shrinkage",), "trees")):
            for name in names:
                values = getattr(self, name)
                if values.size != sizes[what]:
                    raise DataError(f"{name} has {values.size} entries for {sizes[what]} {what}")
                if name != "threshold" and not np.isfinite(values).all():
                    raise DataError(f"{name} has an entry that is not finite")
        self._check_features()
        if self.feature.size:
            self._check_splits()
            self._check_links()

    def _check_features(self) -> None:
        for name, form in (("feature_names", _NAMES), ("feature_infos", _INFOS)):
            text = getattr(self, name)
            if not form.fullmatch(text) or text.count(" ") + 1 != self.n_features:
                raise DataError(f"{name} is not a list of {self.n_features} entries")
        signs = self.monotone_constraints
        if signs.size not in (0, self.n_features) or (np.abs(signs) > 1).any():
            raise DataError(f"monotone_constraints is not a list of {self.n_features} signs")

    def _check_splits(self) -> None:
        """Features and kinds of splits that exist, and sets of categories that are there."""
        if self.feature.min() < 0 or self.feature.max() >= self.n_features:
            raise DataError(f"a split on a feature outside 0…{self.n_features - 1}")
        if self.decision.max() > 15 or (missing_type(self.decision) > MISSING_NAN).any():
            raise DataError("a split of an unknown kind")
        if np.isnan(self.threshold).any():
            raise DataError("a split without a threshold")
        sets = self.threshold[self.categorical]
        if ((sets < 0) | (sets >= self.set_offsets.size - 1) | (sets != np.floor(sets))).any():
            raise DataError("a split by a set of categories that does not exist")

    def _check_links(self) -> None:
        """Every node but the root has one parent, which comes before it: no loops, nothing unreachable."""
        n_splits = np.diff(self.split_offsets)
        tree = np.repeat(np.arange(self.n_trees), n_splits)
        own = np.arange(self.feature.size) - self.split_offsets[:-1][tree]
        child = np.concatenate((self.left, self.right)).astype(np.int64)
        of_tree, parent = np.tile(tree, 2), np.tile(own, 2)
        inner = child >= 0
        if (child[inner] >= n_splits[of_tree][inner]).any() or (~child[~inner] > n_splits[of_tree][~inner]).any():
            raise DataError("a child beyond the nodes of its tree")
        if (child[inner] <= parent[inner]).any():
            raise DataError("a node of a tree comes before its parent")
        splits = self.split_offsets[:-1][of_tree[inner]] + child[inner]
        leaves = self.leaf_offsets[:-1][of_tree[~inner]] + ~child[~inner]
        # as many children as nodes that are not a root: where none comes twice, none is left out
        if np.bincount(splits).max(initial=0) > 1 or np.bincount(leaves).max(initial=0) > 1:
            raise DataError("the nodes of a tree are not linked as a tree")
        level = np.flatnonzero(own == 0)
        for _ in range(_MOST_DEPTH):
            if not level.size:
                return
            first = np.tile(self.split_offsets[tree[level]], 2)
            child = np.concatenate((self.left[level], self.right[level]))
            level = (first + child)[child >= 0]
        raise DataError(f"a tree of more than {_MOST_DEPTH} levels")


#: Lists of words, stored as bytes.
_WORDS = ("feature_names", "feature_infos")
_PER_SPLIT = (
    *("threshold", "decision", "left", "right"),
    *("split_gain", "internal_value", "internal_weight", "internal_count"),
)
_PER_LEAF = ("leaf_weight", "leaf_count", "leaf_value")
#: Types of the arrays; the others are int64.
_TYPES: dict[str, type] = {
    "feature": np.int32,
    "threshold": np.float64,
    "decision": np.uint8,
    "left": np.int32,
    "right": np.int32,
    "leaf_value": np.float64,
    "set_words": np.uint32,
    "shrinkage": np.float64,
    "split_gain": np.float64,
    "internal_value": np.float64,
    "internal_weight": np.float64,
    "internal_count": np.int32,
    "leaf_weight": np.float64,
    "leaf_count": np.int32,
    "feature_names": np.uint8,
    "feature_infos": np.uint8,
    "monotone_constraints": np.int8,
    "tiny": np.float64,
}


def _typed(array: np.ndarray, name: str) -> np.ndarray:
    dtype = np.dtype(_TYPES.get(name, np.int64))
    if array.ndim != 1 or array.dtype != dtype:
        raise DataError(
            f"the tree ensemble's {name} is {array.dtype} of shape {array.shape}, expected a list of {dtype}"
        )
    return np.array(array)


def _check_offsets(offsets: np.ndarray, total: int, what: str) -> None:
    if not offsets_fit(offsets, total):
        raise DataError(f"the offsets of the {what} do not cut {total} of them")
