"""LightGBM's text of an ensemble: what of it is kept, and what must hold before LightGBM may read it.

LightGBM trusts its own text: numbers that point outside a tree make it read foreign memory or never end. A model file
may come from anywhere, so the structure of every tree is checked first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._errors import DataError

__all__ = ["check_text", "join_trees", "new_head", "scale_tree", "split_trees", "trees_only"]

_END = "end of trees\n"


def trees_only(text: str) -> str:
    """The text up to the last tree; behind it are settings of the training, which scoring has no use for."""
    return text[: text.index(_END) + len(_END)]


def check_text(text: str) -> None:
    """Refuse a text whose trees are not sound."""
    try:
        head, blocks = _parts(text)
        last_feature, per_round = int(head["max_feature_idx"]), int(head["num_tree_per_iteration"])
        if head["num_class"] != head["num_tree_per_iteration"] or per_round < 1 or len(blocks) % per_round:
            raise DataError(f"{len(blocks)} trees cannot be rounds of {per_round}")
        if len(head["feature_names"].split(" ")) != last_feature + 1:
            raise DataError("the number of feature names is not that of the features")
        for i, block in enumerate(blocks):
            _check_tree(_words(block, f"Tree={i}"), last_feature)
    except (KeyError, ValueError, OverflowError) as error:
        raise DataError(f"the tree ensemble is damaged: {error}") from None


def split_trees(text: str) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The lines ``name=value`` of the head and of each tree, for those who take trees out, weigh or rewrite them."""
    head, blocks = _parts(text)
    return head, [_words(block, f"Tree={i}") for i, block in enumerate(blocks)]


def join_trees(head: dict[str, str], trees: list[dict[str, str]]) -> str:
    """The text of an ensemble of these trees; the reverse of `split_trees`."""
    blocks = []
    for i, tree in enumerate(trees):
        lines = "\n".join(f"{name}={value}" for name, value in tree.items())
        blocks.append(f"Tree={i}\n{lines}\n\n\n")
    head = head | {"tree_sizes": " ".join(str(len(block)) for block in blocks)}
    lines = "\n".join(f"{name}={value}" for name, value in head.items())
    return f"tree\n{lines}\n\n{''.join(blocks)}{_END}"


def new_head(n_features: int, n_outputs: int = 1) -> dict[str, str]:
    """The head of an ensemble that LightGBM did not grow."""
    return {
        "version": "v4",
        "num_class": str(n_outputs),
        "num_tree_per_iteration": str(n_outputs),
        "label_index": "0",
        "max_feature_idx": str(n_features - 1),
        "feature_names": " ".join(f"Column_{j}" for j in range(n_features)),
        "feature_infos": " ".join(["none"] * n_features),
    }


def scale_tree(tree: dict[str, str], weight: float) -> dict[str, str]:
    """The tree with all its values multiplied."""
    scaled = {
        name: " ".join(repr(float(weight) * float(value)) for value in tree[name].split())
        for name in ("leaf_value", "internal_value")
        if name in tree
    }
    return tree | scaled


def _parts(text: str) -> tuple[dict[str, str], list[str]]:
    """Head, and the text of each tree, cut as LightGBM cuts it: by the sizes that the head names."""
    if not text.isascii() or "\0" in text or not text.endswith(_END):
        raise DataError("it is not LightGBM's text")
    begin = text.find("Tree=0\n") if "Tree=0\n" in text else len(text) - len(_END)
    head = _words(text[:begin], "tree")
    if head.get("version") != "v4" or "average_output" in text[:begin]:
        raise DataError(f"its version is {head.get('version')!r}, expected 'v4'")
    blocks = []
    for size in map(int, head["tree_sizes"].split()):
        if size <= 0:
            raise DataError(f"a tree of {size} bytes")
        blocks.append(text[begin : begin + size])
        begin += size
    if text[begin:] != _END:
        raise DataError("the sizes of the trees do not add up")
    return head, blocks


def _words(block: str, title: str) -> dict[str, str]:
    """Lines ``name=value`` below a title."""
    lines = block.split("\n")
    if lines[0] != title:
        raise DataError(f"found {lines[0][:40]!r} instead of {title!r}")
    pairs = [line.split("=", 1) for line in lines[1:] if line]
    if any(len(pair) != 2 for pair in pairs) or len({pair[0] for pair in pairs}) != len(pairs):
        raise DataError(f"{title} has a line that is no name=value, or a name twice")
    return {pair[0]: pair[1] for pair in pairs}


def _check_tree(words: dict[str, str], last_feature: int) -> None:
    def numbers(name: str, size: int, dtype: Any = np.int64) -> np.ndarray:
        array = np.array(words[name].split(), dtype=dtype)
        if array.size != size:
            raise DataError(f"{name} has {array.size} entries instead of {size}")
        return array

    leaves, categorical = int(words["num_leaves"]), int(words["num_cat"])
    if words.get("is_linear", "0") != "0":
        raise DataError("trees with linear leaves (linear_tree) cannot be saved")
    if leaves < 1 or categorical < 0 or leaves > len(words["leaf_value"]):
        raise DataError(f"a tree of {leaves} leaves and {categorical} categorical splits")
    numbers("leaf_value", leaves, np.float64)
    float(words["shrinkage"])
    if leaves == 1:
        return
    splits = leaves - 1
    feature, kind = numbers("split_feature", splits), numbers("decision_type", splits)
    threshold = numbers("threshold", splits, np.float64)
    for name in words.keys() & {"split_gain", "internal_value", "internal_weight", "internal_count"}:
        numbers(name, splits, np.float64)
    for name in words.keys() & {"leaf_weight", "leaf_count"}:
        numbers(name, leaves, np.float64)
    if feature.min() < 0 or feature.max() > last_feature or kind.min() < 0 or kind.max() > 127:
        raise DataError("a split on a feature that does not exist, or of an unknown kind")
    children = np.stack([numbers("left_child", splits), numbers("right_child", splits)])
    # every node but the root has one parent, which comes before it: no loops, nothing out of reach
    if not np.array_equal(np.sort(children, axis=None), np.delete(np.arange(-leaves, splits), leaves)):
        raise DataError("the nodes of a tree are not linked as a tree")
    if (children[(children >= 0)] <= np.broadcast_to(np.arange(splits), (2, splits))[children >= 0]).any():
        raise DataError("a node of a tree stands before its parent")
    _check_categories(numbers, words, threshold[(kind & 1) == 1], categorical)


def _check_categories(numbers: Any, words: dict[str, str], used: np.ndarray, categorical: int) -> None:
    """Splits by category name a list of bits each, between two boundaries."""
    if categorical == 0:
        if used.size:
            raise DataError("a split by category without categories")
        return
    bounds = numbers("cat_boundaries", categorical + 1)
    numbers("cat_threshold", int(bounds[-1]), np.uint32)
    if bounds[0] != 0 or (np.diff(bounds) < 0).any():
        raise DataError("the boundaries of the categories are not in order")
    if used.size and not (np.isin(used, np.arange(categorical))).all():
        raise DataError("a split by a category list that does not exist")
