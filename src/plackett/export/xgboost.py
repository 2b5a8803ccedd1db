"""XGBoost's model files."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.export._forest import Forest, Tree, above32_finite
from plackett.export._form import SumOfParts, form_of
from plackett.export._imported import (
    MOST_CATEGORIES,
    MOST_FEATURES,
    NodeTable,
    constant,
    decisions,
    fitted,
    tree_scorer_of,
)
from plackett.export._objects import Fields, read_object
from plackett.export.json_trees import ends_at_largest, write_json
from plackett.export.tools import MissingToolError
from plackett.rankers.base import Ranker
from plackett.scorers.linear import LinearScorer

__all__ = ["read_xgboost", "write_xgboost"]

#: Where a set of categories and missing values go the same way, others go the other way up to this category, or the
#: largest of the set.
_LEAST_CATEGORIES = 1_023
#: Objectives whose margin is not the prediction, and what turns ``base_score`` into a margin.
_MARGINS = {
    "binary:logistic": lambda p: math.log(p / (1.0 - p)),
    "reg:logistic": lambda p: math.log(p / (1.0 - p)),
    "count:poisson": math.log,
    "reg:gamma": math.log,
    "reg:tweedie": math.log,
}


def read_xgboost(path: str | os.PathLike[str], *, n_features: int | None = None) -> Ranker:
    """Read a model file of XGBoost, JSON or UBJSON, as a ranker with the same scores.

    Scores are XGBoost's margins (``output_margin=True``), the same as its predictions for ranking and regression.
    Every row reaches the same leaves, since thresholds are the float32 numbers of the file. XGBoost adds the leaves in
    float32, so its own scores differ from these in the last of seven digits. Values closer to 0 than 1e-35 count as 0
    here. Supports ``gbtree``, ``dart`` and ``gblinear`` with one score per row; splits by category too. The
    ranker is a `LambdaMART` (objectives ``rank:…``), a `MART` or, for ``gblinear``, a `LinearRegression`.

    Parameters
    ----------
    path
        The file that ``save_model`` wrote.
    n_features
        Number of columns of the data to score, if more than the model has; None means the model's own.

    References
    ----------
    Chen, Guestrin: XGBoost: a scalable tree boosting system. KDD 2016.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> data, path = pk.datasets.make_ranking(n_queries=20, random_state=0), tempfile.mkdtemp() + "/model.json"
    >>> write_xgboost(pk.LambdaMART(n_estimators=3).fit(data), path)
    >>> read_xgboost(path).n_features_in_ == data.n_features
    True
    """
    learner = read_object(Path(path))["learner"]
    objective = learner["objective"]["name"].text()
    param = learner["learner_model_param"]
    size = param["num_feature"].whole(0, MOST_FEATURES)
    if param["num_class"].whole() > 1 or ("num_target" in param and param["num_target"].whole() > 1):
        learner.fail("several scores per row; a ranker has one")
    if n_features is not None and n_features < size:
        raise DataError(f"{path}: the model has {size} features, and n_features={n_features}")
    width = size if n_features is None else n_features
    start = float(np.float32(param["base_score"].real()))
    if objective in _MARGINS:
        try:
            start = _MARGINS[objective](start)
        except ValueError:
            param.fail(f"a base_score of {start} does not go with {objective}")
    booster = learner["gradient_booster"]
    names = None
    if "feature_names" in learner and width == size:
        names = [field.text() for field in learner["feature_names"].items()]
    kind = booster["name"].text()
    if kind == "gblinear":
        weights = booster["model"]["weights"].numbers()
        if weights.size != size + 1:
            booster.fail(f"{weights.size} weights for {size} features and a constant")
        padded = np.append(weights[:-1], np.zeros(width - size))[:, None]
        scorer: Any = LinearScorer(padded, np.array([weights[-1] + start]))
        return fitted("pointwise.linear_regression:LinearRegression", scorer, width, f"XGBoost ({objective})", names)
    if kind not in ("gbtree", "dart"):
        booster.fail(f"the booster {kind[:30]!r}; gbtree, dart and gblinear can be read")
    inner = booster["gbtree"] if kind == "dart" else booster
    trees = inner["model"]["trees"].items()
    drop = booster["weight_drop"].numbers() if kind == "dart" else np.ones(len(trees))
    if drop.size != len(trees):
        booster.fail(f"{drop.size} weights for {len(trees)} trees")
    tables = [_table(tree, float(weight)) for tree, weight in zip(trees, drop, strict=True)]
    if start:
        tables.insert(0, constant(start))
    class_path = "pairwise.lambdamart:LambdaMART" if objective.startswith("rank:") else "pointwise.mart:MART"
    scorer = tree_scorer_of(tables or [constant(0.0)], width)
    return fitted(class_path, scorer, width, f"XGBoost ({objective})", names, n_estimators=max(len(trees), 1))


def _table(tree: Fields, weight: float) -> NodeTable:
    left, right = (np.array(tree[name].numbers(np.int64)) for name in ("left_children", "right_children"))
    param = tree["tree_param"]
    if "size_leaf_vector" in param and param["size_leaf_vector"].whole() > 1:
        tree.fail("leaves with several values cannot be read")
    condition = tree["split_conditions"].numbers(np.float32, finite=False)
    leaf = left < 0
    if condition.size != leaf.size or not np.isfinite(condition[leaf]).all():
        tree.fail("split_conditions are not those of its nodes")
    below = np.nextafter(condition, np.float32(-np.inf)).astype(np.float64)  # x < t is x <= the float32 before t
    missing_left = tree["default_left"].numbers() != 0
    sets = _sets(tree, leaf)
    for node, categories in sets.items():
        # XGBoost's set goes right and all others left, NaN as the node says; ours goes left, and all others right
        if missing_left[node]:
            left[node], right[node] = right[node], left[node]
        else:
            most = max(_LEAST_CATEGORIES, int(categories.max(initial=0)))
            sets[node] = np.setdiff1d(np.arange(most + 1), categories)
    return NodeTable(
        left,
        right,
        tree["split_indices"].numbers(np.int64),
        below,
        decisions(missing_left),
        np.where(leaf, condition.astype(np.float64) * weight, 0.0),
        tree["sum_hessian"].numbers(finite=False) if "sum_hessian" in tree else None,
        tree["loss_changes"].numbers(finite=False) if "loss_changes" in tree else None,
        sets,
    )


def _sets(tree: Fields, leaf: np.ndarray) -> dict[int, np.ndarray]:
    """The categories of each node that splits by category."""
    if "split_type" not in tree:
        return {}
    by_category = tree["split_type"].numbers(np.int64)
    if by_category.shape != leaf.shape:
        tree.fail("split_type is not that of its nodes")
    wanted = np.flatnonzero((by_category != 0) & ~leaf).tolist()
    if not wanted:
        return {}
    names = ("categories", "categories_nodes", "categories_segments", "categories_sizes")
    categories, nodes, begins, sizes = (tree[name].numbers(np.int64) for name in names)
    if not nodes.shape == begins.shape == sizes.shape or sorted(nodes.tolist()) != wanted:
        tree.fail("the sets of categories are not those of its splits")
    if ((begins < 0) | (sizes < 0) | (begins + sizes > categories.size)).any():
        tree.fail("a set of categories that does not exist")
    if categories.size and not (categories.min() >= 0 and categories.max() <= MOST_CATEGORIES):
        tree.fail(f"a category outside 0…{MOST_CATEGORIES}")
    return {int(n): np.unique(categories[b : b + k]) for n, b, k in zip(nodes, begins, sizes, strict=True)}


def write_xgboost(ranker: Any, path: str | os.PathLike[str], *, feature_names: Sequence[str] | None = None) -> None:
    """Write a fitted ranker as a JSON model file of XGBoost (``Booster.load_model``, ``XGBRanker.load_model``).

    Trees are a ``gbtree``, linear models a ``gblinear``, with the objective ``rank:ndcg``. XGBoost compares ``x < t``
    and adds in float32: thresholds are moved to the next float32, so every row reaches the same leaves, and scores
    agree to about seven digits.

    Parameters
    ----------
    ranker
        A ranker of trees (blends of them too) or a linear one.
    path
        The file to write; XGBoost wants it to end in ``.json``.
    feature_names
        Names of the features; None means those of the training data. If there are none, none are written, so that
        arrays without names can be scored.

    References
    ----------
    Chen, Guestrin: XGBoost: a scalable tree boosting system. KDD 2016.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> data, path = pk.datasets.make_ranking(n_queries=20, random_state=0), tempfile.mkdtemp() + "/model.json"
    >>> write_xgboost(pk.LambdaMART(n_estimators=3).fit(data), path)
    >>> import json
    >>> json.load(open(path))["learner"]["gradient_booster"]["name"]
    'gbtree'
    """
    form = form_of(ranker, feature_names)
    size = len(form.names)
    named = feature_names is not None or hasattr(ranker, "feature_names_in_")
    bad = [name for name in form.names if named and any(letter in name for letter in "[]<")]
    if bad:
        raise DataError(f"XGBoost does not allow [, ] and < in the names of features, as in {bad[0]!r}")
    if form.all_lines:
        line = form.line("XGBoost")
        weights = np.append(line.weights, line.intercept).astype(np.float32).astype(np.float64).tolist()
        booster: dict[str, Any] = {"name": "gblinear", "model": {"boosted_rounds": 1, "weights": weights}}
    else:
        forest = form.forest("XGBoost", "trees, or a linear function alone")
        model = {
            "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(forest.n_trees)},
            "iteration_indptr": list(range(forest.n_trees + 1)),
            "tree_info": [0] * forest.n_trees,
            "trees": [_tree(tree, t, size) for t, tree in enumerate(forest)],
        }
        booster = {"name": "gbtree", "model": model}
    learner = {
        "attributes": {},
        "feature_names": list(form.names) if named else [],
        "feature_types": ["float"] * size if named else [],
        "gradient_booster": booster,
        "learner_model_param": {
            "base_score": "0E0",
            "boost_from_average": "0",
            "num_class": "0",
            "num_feature": str(size),
            "num_target": "1",
        },
        "objective": {"name": "rank:ndcg", "lambdarank_param": {}},
    }
    write_json(path, {"learner": learner, "version": [2, 1, 0]}, indent=None)


def _tree(tree: Tree, number: int, n_features: int) -> dict[str, Any]:
    order = tree.paired()  # XGBoost finds a right child next to the left one, whatever right_children says
    size = len(order)
    columns: dict[str, list[Any]] = {
        name: [0] * size
        for name in ("left_children", "right_children", "parents", "split_indices", "split_conditions", "default_left")
    }
    columns["parents"][0] = 2147483647
    above = above32_finite(tree.threshold).astype(np.float64).tolist()
    for node, index in order.items():
        if node < 0:
            columns["left_children"][index] = columns["right_children"][index] = -1
            columns["split_conditions"][index] = float(np.float32(tree.value[~node]))
            continue
        for side, child in (("left_children", tree.left[node]), ("right_children", tree.right[node])):
            columns[side][index] = order[child]
            columns["parents"][order[child]] = index
        columns["split_indices"][index] = tree.feature[node]
        columns["split_conditions"][index] = above[node]
        columns["default_left"][index] = int(tree.missing_left[node])
    empty: dict[str, list[Any]] = {
        name: [] for name in ("categories", "categories_nodes", "categories_segments", "categories_sizes")
    }
    param = {"num_deleted": "0", "num_feature": str(n_features), "num_nodes": str(size), "size_leaf_vector": "1"}
    zeros = {name: [0.0] * size for name in ("base_weights", "loss_changes", "sum_hessian")}
    return columns | empty | zeros | {"split_type": [0] * size, "id": number, "tree_param": param}


def score_xgboost(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores by XGBoost."""
    try:
        import xgboost
    except ImportError:
        raise MissingToolError("xgboost is not installed") from None
    booster = xgboost.Booster({"nthread": 1})
    booster.load_model(str(path))
    table = xgboost.DMatrix(X, feature_names=booster.feature_names, nthread=1)
    return booster.predict(table, output_margin=True)


def exceptions(form: SumOfParts) -> dict[str, str]:
    """What the target cannot express."""
    if any(ends_at_largest(part) for _, part in form.parts if isinstance(part, Forest)):
        return {"largest numbers": "JSON has no infinite threshold"}
    return {}


class XGBoostFormat:
    """XGBoost's JSON, and for reading its UBJSON."""

    kind: ClassVar[str] = "xgboost"
    first_line: ClassVar[str] = r'\{\s*"(learner|version)".*|\{L.{8}learner.*'
    suffix: ClassVar[str] = ".json"
    proof: ClassVar[str] = "scored by XGBoost"
    tolerance: ClassVar[float] = 1e-5
    #: XGBoost does not accept them.
    refuses: ClassVar[tuple[str, ...]] = ("infinite values",)
    read = staticmethod(read_xgboost)
    write = staticmethod(write_xgboost)
    score = staticmethod(score_xgboost)
    exceptions = staticmethod(exceptions)
