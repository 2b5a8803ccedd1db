"""Models for Elasticsearch's own Learning to Rank (8.12 and later), as eland would store them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett.export._forest import Forest, Tree, largest_double
from plackett.export._form import SumOfParts, form_of
from plackett.export._readings import Reading, as_read, columns_of
from plackett.export.json_trees import read_json, write_json

__all__ = ["write_elasticsearch"]


def write_elasticsearch(
    ranker: Any, path: str | os.PathLike[str], *, feature_names: Sequence[str] | None = None
) -> None:
    """Write a tree ranker for Elasticsearch's own Learning to Rank, which reads trees only.

    The file is the body of ``PUT _ml/trained_models/NAME``: the ensemble in the format of Elastic's client eland, and a
    feature extractor for each feature, which reads a numeric field of its name; replace these by your queries. (eland
    itself accepts XGBoost's and LightGBM's regressors, but neither `LGBMRanker` nor a ranker with a loss of our own.)

    Elasticsearch computes in double, and a missing value is NaN. Thresholds are written so that values need not be
    rounded to float32, as `predict` does. Elasticsearch shifts scores so that none is negative; orders stay the same.

    Elasticsearch refuses queries that score below 0. So ``NAME`` is the part of a feature above 0, and where the model
    has thresholds below 0, ``NAME_negative`` is the part below, without the sign; scores stay the same.

    Parameters
    ----------
    ranker
        A ranker of trees, or a blend of such rankers.
    path
        The file to write.
    feature_names
        Names of the features; None means those of the training data, or ``f1``, ``f2``, …

    Examples
    --------
    >>> import json, tempfile
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=20, random_state=0)
    >>> path = tempfile.mkdtemp() + "/model.json"
    >>> write_elasticsearch(pk.LambdaMART(n_estimators=3).fit(data), path)
    >>> len(json.load(open(path))["definition"]["trained_model"]["ensemble"]["trained_models"])
    3
    """
    form = form_of(ranker, feature_names)
    form.only((Forest,), "Elasticsearch", "trees")
    read, readings = as_read(form, "missing")
    forest, names = read.forest("Elasticsearch"), list(read.names)
    trees = [
        {"tree": {"feature_names": names, "tree_structure": _nodes(tree), "target_type": "regression"}}
        for tree in forest
    ]
    ensemble = {
        "feature_names": names,
        "trained_models": trees,
        "aggregate_output": {"weighted_sum": {"weights": [1.0] * len(trees)}},
        "target_type": "regression",
    }
    extractors = [{"query_extractor": {"feature_name": each.name, "query": each.query()}} for each in readings]
    content = {
        "description": f"{form.algorithm}, written by plackett",
        "input": {"field_names": names},
        "inference_config": {"learning_to_rank": {"feature_extractors": extractors}},
        "definition": {"preprocessors": [], "trained_model": {"ensemble": ensemble}},
    }
    write_json(path, content, indent=None)


def _nodes(tree: Tree) -> list[dict[str, Any]]:
    # infinity is not JSON; no double is above the largest one but infinity itself
    thresholds = np.minimum(largest_double(tree.threshold), np.finfo(np.float64).max).tolist()
    number = tree.numbers()
    nodes: list[dict[str, Any]] = []
    for node, index in number.items():
        if node < 0:
            nodes.append({"node_index": index, "leaf_value": tree.value[~node]})
            continue
        nodes.append(
            {
                "node_index": index,
                "split_feature": tree.feature[node],
                "decision_type": "lte",
                "threshold": thresholds[node],
                "default_left": tree.missing_left[node],
                "left_child": number[tree.left[node]],
                "right_child": number[tree.right[node]],
            }
        )
    return nodes


def score_elasticsearch(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores by Elasticsearch's rule: the decision type in double, NaN by default_left, a weighted sum."""
    content = read_json(path)
    model = content["definition"]["trained_model"]["ensemble"]
    column = columns_of(_readings(content), X, names)
    values = np.stack([column[name] for name in model["feature_names"]], axis=1).astype(np.float64)
    compare = {"lte": np.less_equal, "lt": np.less, "gt": np.greater, "gte": np.greater_equal}
    total = np.zeros(len(X))
    for weight, part in zip(model["aggregate_output"]["weighted_sum"]["weights"], model["trained_models"], strict=True):
        nodes = part["tree"]["tree_structure"]
        at = np.zeros(len(X), np.int64)
        scores = np.zeros(len(X))
        for index, node in enumerate(nodes):  # children come after their parents
            here = at == index
            if "leaf_value" in node:
                scores[here] = node["leaf_value"]
                continue
            value = values[:, node["split_feature"]]
            left = np.where(
                np.isnan(value), node["default_left"], compare[node["decision_type"]](value, node["threshold"])
            )
            at[here] = np.where(left, node["left_child"], node["right_child"])[here]
        total += weight * scores
    return total


def _readings(content: dict[str, Any]) -> list[Reading]:
    extractors = content["inference_config"]["learning_to_rank"]["feature_extractors"]
    return [
        Reading.of(each["query_extractor"]["feature_name"], each["query_extractor"]["query"]) for each in extractors
    ]


def exceptions(form: SumOfParts) -> dict[str, str]:
    """What the target cannot express."""
    if any(np.isinf(part.threshold).any() for _, part in form.parts if isinstance(part, Forest)):
        return {"infinite values": "JSON has no infinite threshold"}
    return {}


class ElasticsearchFormat:
    """Elasticsearch's own Learning to Rank."""

    kind: ClassVar[str] = "elasticsearch"
    suffix: ClassVar[str] = ".json"
    proof: ClassVar[str] = "scored by Elasticsearch's rule (lte in double)"
    write = staticmethod(write_elasticsearch)
    score = staticmethod(score_elasticsearch)
    exceptions = staticmethod(exceptions)
