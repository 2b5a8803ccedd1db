"""Models for Solr's Learning to Rank module."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.export._forest import Forest, Tree
from plackett.export._form import SumOfParts, form_of
from plackett.export.json_trees import features_path, kept_missing, missing_rows, nested, read_json, scored, write_json
from plackett.scorers.parts import NetworkLayers

__all__ = ["write_solr"]

_MODELS = "org.apache.solr.ltr.model."
#: Solr adds this to every threshold, in float32.
_SLACK = np.float32(1e-6)
_ACTIVATIONS = ("identity", "relu", "sigmoid", "tanh")


def write_solr(
    ranker: Any,
    path: str | os.PathLike[str],
    *,
    feature_names: Sequence[str] | None = None,
    missing: str | None = None,
) -> None:
    """Write a fitted ranker for Solr's Learning to Rank module, and its feature store.

    ``model.json`` goes to ``schema/model-store`` and ``model.features.json``, written next to it, to
    ``schema/feature-store``. The feature store reads each feature from a field of its name; replace these by your
    queries. Trees become a `MultipleAdditiveTreesModel`, linear models a `LinearModel`, networks of sigmoid layers a
    `NeuralNetworkModel`.

    Solr computes in float32 and adds 1e-6 to every threshold: thresholds are written so that the sum is the right one.
    Closer to 0 than 1e-6 that is possible only to about 1e-13, so a value that close to such a threshold may be on the
    wrong side; zeros never are. A few thresholds, most of them below 0, are not the sum of any float32 and 1e-6: a
    value equal to such a threshold, or the next float32 if the threshold is a round number, is on the wrong side, too.
    Models with missing values need a Solr that knows ``isNullSameAsZero`` and ``missing`` (9.2); both, and the default
    value NaN of the features, are written only where a missing value is not treated as 0. What an `Imputer` before a
    linear model or network fills in becomes the default value of the feature. The constant of a linear model is left
    out, as Solr has none; orders do not depend on it. In Solr, a tree that names a feature which is not in the model
    counts 0: upload both files.

    Parameters
    ----------
    ranker
        A ranker of trees (blends of them too), a linear one, or a network of sigmoid layers, also behind an `Imputer`
        in a pipeline.
    path
        The file to write; its name up to the first dot becomes the name of the model and of its feature store.
    feature_names
        Names of the features in Solr; None means those of the training data, or ``f1``, ``f2``, …
    missing
        ``"zero"`` reads 0 for every field that is missing, for an older Solr; a warning names the features for which
        the model has learned something else.

    Examples
    --------
    >>> import json, tempfile
    >>> import plackett as pk
    >>> folder = tempfile.mkdtemp()
    >>> ranker = pk.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> write_solr(ranker, folder + "/model.json", feature_names=["title_bm25"])
    >>> json.load(open(folder + "/model.json"))["class"]
    'org.apache.solr.ltr.model.LinearModel'
    """
    form = form_of(ranker, feature_names, fills=True)
    name = Path(path).name.split(".")[0]
    kept = kept_missing(form, missing, "Solr")
    kind, params = _model(form, any(kept))
    features = [
        {
            "store": name,
            "name": word,
            "class": "org.apache.solr.ltr.feature.FieldValueFeature",
            "params": {"field": word}
            | ({"defaultValue": "NaN"} if keep else {})
            | ({} if form.fills is None else {"defaultValue": _text(float(form.fills[j]))}),
        }
        for j, (word, keep) in enumerate(zip(form.names, kept, strict=True))
    ]
    model = {"store": name, "name": name, "class": _MODELS + kind, "features": [{"name": word} for word in form.names]}
    write_json(features_path(path), features)
    write_json(path, model | {"params": params})


def _model(form: SumOfParts, tells_missing: bool) -> tuple[str, dict[str, Any]]:
    if form.all_lines:
        return "LinearModel", {"weights": dict(zip(form.names, form.line("Solr").weights.tolist(), strict=True))}
    if form.all_trees:
        forest = form.forest("Solr")
        missing_is_zero = not tells_missing
        trees = [{"weight": "1", "root": _tree(tree, form.names, missing_is_zero)} for tree in forest]
        return "MultipleAdditiveTreesModel", ({} if missing_is_zero else {"isNullSameAsZero": False}) | {"trees": trees}
    if len(form.parts) == 1 and isinstance(form.parts[0][1], NetworkLayers):
        return "NeuralNetworkModel", {"layers": _layers(form.parts[0][1], form.parts[0][0])}
    raise DataError(f"Solr has no model that is a sum of several kinds, as this {form.algorithm} is")


def _tree(tree: Tree, names: Sequence[str], missing_is_zero: bool) -> dict[str, Any]:
    before = slackless(tree.threshold).tolist()

    def split(node: int, left: Any, right: Any) -> dict[str, Any]:
        branch = {"feature": names[tree.feature[node]], "threshold": _text(before[node]), "left": left, "right": right}
        return branch if missing_is_zero else branch | {"missing": "left" if tree.missing_left[node] else "right"}

    return nested(tree, split, lambda value: {"value": _text(float(np.float32(value)))})


def _text(value: float) -> str:
    return repr(value).replace("inf", "Infinity")


def slackless(threshold: np.ndarray) -> np.ndarray:
    """The float32 whose sum with 1e-6 is each threshold.

    Failing that, the sum is the closest below, so that only the threshold itself is on the wrong side; or the closest
    above where the threshold is the rounder of the two numbers, such as -1, and the more likely one in data.
    """
    near = (threshold.astype(np.float64) - float(_SLACK)).astype(np.float32)
    candidates = [near]
    for end in (np.inf, -np.inf):
        step = near
        for _ in range(3):
            step = np.nextafter(step, np.float32(end))
            candidates.append(step)
    table = np.stack(candidates)
    gives = table + _SLACK
    below = np.where(gives <= threshold, gives, -np.inf).argmax(axis=0)
    above = np.where(gives >= threshold, gives, np.inf).argmin(axis=0)
    rounder = _roundness(threshold) > _roundness(np.nextafter(threshold, np.float32(np.inf)))
    rounder &= np.abs(threshold) >= 1e-6  # closer to 0, zero itself must stay on its side
    return np.take_along_axis(table, np.where(rounder, above, below)[None], axis=0)[0]


def _roundness(values: np.ndarray) -> np.ndarray:
    """The lowest bit that is set: higher for numbers of fewer digits."""
    bits = values.astype(np.float32).view(np.int32).astype(np.int64)
    return bits & -bits


def _layers(network: NetworkLayers, factor: float) -> list[dict[str, Any]]:
    if network.log1p:
        raise DataError("Solr cannot take logarithms of features: train with log1p=False to export the network")
    layers = []
    for layer in network.folded():
        if layer.norm is not None or layer.skip or layer.activation not in _ACTIVATIONS:
            raise DataError("Solr's networks have no normalised or skipping layers: train with architecture='sigmoid'")
        matrix, bias = layer.weights.T.tolist(), layer.bias.tolist()
        layers.append({"matrix": matrix, "bias": bias, "activation": layer.activation})
    if factor != 1.0:
        layers.append({"matrix": [[factor]], "bias": [0.0], "activation": "identity"})
    return layers


def score_solr(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores by Solr's rule: left if ``x <= threshold + 1e-6``, everything in float32."""
    model = read_json(path)
    params, read = model["params"], _read_as(path)
    column = {
        name: np.where(np.isnan(X[:, j]), np.float32(read.get(name, 0.0)), X[:, j]) for j, name in enumerate(names)
    }
    rows = np.stack([column[feature["name"]] for feature in model["features"]], axis=1)
    if model["class"].endswith("LinearModel"):
        weights = np.array([params["weights"][feature["name"]] for feature in model["features"]], np.float32)
        return (rows * weights).sum(axis=1, dtype=np.float32)
    if model["class"].endswith("NeuralNetworkModel"):
        functions: dict[str, Any] = {
            "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
            "tanh": np.tanh,
            "identity": lambda z: z,
        }
        for layer in params["layers"]:
            matrix, bias = (np.array(layer[word], np.float32) for word in ("matrix", "bias"))
            rows = functions[layer["activation"]](rows @ matrix.T + bias)
        return rows[:, 0]

    def goes_left(node: dict[str, Any]) -> np.ndarray:
        value, threshold = column[node["feature"]], np.float32(node["threshold"]) + _SLACK
        if params.get("isNullSameAsZero", True):
            return np.nan_to_num(value, nan=0.0, posinf=np.inf, neginf=-np.inf) <= threshold
        return np.where(np.isnan(value), node["missing"] == "left", value <= threshold)

    total = np.zeros(len(X), np.float32)
    for tree in params["trees"]:
        values = scored(
            tree["root"],
            X,
            goes_left,
            lambda node: (node["left"], node["right"]),
            lambda node: float(node["value"]) if "value" in node else None,
        )
        total += np.float32(tree["weight"]) * values.astype(np.float32)
    return total


def _read_as(path: Path) -> dict[str, float]:
    """What a feature is for a document without its field, by the feature store next to the model."""
    if not features_path(path).exists():
        return {}
    return {
        feature["name"]: float(feature["params"].get("defaultValue", 0.0)) for feature in read_json(features_path(path))
    }


def _between(forest: Forest) -> list[tuple[str, str, Any]]:
    """Rows with a value between a threshold that is not the sum of any float32 and 1e-6, and the sum nearby."""
    reached = slackless(forest.threshold) + _SLACK
    missed = (reached != forest.threshold) & (np.abs(forest.threshold) >= 1e-6) & np.isfinite(forest.threshold)
    low, high = np.minimum(reached, forest.threshold)[missed], np.maximum(reached, forest.threshold)[missed]
    ranges = set(zip(forest.feature[missed].tolist(), low, high, strict=True))
    if not ranges:
        return []

    def chosen(rows: np.ndarray) -> np.ndarray:
        matches = np.zeros(len(rows), bool)
        for j, after, last in ranges:
            matches |= (rows[:, j] > after) & (rows[:, j] <= last)
        return matches

    why = "Solr adds 1e-6 to thresholds, and no float32 gives the sum: one value is on the wrong side"
    return [("on unreachable thresholds", why, chosen)]


def apart(form: SumOfParts, path: Path) -> list[tuple[str, str, Any]]:
    """Rows for which Solr may differ: values closer to 0 than 1e-6, but not 0, and missing ones read as 0 on demand."""
    if not form.all_trees:
        return []
    read = _read_as(path)
    rows = missing_rows(form, lambda j: read.get(form.names[j], 0.0))
    rows += _between(form.forest("Solr"))
    why = "thresholds closer to 0 than 1e-6 are exact to 1e-13 only"
    return [*rows, ("values below 1e-06", why, lambda rows: ((rows != 0) & (np.abs(rows) < 1e-6)).any(axis=1))]


class SolrFormat:
    """Solr's Learning to Rank module."""

    kind: ClassVar[str] = "solr"
    suffix: ClassVar[str] = ".json"
    proof: ClassVar[str] = "scored by Solr's rule (x <= threshold + 1e-6 in float32)"
    tolerance: ClassVar[float] = 1e-5
    without_constant: ClassVar[bool] = True
    write = staticmethod(write_solr)
    score = staticmethod(score_solr)
    apart = staticmethod(apart)
