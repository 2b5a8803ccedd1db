"""Models of other tools as our rankers: node tables become checked trees, and trees a fitted ranker."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett._names.nearest import printable
from plackett.export._form import check_names
from plackett.rankers.base import Ranker
from plackett.scorers.trees.arrays import CATEGORICAL, DEFAULT_LEFT, MISSING_NAN, TreeArrays
from plackett.scorers.trees.scorer import TreeScorer

#: Features, and nodes of one tree: more are a damaged file.
MOST_FEATURES = 1_000_000
#: The largest category of a split.
MOST_CATEGORIES = 65_535
#: Counts of documents are whole numbers; shares of an unknown number are counted in parts of this.
_SHARES = 1 << 20


class NodeTable(NamedTuple):
    """A tree as tables over its nodes, in any order, with the root first; leaves have no children (-1)."""

    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray
    #: A row goes left if its value is at most this.
    threshold: np.ndarray
    #: Bits of each decision, see `plackett.scorers.trees.arrays`.
    decision: np.ndarray
    value: np.ndarray
    #: Documents (or their weight) in each node; None counts every leaf once.
    cover: np.ndarray | None = None
    gain: np.ndarray | None = None
    #: Of the nodes that split by category: the categories (whole numbers) that go left. All others go right, NaN too.
    sets: dict[int, np.ndarray] = {}  # noqa: RUF012 - a default that nobody changes


def decisions(missing_left: Any) -> np.ndarray:
    """Decision bits of splits where NaN is missing and goes to the given side."""
    return ((MISSING_NAN << 2) + DEFAULT_LEFT * np.asarray(missing_left, bool)).astype(np.uint8)


def constant(value: float) -> NodeTable:
    """A tree of one leaf."""
    none = np.array([-1])
    return NodeTable(none, none, np.zeros(1, int), np.zeros(1), np.zeros(1, np.uint8), np.array([float(value)]))


def tree_scorer_of(tables: Sequence[NodeTable], n_features: int) -> TreeScorer:
    """The scorer that adds up trees; the tables are checked, since they come from strangers."""
    if not 1 <= n_features <= MOST_FEATURES:
        raise DataError(f"a model of {n_features} features; expected 1 to {MOST_FEATURES}")
    if not tables:
        raise DataError("the model has no trees")
    category_sets: list[np.ndarray] = []
    parts = [_ordered(table, t, category_sets) for t, table in enumerate(tables)]
    n_splits = np.array([0, *(part["feature"].size for part in parts)])
    n_leaves = np.array([0, *(part["leaf_value"].size for part in parts)])
    columns: dict[str, Any] = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    arrays = TreeArrays(
        n_features=n_features,
        n_outputs=1,
        split_offsets=np.cumsum(n_splits),
        leaf_offsets=np.cumsum(n_leaves),
        set_offsets=np.cumsum([0, *(part.size for part in category_sets)]),
        set_words=np.concatenate([np.zeros(0, np.uint32), *category_sets]),
        shrinkage=np.ones(len(parts)),
        internal_value=np.zeros(int(n_splits.sum())),
        internal_weight=np.zeros(int(n_splits.sum())),
        leaf_weight=np.zeros(int(n_leaves.sum())),
        feature_names=" ".join(f"Column_{j}" for j in range(n_features)),
        feature_infos=" ".join(["none"] * n_features),
        monotone_constraints=np.zeros(0, np.int8),
        tiny=0.0,  # only LightGBM takes numbers next to 0 for 0
        **columns,
    )
    arrays.check()
    return TreeScorer.of(arrays)


def _ordered(table: NodeTable, t: int, category_sets: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Columns of a tree with its splits before their children, and splits and leaves apart.

    The sets of categories are appended to ``category_sets``.
    """
    size = table.left.size
    if any(column is not None and column.shape != (size,) for column in table[:-1]) or size == 0:
        raise DataError(f"tree {t} has tables of different sizes")
    left, right = table.left.tolist(), table.right.tolist()
    splits: list[int] = []
    leaves: list[int] = []
    number = [0] * size
    stack, seen = [0], 0
    while stack:
        node = stack.pop()
        seen += 1
        if seen > size:
            raise DataError(f"tree {t} is not a tree: a node has two parents")
        if left[node] < 0:
            number[node] = ~len(leaves)
            leaves.append(node)
            continue
        if not 0 <= left[node] < size or not 0 <= right[node] < size:
            raise DataError(f"tree {t} has a child beyond its {size} nodes")
        number[node] = len(splits)
        splits.append(node)
        stack += [right[node], left[node]]
    numbers, inner, outer = np.array(number), np.array(splits, np.int64), np.array(leaves, np.int64)
    counts = _counts(table, splits, leaves, left, right)
    gain = np.zeros(size) if table.gain is None else np.nan_to_num(table.gain, nan=0.0, posinf=0.0, neginf=0.0)
    threshold, decision = table.threshold.astype(np.float64), table.decision.astype(np.uint8)
    for node, categories in table.sets.items():
        threshold[node], decision[node] = len(category_sets), CATEGORICAL
        category_sets.append(_bits(categories, t))
    return {
        "feature": table.feature[inner].astype(np.int32),
        "threshold": threshold[inner],
        "decision": decision[inner],
        "left": numbers[table.left[inner]].astype(np.int32),
        "right": numbers[table.right[inner]].astype(np.int32),
        "leaf_value": table.value[outer].astype(np.float64),
        "split_gain": gain[inner].astype(np.float64),
        "internal_count": counts[inner].astype(np.int32),
        "leaf_count": counts[outer].astype(np.int32),
    }


def _bits(categories: np.ndarray, t: int) -> np.ndarray:
    """A set of categories, 32 to a word."""
    if categories.size and not (categories.min() >= 0 and categories.max() <= MOST_CATEGORIES):
        raise DataError(f"tree {t} splits by a category outside 0…{MOST_CATEGORIES}")
    member = np.zeros(32 * (int(categories.max(initial=0)) // 32 + 1), np.uint8)
    member[categories] = 1
    return np.packbits(member, bitorder="little").view("<u4").astype(np.uint32)


def _counts(table: NodeTable, splits: list[int], leaves: list[int], left: list[int], right: list[int]) -> np.ndarray:
    """Documents in each node, for explanations; those of a split are the sum of its children's."""
    counts = np.zeros(table.left.size, np.int64)
    if table.cover is None:
        counts[leaves] = 1
    else:
        cover = np.nan_to_num(np.asarray(table.cover, np.float64), nan=0.0, posinf=0.0, neginf=0.0)[leaves]
        whole = (cover == np.floor(cover)).all() and cover.sum() < _SHARES
        shares = cover if whole else cover * (_SHARES / max(float(cover.sum()), np.finfo(float).tiny))
        counts[leaves] = np.clip(np.round(shares), 1, _SHARES)
    for node in reversed(splits):
        counts[node] = counts[left[node]] + counts[right[node]]
    return counts


def fitted(
    class_path: str, scorer: Any, n_features: int, read_from: str, names: Sequence[str] | None = None, **settings: Any
) -> Ranker:
    """A ranker with this scorer; ``class_path`` is its ``module:Class`` below ``plackett.rankers``."""
    from plackett._base.version import __version__

    module, symbol = class_path.split(":")
    ranker = getattr(import_module(f"plackett.rankers.{module}"), symbol)(**settings)
    ranker.scorer_, ranker.n_features_in_, ranker.history_ = scorer, n_features, []
    if names is not None and len(names) == n_features:
        feature_names = [str(name) for name in names]
        check_names(feature_names)
        ranker.feature_names_in_ = np.array(feature_names, dtype=object)
    ranker.card_ = {"algorithm": symbol, "plackett": __version__, "read_from": printable(read_from)}
    return ranker
