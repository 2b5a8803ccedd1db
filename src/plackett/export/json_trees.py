"""Trees as nested objects, for engines that read JSON: writing them, and scoring them by an engine's rule."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett._files.atomic import replacing
from plackett.export._forest import Forest, Tree
from plackett.export._form import SumOfParts

Object = dict[str, Any]


def nested(tree: Tree, split: Callable[[int, Any, Any], Object], leaf: Callable[[float], Object]) -> Object:
    """A tree as nested objects; ``split`` gets a node and the objects of its children."""
    object_of: dict[int, Object] = {~i: leaf(value) for i, value in enumerate(tree.value)}
    for node in reversed(range(len(tree.feature))):  # children come after their parents
        object_of[node] = split(node, object_of[tree.left[node]], object_of[tree.right[node]])
    return object_of[tree.root]


def scored(
    root: Object,
    X: np.ndarray,
    goes_left: Callable[[Object], np.ndarray],
    children: Callable[[Object], tuple[Object, Object]],
    value: Callable[[Object], float | None],
) -> np.ndarray:
    """The leaf value of each row; the functions say what an engine sees in an object."""
    out = np.empty(len(X))
    stack = [(root, np.arange(len(X)))]
    while stack:
        node, rows = stack.pop()
        leaf_value = value(node)
        if leaf_value is not None:
            out[rows] = leaf_value
            continue
        left = goes_left(node)[rows]
        first, second = children(node)
        stack += [(first, rows[left]), (second, rows[~left])]
    return out


def kept_missing(form: SumOfParts, missing: str | None, engine: str) -> list[bool]:
    """For each feature, whether the engine must know that it is missing, instead of reading 0.

    ``missing`` is the option of the writers; ``"zero"`` reads 0 everywhere, and warns where the model knows better.
    """
    if missing not in (None, "keep", "zero"):
        raise DataError(f"missing={missing!r}; give 'keep' or 'zero'")
    told = {int(j) for _, part in form.parts if isinstance(part, Forest) for j in part.tells_missing()}
    if missing == "zero" and told:
        names = ", ".join(form.names[j] for j in sorted(told)[:5]) + (" and others" if len(told) > 5 else "")
        warnings.warn(
            f"{engine} will read 0 where a field is missing, but the model learned something else for missing values "
            f"of {names}: such documents get other scores than from predict",
            PlackettWarning,
            stacklevel=3,
        )
    return [j in told and missing != "zero" for j in range(len(form.names))]


def missing_rows(form: SumOfParts, read_as: Callable[[int], float]) -> list[tuple[str, str, Any]]:
    """Rows for which an engine differs because it reads another number than NaN for a missing value that matters."""
    told = {int(j) for _, part in form.parts if isinstance(part, Forest) for j in part.tells_missing()}
    wrong = sorted(j for j in told if not np.isnan(read_as(j)))
    if not wrong:
        return []
    why = "the feature set reads 0 where a field is missing"
    return [("missing, read as 0", why, lambda rows: np.isnan(rows[:, wrong]).any(axis=1))]


def ends_at_largest(forest: Forest) -> bool:
    """Whether a threshold is so large that no finite float32 is above it."""
    return bool((forest.threshold >= np.finfo(np.float32).max).any())


def features_path(path: str | os.PathLike[str]) -> Path:
    """The file for the definition of the features, next to that of the model and called after it.

    >>> features_path("shop.solr.json").name
    'shop.solr.features.json'
    """
    path = Path(path)
    return path.with_name(f"{path.stem}.features.json")


def write_json(path: str | os.PathLike[str], content: Any, *, indent: int | None = 1) -> None:
    """Write JSON; numbers that are not finite are refused."""
    try:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=indent)
    except RecursionError:
        raise DataError("a tree is too deep for JSON readers; train with fewer leaves or a max_depth") from None
    with replacing(path) as file:
        file.write((text + "\n").encode())


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read JSON that was written here."""
    return json.loads(Path(path).read_text(encoding="utf-8"))
