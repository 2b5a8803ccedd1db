"""RankLib's tree ensembles: nested tags ``<split>`` that read like XML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from plackett._errors import DataError
from plackett.export._lines import ModelText, below32
from plackett.models.trees import TreeScorer
from plackett.scorers.tree_text import join_trees, new_head, split_trees

__all__ = ["read_trees", "write_trees"]

#: A tag, or text between tags. Nothing else of XML is understood: no entities, no declarations.
_TOKEN = re.compile(r"<(/?)([a-z]+)((?:\s+[a-z]+\s*=\s*\"[^\"<>]*\")*)\s*>|([^<]+)")
_WEIGHT = re.compile(r"\bweight\s*=\s*\"([^\"]*)\"")
_SIDE = re.compile(r"\bpos\s*=\s*\"(left|right)\"")
_MOST_DEPTH = 1000
#: LightGBM's text names every feature up to the largest.
_MOST_FEATURES = 1_000_000

#: ``(feature, threshold, left, right)`` or ``(value,)``.
_Node = tuple[Any, ...]


def read_trees(model: ModelText, n_features: int | None) -> tuple[TreeScorer, int]:
    """The mean of the ensembles of a file (all but random forests have one), and its number of features.

    Thresholds and outputs are float32, as they are in RankLib. A document goes left if its value is at most the
    threshold; a missing value counts as 0.
    """
    ensembles = list(_ensembles(model))
    if not any(ensembles):
        raise DataError(f"{model.path}: no <tree> in the model")
    trees = [(weight / len(ensembles), root) for ensemble in ensembles for weight, root in ensemble]
    found = [_words(root, weight) for weight, root in trees]
    last = max((int(f) for words in found for f in words.get("split_feature", "").split()), default=-1)
    size = max(last + 1, 1) if n_features is None else n_features
    if size <= last:
        raise DataError(f"{model.path}: the model uses feature {last + 1}, and n_features={n_features}")
    return TreeScorer(join_trees(new_head(size), found)), size


def _tokens(model: ModelText) -> Iterator[tuple[int, str, str, str]]:
    """Line, kind (``open``, ``close``, ``text``), name or text, and attributes."""
    body = "\n".join("" if line.lstrip().startswith("#") else line for line in model.text.split("\n"))
    place, line = 0, 1
    while place < len(body):
        token = _TOKEN.match(body, place)
        if token is None:
            model.fail(line, f"expected a tag such as <split>, found {body[place : place + 30]!r}")
        slash, name, attributes, text = token.groups()
        if name is not None:
            yield line, "close" if slash else "open", name, attributes
        elif text.strip():
            yield line, "text", text.strip(), ""
        line += token[0].count("\n")
        place = token.end()


def _ensembles(model: ModelText) -> Iterator[list[tuple[float, _Node]]]:
    tokens = _tokens(model)
    for token in tokens:
        _expect(model, token, "open", "ensemble")
        trees = []
        while (token := _next(model, tokens))[1:3] != ("close", "ensemble"):
            _expect(model, token, "open", "tree")
            weight = _WEIGHT.search(token[3])
            if weight is None:
                model.fail(token[0], "a <tree> without weight")
            _expect(model, _next(model, tokens), "open", "split")
            root = _node(model, tokens)
            _expect(model, _next(model, tokens), "close", "tree")
            trees.append((_float32(model, weight[1], token[0], "the weight of the tree"), root))
        yield trees


def _node(model: ModelText, tokens: Iterator[tuple[int, str, str, str]]) -> _Node:
    """What stands between ``<split>`` and ``</split>``, by a stack of nodes that wait for their children."""
    waiting: list[list[Any]] = []
    while True:
        token = _next(model, tokens)
        if token[1:3] == ("open", "output"):
            line, word = _value(model, tokens, "output")
            done: _Node = (_float32(model, word, line, "an output"),)
        else:
            _expect(model, token, "open", "feature")
            line, word = _value(model, tokens, "feature")
            feature = model.whole(word, line, "a feature number", 1, _MOST_FEATURES) - 1
            _expect(model, _next(model, tokens), "open", "threshold")
            line, word = _value(model, tokens, "threshold")
            waiting.append([feature, _float32(model, word, line, "a threshold")])
            if len(waiting) >= _MOST_DEPTH:
                model.fail(line, f"a tree deeper than {_MOST_DEPTH} splits")
            _side(model, tokens, "left")
            continue
        while True:  # this node is complete, and so may be those above it
            _expect(model, _next(model, tokens), "close", "split")
            if not waiting:
                return done
            waiting[-1].append(done)
            if len(waiting[-1]) == 3:
                _side(model, tokens, "right")
                break
            done = tuple(waiting.pop())


def _side(model: ModelText, tokens: Iterator[tuple[int, str, str, str]], side: str) -> None:
    token = _next(model, tokens)
    _expect(model, token, "open", "split")
    found = _SIDE.search(token[3])
    if found is None or found[1] != side:
        model.fail(token[0], f'expected <split pos="{side}">')


def _value(model: ModelText, tokens: Iterator[tuple[int, str, str, str]], name: str) -> tuple[int, str]:
    line, kind, text, _ = _next(model, tokens)
    if kind != "text":
        model.fail(line, f"an empty <{name}>")
    _expect(model, _next(model, tokens), "close", name)
    return line, text


def _next(model: ModelText, tokens: Iterator[tuple[int, str, str, str]]) -> tuple[int, str, str, str]:
    token = next(tokens, None)
    if token is None:
        model.fail(model.text.count("\n") + 1, "the file ends inside a tree")
    return token


def _expect(model: ModelText, token: tuple[int, str, str, str], kind: str, name: str) -> None:
    if token[1:3] != (kind, name):
        found = {"open": f"<{token[2]}>", "close": f"</{token[2]}>", "text": repr(token[2][:30])}[token[1]]
        model.fail(token[0], f"expected <{'/' if kind == 'close' else ''}{name}>, found {found}")


def _float32(model: ModelText, word: str, line: int, what: str) -> float:
    with np.errstate(over="ignore"):
        value = float(np.float32(model.real(word, line, what)))
    if not np.isfinite(value):
        model.fail(line, f"{what} beyond the range of float32: {word[:40]!r}")
    return value


def _words(root: _Node, weight: float) -> dict[str, str]:
    """A tree as LightGBM writes it; nodes come before their children."""
    feature: list[int] = []
    threshold: list[float] = []
    children: list[list[int]] = []
    values: list[float] = []
    stack: list[tuple[_Node, int, int]] = [(root, -1, 0)]
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
    words: dict[str, list[Any]] = {"num_leaves": [len(values)], "num_cat": [0]}
    counts = [0] * len(feature)
    for i in reversed(range(len(feature))):  # the file does not say how many documents: every leaf counts alike
        counts[i] = sum(1 if child < 0 else counts[child] for child in children[i])
    if feature:
        words |= {"split_feature": feature, "threshold": threshold, "decision_type": [0] * len(feature)}
        words |= {"left_child": [c[0] for c in children], "right_child": [c[1] for c in children]}
    words |= {"leaf_value": values, "leaf_count": [1] * len(values)}
    if feature:
        words["internal_count"] = counts
    words |= {"is_linear": [0], "shrinkage": [1]}
    return {name: " ".join(map(repr, entries)) for name, entries in words.items()}


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
            raise DataError(f"tree {t + 1} splits by categories, which RankLib's trees cannot")
        if kind & 12:
            raise DataError(
                f"tree {t + 1} sends missing values their own way, and RankLib takes them for 0; "
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
    """The fewest digits that give this float32 back."""
    return np.format_float_scientific(np.float32(value), trim="0") if value else "0.0"
