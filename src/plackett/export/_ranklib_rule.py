"""Scores of a RankLib file by RankLib's rule, for the proof of an export; it shares nothing with the reader."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from plackett.export._forest import Forest
from plackett.export._form import SumOfParts


def apart(form: SumOfParts, path: Path) -> list[tuple[str, str, Any]]:
    """Rows for which RankLib differs: those with missing values, where the model does not treat them as 0."""
    forests = [part for _, part in form.parts if isinstance(part, Forest)]
    if all((forest.missing_left == (forest.threshold >= 0)).all() for forest in forests):
        return []
    return [("rows with missing values", "RankLib treats them as 0", lambda rows: np.isnan(rows).any(axis=1))]


def score_ranklib(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores of a file that was written here: trees, weights, thresholds of RankBoost, or a network.

    Missing values are 0. The score of a network is taken before the last logistic function, which changes no order.
    """
    lines = [line for line in Path(path).read_text(encoding="utf-8").splitlines() if line and not line.startswith("##")]
    rows = np.where(np.isnan(X), np.float32(0.0), X)
    if lines[0].lstrip().startswith("<"):
        return _trees(ElementTree.fromstring("\n".join(lines)), rows)
    if ":" not in lines[0]:
        return _network(lines, rows)
    total = np.zeros(len(rows))
    for word in lines[0].split():
        feature, *numbers = word.split(":")
        column = np.ones(len(rows)) if feature == "0" else rows[:, int(feature) - 1].astype(np.float64)
        if len(numbers) == 1:
            total += float(numbers[0]) * column
        else:
            total += np.where(column > float(numbers[0]), float(numbers[1]), 0.0)
    return total


def _trees(ensemble: ElementTree.Element, rows: np.ndarray) -> np.ndarray:
    total = np.zeros(len(rows), np.float32)
    for tree in ensemble:
        scores = np.zeros(len(rows), np.float32)
        stack = [(tree[0], np.arange(len(rows)))]
        while stack:
            node, here = stack.pop()
            parts = {part.get("pos", part.tag): part for part in node}
            if "output" in parts:
                scores[here] = np.float32(parts["output"].text)
                continue
            left = rows[here, int(parts["feature"].text or "") - 1] <= np.float32(parts["threshold"].text)
            stack += [(parts["left"], here[left]), (parts["right"], here[~left])]
        total += np.float32(tree.get("weight", "1")) * scores
    return total


def _network(lines: list[str], rows: np.ndarray) -> np.ndarray:
    inputs, hidden = len(lines[0].split()), int(lines[1])
    sizes = [inputs, *(int(line) for line in lines[2 : 2 + hidden]), 1]
    links = {(int(w[0]), int(w[1])): np.array(w[2:], float) for w in (line.split() for line in lines[2 + hidden :])}
    bias, at = links[0, inputs], 0
    values = rows.astype(np.float64)
    for layer, size in enumerate(sizes[1:]):
        weights = np.array([links[layer, k] for k in range(sizes[layer])])
        values = values @ weights + bias[at : at + size]
        at += size
        if layer < hidden:
            values = 1.0 / (1.0 + np.exp(-values))
    return values[:, 0]
