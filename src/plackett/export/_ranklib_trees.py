"""RankLib's tree ensembles: nested tags ``<split>`` that read like XML."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.export._lines import ModelText, below32
from plackett.export._tags import Tags
from plackett.scorers.trees.scorer import TreeScorer
from plackett.scorers.trees.text import join_trees, new_head, parse_trees, split_trees

_MOST_DEPTH = 1000
#: LightGBM's text names every feature up to the largest.
_MOST_FEATURES = 1_000_000

#: ``(feature, threshold, left, right)`` or ``(value,)``.
Node = tuple[Any, ...]
#: Reads a number: the file, the word, its line and what it is.
Number = Callable[[ModelText, str, int, str], float]


def read_trees(model: ModelText, n_features: int | None) -> tuple[TreeScorer, int]:
    """The mean of the ensembles of a file (all but random forests have one), and its number of features.

    Thresholds and outputs are float32, as they are in RankLib. A document goes left if its value is at most the
    threshold; a missing value counts as 0.
    """
    ensembles = list(_ensembles(model))
    return tree_scorer(
        model, [(weight / len(ensembles), root) for ensemble in ensembles for weight, root in ensemble], n_features
    )


def tree_scorer(model: ModelText, trees: list[tuple[float, Node]], n_features: int | None) -> tuple[TreeScorer, int]:
    """The sum of weighted trees, and its number of features."""
    if not trees:
        raise DataError(f"{model.path}: no <tree> in the model")
    sections = [_tree_section(root, weight) for weight, root in trees]
    last = max((int(f) for section in sections for f in section.get("split_feature", "").split()), default=-1)
    size = max(last + 1, 1) if n_features is None else n_features
    if size <= last:
        raise DataError(f"{model.path}: the model uses feature {last + 1}, and n_features={n_features}")
    # only LightGBM takes numbers next to 0 for 0
    return TreeScorer.of(replace(parse_trees(join_trees(new_head(size), sections)), tiny=0.0)), size


def _ensembles(model: ModelText) -> Iterator[list[tuple[float, Node]]]:
    body = "\n".join("" if line.lstrip().startswith("#") else line for line in model.text.split("\n"))
    tags = Tags(model, body)
    for tag in tags:
        tags.expect("open", "ensemble", tag)
        yield ensemble_trees(tags, float32)


def ensemble_trees(tags: Tags, number: Number) -> list[tuple[float, Node]]:
    """Weight and root of each tree of an ensemble that was opened; ``number`` reads weights and outputs."""
    trees = []
    while (tag := tags.next())[1:3] != ("close", "ensemble"):
        tags.expect("open", "tree", tag)
        weight = tag.attribute("weight")
        if weight is None:
            tags.model.fail(tag.line, "a <tree> without weight")
        tags.expect("open", "split")
        root = _node(tags, number)
        tags.expect("close", "tree")
        trees.append((number(tags.model, weight, tag.line, "the weight of the tree"), root))
    return trees


def _node(tags: Tags, number: Number) -> Node:
    """Parse the text between ``<split>`` and ``</split>``, with a stack of nodes that wait for their children."""
    waiting: list[list[Any]] = []
    model = tags.model
    while True:
        tag = tags.next()
        if tag[1:3] == ("open", "output"):
            line, word = tags.value("output")
            done: Node = (number(model, word, line, "an output"),)
        else:
            tags.expect("open", "feature", tag)
            line, word = tags.value("feature")
            feature = model.whole(word, line, "a feature number", 1, _MOST_FEATURES) - 1
            tags.expect("open", "threshold")
            line, word = tags.value("threshold")
            waiting.append([feature, float32(model, word, line, "a threshold")])
            if len(waiting) >= _MOST_DEPTH:
                model.fail(line, f"a tree deeper than {_MOST_DEPTH} splits")
            _side(tags, "left")
            continue
        while True:  # this node is complete, and so may be those above it
            tags.expect("close", "split")
            if not waiting:
                return done
            waiting[-1].append(done)
            if len(waiting[-1]) == 3:
                _side(tags, "right")
                break
            done = tuple(waiting.pop())


def _side(tags: Tags, side: str) -> None:
    tag = tags.expect("open", "split")
    if tag.attribute("pos") != side:
        tags.model.fail(tag.line, f'expected <split pos="{side}">')


def float32(model: ModelText, word: str, line: int, what: str) -> float:
    """A number of a file as the nearest float32."""
    with np.errstate(over="ignore"):
        value = float(np.float32(model.real(word, line, what)))
    if not np.isfinite(value):
        model.fail(line, f"{what} beyond the range of float32: {word[:40]!r}")
    return value


def _tree_section(root: Node, weight: float) -> dict[str, str]:
    """A tree as LightGBM writes it; nodes come before their children."""
    feature: list[int] = []
    threshold: list[float] = []
    children: list[list[int]] = []
    values: list[float] = []
    stack: list[tuple[Node, int, int]] = [(root, -1, 0)]
    while stack:
        node, parent, side = stack.pop()
        if len(node) == 1:
            number = -len(values) - 1
            values.append(weight * node[0])
        else:
            number = len(feature)
            feature.append(node[0])
            threshold.append(node[1])
            children.append([0, 0])
            stack += [(node[3], number, 1), (node[2], number, 0)]
        if parent >= 0:
            children[parent][side] = number
    fields: dict[str, list[Any]] = {"num_leaves": [len(values)], "num_cat": [0]}
    counts = [0] * len(feature)
    for i in reversed(range(len(feature))):  # the file does not say how many documents: every leaf counts alike
        counts[i] = sum(1 if child < 0 else counts[child] for child in children[i])
    if feature:
        fields |= {"split_feature": feature, "threshold": threshold, "decision_type": [0] * len(feature)}
        fields |= {"left_child": [c[0] for c in children], "right_child": [c[1] for c in children]}
    fields |= {"leaf_value": values, "leaf_count": [1] * len(values)}
    if feature:
        fields["internal_count"] = counts
    fields |= {"is_linear": [0], "shrinkage": [1]}
    return {name: " ".join(map(repr, entries)) for name, entries in fields.items()}


# ----------------------------------------------------------------------------------------------------- writing


def write_trees(scorer: TreeScorer) -> str:
    """The ensemble in RankLib's tags; thresholds are the largest float32 that split float32 features the same way."""
    head, trees = split_trees(scorer.text)
    if head["num_class"] != "1":
        raise DataError(f"RankLib's trees have one score per document, and this model has {head['num_class']}")
    lines = ["<ensemble>"]
    for t, tree in enumerate(trees):
        lines.append(f'\t<tree id="{t + 1}" weight="1.0">')
        lines += _tags(tree, t)
        lines.append("\t</tree>")
    return "\n".join([*lines, "</ensemble>", ""])


def _tags(tree: dict[str, str], t: int) -> Iterator[str]:
    values = [float(word) for word in tree["leaf_value"].split()]
    feature, left, right = (
        [int(word) for word in tree.get(name, "").split()] for name in ("split_feature", "left_child", "right_child")
    )
    threshold = [float(word) for word in tree.get("threshold", "").split()]
    for kind in map(int, tree.get("decision_type", "").split()):
        if kind & 1:
            raise DataError(f"tree {t + 1} splits by categories, which RankLib's trees do not support")
        if kind & 12:
            raise DataError(
                f"tree {t + 1} has its own branch for missing values, but RankLib treats them as 0; "
                "train on data without NaN to export"
            )
    stack: list[tuple[int | str, str, int]] = [(0 if feature else -1, "<split>", 2)]
    while stack:
        node, tag, depth = stack.pop()
        indent = "\t" * depth
        if isinstance(node, str):
            yield indent + node
            continue
        yield indent + tag
        stack.append(("</split>", "", depth))
        if node < 0:
            yield f"{indent}\t<output> {values[-node - 1]!r} </output>"
            continue
        yield f"{indent}\t<feature> {feature[node] + 1} </feature>"
        yield f"{indent}\t<threshold> {_shortest32(below32(threshold[node]))} </threshold>"
        stack.append((right[node], '<split pos="right">', depth + 1))
        stack.append((left[node], '<split pos="left">', depth + 1))


def _shortest32(value: float) -> str:
    """The fewest digits that read back as this float32."""
    return np.format_float_scientific(np.float32(value), trim="0") if value else "0.0"
