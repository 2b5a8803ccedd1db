"""Models for the Learning to Rank plugins of Elasticsearch (o19s) and OpenSearch."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.export._forest import Forest, Tree, above32_finite
from plackett.export._form import SumOfParts, features_of, form_of
from plackett.export._readings import Reading, as_read, columns_of, readable
from plackett.export.json_trees import (
    ends_at_largest,
    features_path,
    kept_missing,
    missing_rows,
    nested,
    read_json,
    scored,
    write_json,
)
from plackett.scorers.parts import NetworkLayers

__all__ = ["write_elasticsearch_ltr"]

#: What a feature is whose query does not match, by the first version of the plugin (see `as_read`).
RULES: Mapping[tuple[int, ...], str] = {(0,): "zero", (1, 5, 9): "missing"}


def write_elasticsearch_ltr(
    ranker: Any,
    path: str | os.PathLike[str],
    *,
    feature_names: Sequence[str] | None = None,
    missing: str | None = None,
    version: str | None = None,
    data: Any = None,
) -> None:
    """Write a fitted ranker for the Learning to Rank plugin of Elasticsearch (o19s), and its feature set.

    ``model.json`` is the body of ``POST _ltr/_featureset/model/_createmodel``, and ``model.features.json``, written
    next to it, that of ``PUT _ltr/_featureset/model``. The feature set reads each feature from a numeric field of its
    name; replace these templates by your queries. Trees become ``model/xgboost+json``, linear models ``model/linear``.

    The plugin compares ``x < t`` and adds in float32: thresholds are moved to the next float32, and scores agree to
    about seven digits. JSON has no infinity, so a threshold beyond all finite numbers becomes the largest of them. The
    constant of a linear model is left out, as the plugin has none; orders do not depend on it.

    What a feature is whose query does not match depends on the version of the plugin: 0 before 1.5.9, and the branch
    of a missing value since. So the queries of the feature set match every document, and a field that is missing is a
    number that takes the branch of a missing value, in every version. Where the splits of a feature want two different
    numbers, it is read twice, the second time as ``NAME_missing_high``. A query that replaces a template must match
    every document, too. Where yours do not, name the version: the queries then match only documents that have the
    field, and a model that is not right there is refused.

    The engine refuses queries that score below 0. So ``NAME`` is the part of a feature above 0, and where the model
    needs it, ``NAME_negative`` is the part below, without the sign; scores stay the same. A linear model has both parts
    of the features that are below 0 in a tenth of its training data (of all, if this is not known) or somewhere in
    ``data``; its other features must not be below 0.

    Parameters
    ----------
    ranker
        A ranker of trees (blends of them too) or a linear one, also behind an `Imputer` in a pipeline.
    path
        The file to write; its name up to the first dot becomes the name of the model and of the feature set.
    feature_names
        Names of the features in the engine; None means those of the training data, or ``f1``, ``f2``, …
    missing
        ``"zero"`` reads 0 for every field that is missing; a warning names the features for which the model has learned
        something else. None and ``"keep"`` are as above.
    version
        Version of the plugin, such as ``"1.5.8"``, if your queries do not match all documents; None is right in all.
    data
        Documents (a `RankingDataset` or a table) that show which features may be below 0, for linear models.

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
    write_plugin(ranker, path, feature_names, missing, rule_of(version, RULES), data)


def write_plugin(
    ranker: Any,
    path: str | os.PathLike[str],
    feature_names: Sequence[str] | None,
    missing: str | None,
    rule: str,
    data: Any = None,
) -> None:
    """Write a model and its feature set; ``rule`` is what the plugin makes of a feature whose query does not match."""
    form = form_of(ranker, feature_names, fills=True)
    if data is not None:
        form = replace(form, signed=form.signed | (features_of(data, form) < 0).any(axis=0))
    _refuse_others(form)
    kept_missing(form, missing, "the plugin")
    zero = missing == "zero"
    read, readings = as_read(form, "" if zero else rule, zero=zero)
    kind, definition = _definition(read)
    name = Path(path).name.split(".")[0]
    features = [
        {"name": reading.name, "params": [], "template_language": "mustache", "template": reading.query()}
        for reading in readings
    ]
    write_json(features_path(path), {"featureset": {"name": name, "features": features}})
    write_json(path, {"model": {"name": name, "model": {"type": kind, "definition": json.dumps(definition)}}})


def rule_of(version: str | None, rules: Mapping[tuple[int, ...], str]) -> str:
    """What a version makes of a feature whose query does not match (see `as_read`); nothing for no version.

    >>> rule_of("1.5.10", RULES)
    'missing'
    """
    if version is None:
        return ""
    if not re.fullmatch(r"\d{1,4}(\.\d{1,4}){1,3}", version):
        raise DataError(f"version={version!r}; give numbers such as {'.'.join(map(str, max(rules)))!r}")
    given = tuple(map(int, version.split(".")))
    return rules[max(first for first in rules if first <= given)]


def _refuse_others(form: SumOfParts) -> None:
    if not form.all_lines and not form.all_trees:
        raise DataError(
            f"the Learning to Rank plugins have trees or a linear model; this {form.algorithm} is neither. "
            + (
                "A network of sigmoid layers can be exported to ranklib (write_ranklib), for the type model/ranklib"
                if any(isinstance(part, NetworkLayers) for _, part in form.parts)
                else "Members of a blend can be exported one by one"
            )
        )


def _definition(form: SumOfParts) -> tuple[str, Any]:
    if form.all_lines:
        weights = form.line("elasticsearch-ltr").weights.tolist()
        return "model/linear", dict(zip(form.names, weights, strict=True))
    try:
        return "model/xgboost+json", [_tree(tree, form.names) for tree in form.forest("elasticsearch-ltr")]
    except RecursionError:
        raise DataError("a tree is too deep for JSON readers; train with fewer leaves or a max_depth") from None


def _tree(tree: Tree, names: Sequence[str]) -> dict[str, Any]:
    number = tree.numbers()
    depth = {tree.root: 0}
    for node in range(len(tree.feature)):
        depth[tree.left[node]] = depth[tree.right[node]] = depth[node] + 1
    above = above32_finite(tree.threshold).astype(np.float64).tolist()

    def split(node: int, left: Any, right: Any) -> dict[str, Any]:
        yes, no = left["nodeid"], right["nodeid"]
        return {
            "nodeid": number[node],
            "depth": depth[node],
            "split": names[tree.feature[node]],
            "split_condition": above[node],
            "yes": yes,
            "no": no,
            "missing": yes if tree.missing_left[node] else no,
            "children": [left, right],
        }

    leaves = iter(range(len(tree.value)))

    def leaf(value: float) -> dict[str, Any]:
        return {"nodeid": number[~next(leaves)], "leaf": _single(value)}

    return nested(tree, split, leaf)


def _single(value: float) -> float:
    """The nearest float32, with the digits of a double: a reader of either type finds this float32."""
    return float(np.float32(value))


def score_elasticsearch_ltr(
    path: Path, X: np.ndarray, names: Sequence[str], *, version: str | None = None
) -> np.ndarray:
    """Scores by the plugin's rule: left if the threshold is above the value, sums in float32."""
    return score_plugin(path, X, names, rule_of(version, RULES))


def score_plugin(path: Path, X: np.ndarray, names: Sequence[str], rule: str) -> np.ndarray:
    """Scores by the rule of the plugins; ``rule`` as in `write_plugin`."""
    model = read_json(path)["model"]["model"]
    definition, readings = json.loads(model["definition"]), _readings(path)
    if not rule and any(reading.missing is None for reading in readings):
        raise DataError("the feature set has queries that do not match all documents; name the version of the plugin")
    column = columns_of(readings, X, names)
    total = np.zeros(len(X), np.float32)
    if model["type"] == "model/linear":
        for name, weight in definition.items():
            total += np.float32(weight) * np.nan_to_num(column[name], nan=0.0, posinf=np.inf, neginf=-np.inf)
        return total

    def goes_left(node: dict[str, Any]) -> np.ndarray:
        value = column[node["split"]]
        if rule == "zero":
            value = np.where(np.isnan(value), np.float32(0), value)
        left = np.float32(node["split_condition"]) > value  # false for NaN
        return left | np.isnan(value) if rule == "missing" and node["missing"] == node["yes"] else left

    for tree in definition:
        total += scored(tree, X, goes_left, lambda node: tuple(node["children"]), lambda node: node.get("leaf")).astype(
            np.float32
        )
    return total


def _readings(path: Path) -> list[Reading]:
    """How the features are read, by the feature set next to the model."""
    file = features_path(path)
    if not file.exists():
        raise DataError(f"{file}: not there; a model is scored with the feature set that was written next to it")
    return [Reading.of(each["name"], each["template"]) for each in read_json(file)["featureset"]["features"]]


def apart(form: SumOfParts, path: Path) -> list[tuple[str, str, Any]]:
    """Rows for which the plugin differs, as the user of ``missing="zero"`` wants it."""
    zero = {reading.field: True for reading in _readings(path)}
    zero |= {reading.field: False for reading in _readings(path) if reading.missing != 0}
    return missing_rows(form, lambda j: 0.0 if zero[form.names[j]] else np.nan)


def engine_reads(form: SumOfParts, path: Path, rows: np.ndarray) -> np.ndarray:
    """Whether the engine can read each row."""
    return readable(_readings(path), rows, form.names)


def exceptions(form: SumOfParts) -> dict[str, str]:
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
    reads = staticmethod(engine_reads)
    versions: ClassVar[Mapping[tuple[int, ...], str]] = RULES
