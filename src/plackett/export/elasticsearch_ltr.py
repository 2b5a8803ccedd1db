"""Models for the Learning to Rank plugins of Elasticsearch (o19s) and OpenSearch."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett._errors import DataError
from plackett._provenance import fulfils
from plackett.export._forest import Forest, Tree, above32
from plackett.export._form import Form, Network, form_of
from plackett.export._json_trees import (
    ends_at_largest,
    features_path,
    kept_missing,
    missing_rows,
    nested,
    read_json,
    scored,
    write_json,
)

__all__ = ["ElasticsearchLTRFormat", "write_elasticsearch_ltr"]
__public__ = ["write_elasticsearch_ltr"]

_LARGEST = np.finfo(np.float32).max


@fulfils()
def write_elasticsearch_ltr(
    ranker: Any,
    path: str | os.PathLike[str],
    *,
    feature_names: Sequence[str] | None = None,
    missing: str | None = None,
) -> None:
    """Write a fitted ranker for the Learning to Rank plugin of Elasticsearch (o19s), and its feature set.

    ``model.json`` is the body of ``POST _ltr/_featureset/model/_createmodel``, and ``model.features.json``, written
    next to it, that of ``PUT _ltr/_featureset/model``. The feature set reads each feature from a numeric field of its
    name; replace these templates by your queries. Trees become ``model/xgboost+json``, linear models ``model/linear``.
    The same files work with OpenSearch's plugin.

    The plugin compares ``x < t`` and adds in float32: thresholds are moved to the next float32, and scores agree to
    about seven digits. JSON has no infinity, so a threshold beyond all finite numbers becomes the largest of them. The
    constant of a linear model is left out, as the plugin has none; orders do not depend on it.

    A document without a field has no value for its feature. Where the trees were trained with missing values and give
    them a branch of their own, the feature's query matches only documents that have the field, and the plugin takes
    that branch (the o19s plugin since 2024, OpenSearch since 3.3; before, they read 0). Elsewhere the query gives 0,
    or what an `Imputer` before the ranker fills in.

    Parameters
    ----------
    ranker
        A ranker of trees (blends of them too) or a linear one, also behind an `Imputer` in a pipeline.
    path
        The file to write; its name up to the first dot becomes the name of the model and of the feature set.
    feature_names
        Names of the features in the engine; None means those of the training data, or ``f1``, ``f2``, …
    missing
        ``"zero"`` reads 0 for every field that is missing, for plugins that do not support missing values; a warning
        names the features for which the model has learned something else. None and ``"keep"`` are as above.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> folder = tempfile.mkdtemp()
    >>> ranker = pk.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> write_elasticsearch_ltr(ranker, folder + "/model.json", feature_names=["title_bm25"])
    >>> read_json(folder + "/model.json")["model"]["model"]["type"]
    'model/linear'
    """
    form = form_of(ranker, feature_names, fills=True)
    name = Path(path).name.split(".")[0]
    kind, definition = _definition(form)
    kept = kept_missing(form, missing, "the plugin")
    fills = [0.0] * len(kept) if form.fills is None else form.fills.astype(np.float64).tolist()
    features = [
        _feature(word, None if keep else fill) for word, keep, fill in zip(form.names, kept, fills, strict=True)
    ]
    write_json(features_path(path), {"featureset": {"name": name, "features": features}})
    write_json(path, {"model": {"name": name, "model": {"type": kind, "definition": json.dumps(definition)}}})


def _definition(form: Form) -> tuple[str, Any]:
    if form.all_lines:
        weights = form.line("elasticsearch-ltr").weights.tolist()
        return "model/linear", dict(zip(form.names, weights, strict=True))
    if not form.all_trees:
        raise DataError(
            f"the Learning to Rank plugins have trees or a linear model; this {form.algorithm} is neither. "
            + (
                "A network of sigmoid layers can be exported to ranklib (write_ranklib), for the type model/ranklib"
                if any(isinstance(part, Network) for _, part in form.parts)
                else "Members of a blend can be exported one by one"
            )
        )
    try:
        return "model/xgboost+json", [_tree(tree, form.names) for tree in form.forest("elasticsearch-ltr")]
    except RecursionError:
        raise DataError("a tree is too deep for JSON readers; train with fewer leaves or a max_depth") from None


def _tree(tree: Tree, names: Sequence[str]) -> dict[str, Any]:
    number = tree.numbers()
    depth = {tree.root: 0}
    for node in range(len(tree.feature)):
        depth[tree.left[node]] = depth[tree.right[node]] = depth[node] + 1
    with np.errstate(over="ignore"):
        above = np.minimum(above32(tree.threshold), _LARGEST).astype(np.float64).tolist()

    def split(node: int, left: Any, right: Any) -> dict[str, Any]:
        yes, no = left["nodeid"], right["nodeid"]
        return {
            "nodeid": number[node], "depth": depth[node], "split": names[tree.feature[node]],
            "split_condition": above[node], "yes": yes, "no": no,
            "missing": yes if tree.missing_left[node] else no, "children": [left, right],
        }  # fmt: skip

    leaves = iter(range(len(tree.value)))

    def leaf(value: float) -> dict[str, Any]:
        return {"nodeid": number[~next(leaves)], "leaf": _single(value)}

    return nested(tree, split, leaf)


def _single(value: float) -> float:
    """The nearest float32, with the digits of a double: a reader of either type finds this float32."""
    return float(np.float32(value))


def _feature(name: str, fill: float | None) -> dict[str, Any]:
    """A feature that reads a numeric field of its name; without the field it is ``fill``, or (None) missing."""
    field: dict[str, Any] = {"field": name}
    if fill is not None:
        field["missing"] = fill
    query = {"match_all": {}} if fill is not None else {"exists": {"field": name}}
    template = {"function_score": {"query": query, "field_value_factor": field, "boost_mode": "replace"}}
    return {"name": name, "params": [], "template_language": "mustache", "template": template}


def score_elasticsearch_ltr(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores by the plugin's rule: left if the threshold is above the value, sums in float32."""
    model = read_json(path)["model"]["model"]
    definition, read = json.loads(model["definition"]), _read_as(path)
    column = {
        name: np.where(np.isnan(X[:, j]), np.float32(read.get(name, np.nan)), X[:, j]) for j, name in enumerate(names)
    }
    total = np.zeros(len(X), np.float32)
    if model["type"] == "model/linear":
        for name, weight in definition.items():
            total += np.float32(weight) * column[name]
        return total

    def goes_left(node: dict[str, Any]) -> np.ndarray:
        value = column[node["split"]]
        return np.where(np.isnan(value), node["missing"] == node["yes"], np.float32(node["split_condition"]) > value)

    for tree in definition:
        total += scored(tree, X, goes_left, lambda node: tuple(node["children"]), lambda node: node.get("leaf")).astype(
            np.float32
        )
    return total


def _read_as(path: Path) -> dict[str, float]:
    """What a feature is for a document without its field, by the feature set next to the model; NaN is missing."""
    if not features_path(path).exists():
        return {}
    read = {}
    for feature in read_json(features_path(path))["featureset"]["features"]:
        query = feature["template"].get("function_score", {}) if isinstance(feature["template"], dict) else {}
        matches = "match_all" in query.get("query", {})
        read[feature["name"]] = query["field_value_factor"].get("missing", np.nan) if matches else np.nan
    return read


def apart(form: Form, path: Path) -> list[tuple[str, str, Any]]:
    """Rows for which the plugin differs, as the user of ``missing="zero"`` wants it."""
    read = _read_as(path)
    return missing_rows(form, lambda j: read.get(form.names[j], np.nan))


def exceptions(form: Form) -> dict[str, str]:
    """What the target cannot express."""
    forests = [part for _, part in form.parts if isinstance(part, Forest)]
    if any(ends_at_largest(forest) for forest in forests):
        why = "JSON has no infinite threshold"
        return {"infinite values": why, "largest numbers": why}
    return {}


class ElasticsearchLTRFormat:
    """The o19s plugin of Elasticsearch."""

    kind: ClassVar[str] = "elasticsearch-ltr"
    suffix: ClassVar[str] = ".json"
    proof: ClassVar[str] = "scored by the plugin's rule (threshold > x in float32)"
    tolerance: ClassVar[float] = 1e-5
    without_constant: ClassVar[bool] = True
    write = staticmethod(write_elasticsearch_ltr)
    score = staticmethod(score_elasticsearch_ltr)
    exceptions = staticmethod(exceptions)
    apart = staticmethod(apart)
