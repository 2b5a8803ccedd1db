"""LightGBM's text of an ensemble: what of it is kept, and what must hold before LightGBM may read it.

LightGBM trusts its own text: numbers that point outside a tree make it read foreign memory or never end. A model file
may come from anywhere. So its text is parsed into arrays, which are checked, and LightGBM reads only a text that is
written anew from these arrays: it cannot understand a character otherwise than we did.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._errors import DataError

__all__ = [
    "ParsedTrees",
    "check_text",
    "join_trees",
    "new_head",
    "parse_trees",
    "scale_tree",
    "split_trees",
    "trees_only",
]

_END = "end of trees\n"
_PRINTABLE = bytes([10, *range(32, 127)])
_NUMBER = b"0123456789+-.eE "
_WHOLE = b"0123456789- "
#: LightGBM walks trees by recursion when it explains scores, with memory that grows with the square of the depth.
_MOST_DEPTH = 4000

#: Lines of a tree: arrays with a number per split or per leaf, first those that scoring needs.
_PER_SPLIT = {
    "split_feature": np.int32,
    "threshold": np.float64,
    "decision_type": np.int8,
    "left_child": np.int32,
    "right_child": np.int32,
}
_PER_LEAF = {"leaf_value": np.float64}
_SPLIT_STATISTICS = {
    "split_gain": np.float64,
    "internal_value": np.float64,
    "internal_weight": np.float64,
    "internal_count": np.int32,
}
_LEAF_STATISTICS = {"leaf_weight": np.float64, "leaf_count": np.int32}
_SCALARS = ("num_leaves", "num_cat", "is_linear", "shrinkage")
_CATEGORIES = ("cat_boundaries", "cat_threshold")
_KNOWN = {*_PER_SPLIT, *_PER_LEAF, *_SPLIT_STATISTICS, *_LEAF_STATISTICS, *_SCALARS, *_CATEGORIES}

_NAMES = re.compile(r"[A-Za-z0-9_.:-]+(?: [A-Za-z0-9_.:-]+)*")
_INFOS = re.compile(r"(?:none|[\[\]0-9eE+.:infa-]+)(?: (?:none|[\[\]0-9eE+.:infa-]+))*")
_HEAD_NUMBERS = ("num_class", "num_tree_per_iteration", "label_index", "max_feature_idx")
_HEAD = {"version", *_HEAD_NUMBERS, "feature_names", "feature_infos", "tree_sizes", "monotone_constraints", "objective"}


@dataclass(frozen=True)
class ParsedTrees:
    """A checked ensemble as flat arrays: tree ``t`` has the splits ``[split_offsets[t], split_offsets[t + 1])``.

    Children are numbers inside their tree, as LightGBM has them: a split from 0 on, a leaf ``l`` as ``-l - 1``; a child
    has a larger number than its parent, and every split but the first and every leaf is the child of one split.

    Attributes
    ----------
    split_feature, threshold, decision_type, left_child, right_child
        Per split. Bit 0 of ``decision_type`` says that the split is by category, bit 1 that missing values go left,
        bits 2 and 3 what is missing: nothing (0), zeros (1) or NaN (2). A document goes left if its value is at most
        the threshold, or if it is in the split's list of categories, whose number in the tree is the threshold.
    leaf_value
        Per leaf, see ``leaf_offsets``.
    cat_offsets, cat_bounds, cat_words
        List ``c`` of tree ``t`` is the bits of ``cat_words[cat_bounds[i] : cat_bounds[i + 1]]``, ``i = cat_offsets[t] +
        c``: category ``k`` is in it if bit ``k % 32`` of word ``k // 32`` is set.
    shrinkage
        Per tree.
    statistics
        What LightGBM notes beside: gains, weights and counts per split or leaf. Lines that a tree lacks are zeros.
    head
        The lines before the first tree.
    """

    n_features: int
    n_outputs: int
    split_offsets: np.ndarray
    leaf_offsets: np.ndarray
    split_feature: np.ndarray
    threshold: np.ndarray
    decision_type: np.ndarray
    left_child: np.ndarray
    right_child: np.ndarray
    leaf_value: np.ndarray
    cat_offsets: np.ndarray
    cat_bounds: np.ndarray
    cat_words: np.ndarray
    shrinkage: np.ndarray
    statistics: dict[str, np.ndarray]
    head: dict[str, str]

    @property
    def n_trees(self) -> int:
        """Number of trees, all outputs together."""
        return self.leaf_offsets.size - 1

    def text(self) -> str:
        """LightGBM's text of these numbers, with digits enough for each to be read back as it is."""
        columns = {name: getattr(self, name) for name in (*_PER_SPLIT, *_PER_LEAF)} | self.statistics
        written = {name: list(map(repr, values.tolist())) for name, values in columns.items()}
        splits, leaves = self.split_offsets.tolist(), self.leaf_offsets.tolist()
        trees = []
        for t in range(self.n_trees):
            lo, hi = splits[t], splits[t + 1]
            first, last = leaves[t], leaves[t + 1]
            lists = slice(int(self.cat_offsets[t]), int(self.cat_offsets[t + 1]) + 1)
            bounds = self.cat_bounds[lists] if lists.stop - lists.start > 1 else self.cat_bounds[:0]
            tree = {"num_leaves": str(last - first), "num_cat": str(max(len(bounds) - 1, 0))}
            if hi > lo:
                tree |= {name: " ".join(written[name][lo:hi]) for name in (*_PER_SPLIT, *_SPLIT_STATISTICS)}
                tree |= {name: " ".join(written[name][first:last]) for name in (*_PER_LEAF, *_LEAF_STATISTICS)}
                if len(bounds):
                    words = self.cat_words[bounds[0] : bounds[-1]]
                    tree["cat_boundaries"] = " ".join(map(str, (bounds - bounds[0]).tolist()))
                    tree["cat_threshold"] = " ".join(map(str, words.tolist()))
            else:
                tree["leaf_value"] = written["leaf_value"][first]
            trees.append(tree | {"is_linear": "0", "shrinkage": repr(float(self.shrinkage[t]))})
        return join_trees(self.head, trees)


def parse_trees(text: str) -> ParsedTrees:
    """The arrays of LightGBM's text; a `DataError` where it is anything but a sound ensemble with constant leaves."""
    try:
        head, blocks = _parts(text)
        words = [_words(block, f"Tree={i}") for i, block in enumerate(blocks)]
        return _parsed(_checked_head(head, len(words)), words)
    except (KeyError, ValueError, OverflowError) as error:
        raise DataError(f"the tree ensemble is damaged: {error}") from None


def trees_only(text: str) -> str:
    """The text up to the last tree; behind it are settings of the training, which scoring has no use for."""
    return text[: text.index(_END) + len(_END)]


def check_text(text: str) -> None:
    """Refuse a text whose trees are not sound."""
    parse_trees(text)


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
    if not text.isascii() or text.encode().translate(None, _PRINTABLE) or not text.endswith(_END):
        raise DataError("it is not LightGBM's text")
    begin = text.find("Tree=0\n") if "Tree=0\n" in text else len(text) - len(_END)
    head = _words(text[:begin], "tree")
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


def _words(block: str, title: str) -> dict[str, str]:
    """Lines ``name=value`` below a title."""
    lines = block.split("\n")
    if lines[0] != title:
        raise DataError(f"found {lines[0][:40]!r} instead of {title!r}")
    pairs = [line.split("=", 1) for line in lines[1:] if line]
    if any(len(pair) != 2 for pair in pairs) or len({pair[0] for pair in pairs}) != len(pairs):
        raise DataError(f"{title} has a line that is no name=value, or a name twice")
    return {pair[0]: pair[1] for pair in pairs}


def _checked_head(head: dict[str, str], n_trees: int) -> dict[str, str]:
    """The lines of the head that scoring and further training need, all of them sound."""
    if head.keys() - _HEAD:
        raise DataError(f"its head has the unknown line {min(head.keys() - _HEAD)[:40]!r}")
    numbers = {name: int(_whole_numbers(name, head[name], 1)[0]) for name in _HEAD_NUMBERS}
    n_features, per_round = numbers["max_feature_idx"] + 1, numbers["num_tree_per_iteration"]
    if numbers["num_class"] != per_round or per_round < 1 or n_trees % per_round:
        raise DataError(f"{n_trees} trees cannot be rounds of {per_round}")
    for name, form in (("feature_names", _NAMES), ("feature_infos", _INFOS)):
        if not form.fullmatch(head[name]) or head[name].count(" ") + 1 != n_features:
            raise DataError(f"{name} is not a list of {n_features} entries")
    checked = {"version": "v4"} | {name: str(numbers[name]) for name in _HEAD_NUMBERS}
    checked |= {name: head[name] for name in ("feature_names", "feature_infos")}
    if "monotone_constraints" in head:
        signs = _whole_numbers("monotone_constraints", head["monotone_constraints"], n_features)
        checked["monotone_constraints"] = " ".join(map(str, np.sign(signs).tolist()))
    return checked


def _parsed(head: dict[str, str], trees: list[dict[str, str]]) -> ParsedTrees:
    for t, words in enumerate(trees):
        if words.get("is_linear", "0") != "0":
            raise DataError("trees with linear leaves (linear_tree) cannot be saved")
        if words.keys() - _KNOWN:
            raise DataError(f"tree {t} has the unknown line {min(words.keys() - _KNOWN)[:40]!r}")
    n_leaves = _whole_numbers("num_leaves", " ".join(words["num_leaves"] for words in trees), len(trees))
    n_lists = _whole_numbers("num_cat", " ".join(words["num_cat"] for words in trees), len(trees))
    if (n_leaves < 1).any() or (n_lists < 0).any():
        raise DataError("a tree without leaves, or with less than no categorical splits")
    columns: dict[str, Any] = {}
    for needed, per_split, names in (
        (True, True, _PER_SPLIT),
        (True, False, _PER_LEAF),
        (False, True, _SPLIT_STATISTICS),
        (False, False, _LEAF_STATISTICS),
    ):
        sizes = (n_leaves - per_split).tolist()
        columns |= {name: _column(trees, name, sizes, needed, dtype) for name, dtype in names.items()}
    statistics = {name: columns.pop(name) for name in (*_SPLIT_STATISTICS, *_LEAF_STATISTICS)}
    parsed = ParsedTrees(
        n_features=int(head["max_feature_idx"]) + 1,
        n_outputs=int(head["num_class"]),
        split_offsets=_offsets(n_leaves - 1),
        leaf_offsets=_offsets(n_leaves),
        cat_offsets=_offsets(n_lists),
        **_category_lists(trees, n_lists.tolist()),
        shrinkage=_numbers("shrinkage", " ".join(words.get("shrinkage", "1") for words in trees), len(trees)),
        statistics=statistics,
        head=head,
        **columns,
    )
    _check_splits(parsed)
    _check_links(parsed)
    return parsed


def _column(trees: list[dict[str, str]], name: str, sizes: list[int], needed: bool, dtype: Any) -> np.ndarray:
    """The numbers of one line of all trees, one tree after the other."""
    texts = []
    for t, (words, size) in enumerate(zip(trees, sizes, strict=True)):
        text = words.get(name, "")
        if not text and not needed:
            text = "0" + " 0" * (size - 1) if size else ""
        elif size == 0:
            text = ""
        if (text.count(" ") + 1 if text else 0) != size:
            raise DataError(f"{name} of tree {t} has not {size} entries")
        if text:
            texts.append(text)
    joined = " ".join(texts)
    if not needed and ("n" in joined):  # a gain may be infinite, which is nothing to score with
        joined = re.sub(r"-?(?:inf|nan)(?= |$)", "0", joined)
    read = _numbers if dtype is np.float64 else _whole_numbers
    numbers = read(name, joined, sum(sizes))
    if dtype is not np.float64 and numbers.size and np.abs(numbers).max() > np.iinfo(dtype).max:
        raise DataError(f"{name} has the entry {np.abs(numbers).max()}")
    return numbers.astype(dtype)


def _category_lists(trees: list[dict[str, str]], n_lists: list[int]) -> dict[str, np.ndarray]:
    """Bounds of the lists of all trees in the one array of their words."""
    bounds, pieces = [np.zeros(1, np.int64)], []
    for t, (words, n) in enumerate(zip(trees, n_lists, strict=True)):
        if n == 0:
            continue
        own = _whole_numbers("cat_boundaries", words["cat_boundaries"], n + 1)
        if own[0] != 0 or (np.diff(own) < 0).any():
            raise DataError(f"the boundaries of the categories of tree {t} are not in order")
        bits = _whole_numbers("cat_threshold", words["cat_threshold"], int(own[-1]))
        if bits.size and not 0 <= bits.min() <= bits.max() < 2**32:
            raise DataError(f"the categories of tree {t} are no words of 32 bits")
        bounds.append(own[1:] + bounds[-1][-1])
        pieces.append(bits)
    return {
        "cat_bounds": np.concatenate(bounds),
        "cat_words": np.concatenate([np.zeros(0, np.int64), *pieces]).astype(np.uint32),
    }


def _check_splits(trees: ParsedTrees) -> None:
    """Features and kinds of splits that exist, and lists of categories that are there."""
    kind = trees.decision_type
    if not kind.size:
        return
    if trees.split_feature.min() < 0 or trees.split_feature.max() >= trees.n_features:
        raise DataError("a split on a feature that does not exist")
    if kind.min() < 0 or kind.max() > 15 or (kind >> 2 == 3).any():
        raise DataError("a split of an unknown kind")
    tree = np.repeat(np.arange(trees.n_trees), np.diff(trees.split_offsets))
    lists = np.diff(trees.cat_offsets)[tree]
    by_category = (kind & 1) == 1
    number = trees.threshold[by_category]
    if ((number < 0) | (number >= lists[by_category]) | (number % 1 != 0)).any():
        raise DataError("a split by a category list that does not exist")


def _check_links(trees: ParsedTrees) -> None:
    """Every split but a tree's first and every leaf has one parent, which comes before it: no loops, nothing lost."""
    splits, leaves = np.diff(trees.split_offsets), np.diff(trees.leaf_offsets)
    tree = np.repeat(np.arange(trees.n_trees), splits)
    place = np.arange(tree.size) - trees.split_offsets[tree]
    parents = np.zeros(tree.size, np.int64)
    arrivals = np.zeros(int(trees.leaf_offsets[-1]), np.int64)
    for child in (trees.left_child.astype(np.int64), trees.right_child.astype(np.int64)):
        inner = child >= 0
        if (child >= splits[tree]).any() or (~child >= leaves[tree]).any():
            raise DataError("a child beyond the nodes of its tree")
        if (child[inner] <= place[inner]).any():
            raise DataError("a node of a tree stands before its parent")
        parents += np.bincount((child + trees.split_offsets[tree])[inner], minlength=parents.size)
        arrivals += np.bincount((~child + trees.leaf_offsets[tree])[~inner], minlength=arrivals.size)
    arrivals[trees.leaf_offsets[:-1][leaves == 1]] += 1  # a tree that is one leaf
    parents[trees.split_offsets[:-1][splits > 0]] += 1
    if (parents != 1).any() or (arrivals != 1).any():
        raise DataError("the nodes of a tree are not linked as a tree")
    level = np.flatnonzero(place == 0)
    for _ in range(_MOST_DEPTH):
        if not level.size:
            return
        first = np.concatenate([trees.split_offsets[tree[level]]] * 2)
        child = np.concatenate([trees.left_child[level], trees.right_child[level]])
        level = (first + child)[child >= 0]
    raise DataError(f"a tree of more than {_MOST_DEPTH} levels")


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
    words = text.split(" ") if text else []
    if size is not None and len(words) != size:
        raise DataError(f"{name} has {len(words)} entries instead of {size}")
    return np.array([*map(read, words)], np.float64 if read is float else np.int64)
