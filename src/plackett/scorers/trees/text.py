"""LightGBM's text format: which parts are kept, and what is checked before LightGBM reads it.

LightGBM trusts its own text: numbers that point outside a tree make it read out of bounds or loop forever. A model file
may come from anywhere. So its text is parsed into arrays, which are checked, and LightGBM reads only a text that is
rewritten from these arrays: it cannot read a single character differently than we did.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._files.checks import offsets_fit
from plackett.scorers.trees.arrays import TreeArrays

_END = "end of trees\n"
_PRINTABLE = bytes([10, *range(32, 127)])
_NUMBER = b"0123456789+-.eE "
_WHOLE = b"0123456789- "

#: Lines of a tree with a number per split or per leaf, and the arrays that hold them; first those that scoring needs.
_PER_SPLIT = {
    "split_feature": ("feature", np.int32),
    "threshold": ("threshold", np.float64),
    "decision_type": ("decision", np.uint8),
    "left_child": ("left", np.int32),
    "right_child": ("right", np.int32),
}
_PER_LEAF = {"leaf_value": ("leaf_value", np.float64)}
_SPLIT_STATISTICS = {
    "split_gain": ("split_gain", np.float64),
    "internal_value": ("internal_value", np.float64),
    "internal_weight": ("internal_weight", np.float64),
    "internal_count": ("internal_count", np.int32),
}
_LEAF_STATISTICS = {"leaf_weight": ("leaf_weight", np.float64), "leaf_count": ("leaf_count", np.int32)}
_SCALARS = ("num_leaves", "num_cat", "is_linear", "shrinkage")
_CATEGORIES = ("cat_boundaries", "cat_threshold")
_KNOWN = {*_PER_SPLIT, *_PER_LEAF, *_SPLIT_STATISTICS, *_LEAF_STATISTICS, *_SCALARS, *_CATEGORIES}

_HEAD_NUMBERS = ("num_class", "num_tree_per_iteration", "label_index", "max_feature_idx")
_HEAD = {"version", *_HEAD_NUMBERS, "feature_names", "feature_infos", "tree_sizes", "monotone_constraints", "objective"}


def parse_trees(text: str) -> TreeArrays:
    """The arrays of LightGBM's text; raises a `DataError` unless it is a valid ensemble with constant leaves."""
    try:
        head, blocks = _parts(text)
        descriptions = [_fields(block, f"Tree={i}") for i, block in enumerate(blocks)]
        trees = _parsed(head, descriptions)
        trees.check()
        return trees
    except (KeyError, ValueError, OverflowError) as error:
        raise DataError(f"the tree ensemble is damaged: {error}") from None


def write_text(trees: TreeArrays) -> str:
    """LightGBM's text of an ensemble, with enough digits for each number to be read back exactly."""
    lines = _PER_SPLIT | _PER_LEAF | _SPLIT_STATISTICS | _LEAF_STATISTICS
    own_number, sets = _sets_by_tree(trees)
    columns = {line: getattr(trees, name) for line, (name, _) in lines.items()} | {"threshold": own_number}
    written = {line: list(map(repr, values.tolist())) for line, values in columns.items()}
    splits, leaves = trees.split_offsets.tolist(), trees.leaf_offsets.tolist()
    blocks = []
    for t in range(trees.n_trees):
        lo, hi = splits[t], splits[t + 1]
        first, last = leaves[t], leaves[t + 1]
        tree = {"num_leaves": str(last - first), "num_cat": str(len(sets[t]))}
        if hi > lo:
            tree |= {line: " ".join(written[line][lo:hi]) for line in (*_PER_SPLIT, *_SPLIT_STATISTICS)}
            tree |= {line: " ".join(written[line][first:last]) for line in (*_PER_LEAF, *_LEAF_STATISTICS)}
            if sets[t]:
                tree["cat_boundaries"] = " ".join(map(str, np.cumsum([0, *map(len, sets[t])]).tolist()))
                tree["cat_threshold"] = " ".join(map(str, np.concatenate(sets[t]).tolist()))
        else:
            tree["leaf_value"] = written["leaf_value"][first]
        blocks.append(tree | {"is_linear": "0", "shrinkage": repr(float(trees.shrinkage[t]))})
    return join_trees(_head(trees), blocks)


def _head(trees: TreeArrays) -> dict[str, str]:
    head = new_head(trees.n_features, trees.n_outputs)
    head |= {"feature_names": trees.feature_names, "feature_infos": trees.feature_infos}
    if trees.monotone_constraints.size:
        head["monotone_constraints"] = " ".join(map(str, trees.monotone_constraints.tolist()))
    return head


def _sets_by_tree(trees: TreeArrays) -> tuple[np.ndarray, list[list[np.ndarray]]]:
    """Thresholds with sets of categories numbered tree by tree, as LightGBM has them, and the sets of each tree."""
    threshold = trees.threshold.copy()
    sets: list[list[np.ndarray]] = [[] for _ in range(trees.n_trees)]
    by_category = np.flatnonzero(trees.categorical)
    tree = np.searchsorted(trees.split_offsets, by_category, side="right") - 1
    for t in np.unique(tree):
        of_tree = by_category[tree == t]
        numbers, own = np.unique(trees.threshold[of_tree].astype(np.int64), return_inverse=True)
        threshold[of_tree] = own
        sets[t] = [trees.set_words[trees.set_offsets[i] : trees.set_offsets[i + 1]] for i in numbers]
    return threshold, sets


def trees_only(text: str) -> str:
    """The text up to the last tree; after it come training settings, which scoring does not need."""
    return text[: text.index(_END) + len(_END)]


def split_trees(text: str) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The lines ``name=value`` of the head and of each tree, for callers that remove, reweight or rewrite trees."""
    head, blocks = _parts(text)
    return head, [_fields(block, f"Tree={i}") for i, block in enumerate(blocks)]


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
    if not text.isascii() or text.encode().translate(None, _PRINTABLE) or not text.endswith(_END):
        raise DataError("it is not LightGBM's text")
    begin = text.find("Tree=0\n") if "Tree=0\n" in text else len(text) - len(_END)
    head = _fields(text[:begin], "tree")
    if head.get("version") != "v4" or "average_output" in text[:begin]:
        raise DataError(f"its version is {head.get('version')!r}, expected 'v4'")
    blocks = []
    for size in _whole_numbers("tree_sizes", head.get("tree_sizes", "")).tolist():
        if size <= 0:
            raise DataError(f"a tree of {size} bytes")
        blocks.append(text[begin : begin + size])
        begin += size
    if text[begin:] != _END:
        raise DataError("the sizes of the trees do not add up")
    return head, blocks


def _fields(block: str, title: str) -> dict[str, str]:
    """Lines ``name=value`` below a title."""
    lines = block.split("\n")
    if lines[0] != title:
        raise DataError(f"found {lines[0][:40]!r} instead of {title!r}")
    pairs = [line.split("=", 1) for line in lines[1:] if line]
    if any(len(pair) != 2 for pair in pairs) or len({pair[0] for pair in pairs}) != len(pairs):
        raise DataError(f"{title} has a line that is not name=value, or a duplicate name")
    return {pair[0]: pair[1] for pair in pairs}


def _checked_head(head: dict[str, str], n_trees: int) -> dict[str, int]:
    """The numbers of the head, of which all lines are known."""
    if head.keys() - _HEAD:
        raise DataError(f"its head has the unknown line {min(head.keys() - _HEAD)[:40]!r}")
    numbers = {name: int(_whole_numbers(name, head[name], 1)[0]) for name in _HEAD_NUMBERS}
    per_round = numbers["num_tree_per_iteration"]
    if numbers["num_class"] != per_round or per_round < 1 or n_trees % per_round:
        raise DataError(f"{n_trees} trees cannot be rounds of {per_round}")
    return numbers


def _parsed(head: dict[str, str], trees: list[dict[str, str]]) -> TreeArrays:
    numbers = _checked_head(head, len(trees))
    for t, fields in enumerate(trees):
        if fields.get("is_linear", "0") != "0":
            raise DataError(
                "trees with linear leaves (linear_tree) cannot be read or saved: only LightGBM scores them. Train "
                "without linear_tree, or keep LightGBM's own file (booster_.save_model)"
            )
        if fields.keys() - _KNOWN:
            raise DataError(f"tree {t} has the unknown line {min(fields.keys() - _KNOWN)[:40]!r}")
    n_leaves = _whole_numbers("num_leaves", " ".join(fields["num_leaves"] for fields in trees), len(trees))
    n_sets = _whole_numbers("num_cat", " ".join(fields["num_cat"] for fields in trees), len(trees))
    if (n_leaves < 1).any() or (n_sets < 0).any():
        raise DataError("a tree without leaves, or with a negative number of categorical splits")
    columns: dict[str, Any] = {}
    for needed, per_split, lines in (
        (True, True, _PER_SPLIT),
        (True, False, _PER_LEAF),
        (False, True, _SPLIT_STATISTICS),
        (False, False, _LEAF_STATISTICS),
    ):
        sizes = (n_leaves - per_split).tolist()
        columns |= {name: _column(trees, line, sizes, needed, dtype) for line, (name, dtype) in lines.items()}
    by_category = np.flatnonzero(columns["decision"] & 1)
    tree = np.repeat(np.arange(len(trees)), n_leaves - 1)[by_category]
    own = columns["threshold"][by_category]
    if ((own < 0) | (own >= n_sets[tree]) | (own != np.floor(own))).any():
        raise DataError("a split by a category list that does not exist")
    columns["threshold"][by_category] += _offsets(n_sets)[tree]
    signs = np.zeros(0, np.int64)
    if "monotone_constraints" in head:
        signs = np.sign(_whole_numbers("monotone_constraints", head["monotone_constraints"]))
    return TreeArrays(
        n_features=numbers["max_feature_idx"] + 1,
        n_outputs=numbers["num_class"],
        split_offsets=_offsets(n_leaves - 1),
        leaf_offsets=_offsets(n_leaves),
        **_category_sets(trees, n_sets.tolist()),
        shrinkage=_numbers("shrinkage", " ".join(fields.get("shrinkage", "1") for fields in trees), len(trees)),
        feature_names=head["feature_names"],
        feature_infos=head["feature_infos"],
        monotone_constraints=signs.astype(np.int8),
        **columns,
    )


def _column(trees: list[dict[str, str]], name: str, sizes: list[int], needed: bool, dtype: Any) -> np.ndarray:
    """The numbers of one line of all trees, one tree after the other."""
    texts = []
    for t, (fields, size) in enumerate(zip(trees, sizes, strict=True)):
        text = fields.get(name, "")
        if not text and not needed:
            text = "0" + " 0" * (size - 1) if size else ""
        elif size == 0:
            text = ""
        if (text.count(" ") + 1 if text else 0) != size:
            raise DataError(f"{name} of tree {t} does not have {size} entries")
        if text:
            texts.append(text)
    joined = " ".join(texts)
    if not needed and ("n" in joined):  # a gain may be infinite; scoring does not use it
        joined = re.sub(r"-?(?:inf|nan)(?= |$)", "0", joined)
    read = _numbers if dtype is np.float64 else _whole_numbers
    numbers = read(name, joined, sum(sizes))
    if dtype is not np.float64 and numbers.size:
        lowest, highest = (0 if dtype is np.uint8 else -np.iinfo(dtype).max), np.iinfo(dtype).max
        if numbers.min() < lowest or numbers.max() > highest:
            raise DataError(f"{name} has an entry outside {lowest}…{highest}")
    return numbers.astype(dtype)


def _category_sets(trees: list[dict[str, str]], n_sets: list[int]) -> dict[str, Any]:
    """Offsets of the sets of all trees in the one array of their words."""
    bounds, pieces = [np.zeros(1, np.int64)], []
    for t, (fields, n) in enumerate(zip(trees, n_sets, strict=True)):
        if n == 0:
            continue
        own = _whole_numbers("cat_boundaries", fields["cat_boundaries"], n + 1)
        if not offsets_fit(own, int(own[-1])):
            raise DataError(f"the boundaries of the categories of tree {t} are not in order")
        bits = _whole_numbers("cat_threshold", fields["cat_threshold"], int(own[-1]))
        if bits.size and not 0 <= bits.min() <= bits.max() < 2**32:
            raise DataError(f"the categories of tree {t} are not 32-bit words")
        bounds.append(own[1:] + bounds[-1][-1])
        pieces.append(bits)
    return {
        "set_offsets": np.concatenate(bounds),
        "set_words": np.concatenate([np.zeros(0, np.int64), *pieces]).astype(np.uint32),
    }


def _offsets(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate(([0], np.cumsum(sizes)))


def _numbers(name: str, text: str, size: int) -> np.ndarray:
    """Numbers with one blank between them. Only a threshold may be infinite: NaN to one side, all else to the other."""
    numbers = _plain(name, text, _NUMBER + (b"inf" if name == "threshold" else b""), float, size)
    if np.isnan(numbers).any() if name == "threshold" else not np.isfinite(numbers).all():
        raise DataError(f"{name} has an entry that is not finite")
    return numbers


def _whole_numbers(name: str, text: str, size: int | None = None) -> np.ndarray:
    return _plain(name, text, _WHOLE, _whole, size)


def _whole(word: str) -> int:
    if len(word) > 11:  # 32 bits and a sign
        raise DataError(f"the number {word[:20]} is too large")
    return int(word)


def _plain(name: str, text: str, letters: bytes, read: Any, size: int | None) -> np.ndarray:
    if text.encode().translate(None, letters):
        raise DataError(f"{name} is not a list of numbers")
    entries = text.split(" ") if text else []
    if size is not None and len(entries) != size:
        raise DataError(f"{name} has {len(entries)} entries instead of {size}")
    return np.array([*map(read, entries)], np.float64 if read is float else np.int64)
