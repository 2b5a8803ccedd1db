"""Fitted models of scikit-learn as rankers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.export._imported import NodeTable, constant, decisions, fitted, tree_scorer_of
from plackett.rankers.base import Ranker
from plackett.scorers.linear import LinearScorer

__all__ = ["from_sklearn"]


def from_sklearn(model: Any) -> Ranker:
    """Turn a fitted regressor or binary classifier of scikit-learn into a ranker with the same scores.

    ====================================================  ==========================================
    scikit-learn                                          ranker
    ====================================================  ==========================================
    `DecisionTree…`, `ExtraTree…`                         `MART` of one tree
    `RandomForest…`, `ExtraTrees…`                        `RandomForest`
    `GradientBoosting…`, `HistGradientBoosting…`          `MART`
    linear models with ``coef_`` and ``intercept_``       `LinearRegression`
    ====================================================  ==========================================

    A regressor's score is its prediction (of a generalised linear model, its linear part, in the same order). A
    classifier's is its `decision_function` where it has one, and otherwise the probability of its second class. A
    pipeline of `StandardScaler`, `MinMaxScaler` or `MaxAbsScaler` and a linear model is one linear model. Rankers round
    features to float32, as scikit-learn's trees do (`HistGradientBoosting…` does not, so give it float32 to compare).
    Values closer to 0 than 1e-35 count as 0. Categories of histogram gradient boosting must
    be whole numbers from 0, or text in columns with names.

    There is no reader of files: scikit-learn's are pickles, and reading a pickle runs code. Load it yourself, if you
    trust it.

    Parameters
    ----------
    model
        The fitted estimator.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0])
    >>> from_sklearn(tree).predict([[1.5], [1.75]]).tolist()
    [0.0, 3.0]
    """
    scale: np.ndarray | None = None
    shift: np.ndarray | None = None
    name = type(model).__name__
    if name == "Pipeline":
        for _, step in model.steps[:-1]:
            factor, offset = _scaling(step)
            scale = factor if scale is None else scale * factor
            shift = offset if shift is None else shift * factor + offset
        model = model.steps[-1][1]
        name = type(model).__name__
    size = getattr(model, "n_features_in_", None)
    if size is None:
        raise DataError(f"a {name} cannot be read; give a fitted model of scikit-learn")
    names = getattr(model, "feature_names_in_", None) if scale is None else None
    class_path, scorer = _scorer(model, name)
    if scale is not None and shift is not None:
        if not isinstance(scorer, LinearScorer):
            raise DataError(f"a pipeline that ends in a {name} cannot be read; scalers fit before linear models only")
        intercept = scorer.intercept + shift @ scorer.weights
        scorer = LinearScorer(scorer.weights * scale[:, None], intercept)
    ranker = fitted(class_path, scorer, int(size), f"scikit-learn ({name})", None if names is None else list(names))
    if texts := _texts(model):
        ranker.set_categories({str(names[column]): values for column, values in texts.items()})  # type: ignore[index]
    return ranker


def _scaling(step: Any) -> tuple[np.ndarray, np.ndarray]:
    """Factor and offset of each feature."""
    name, size = type(step).__name__, getattr(step, "n_features_in_", 0)
    if name == "StandardScaler":
        scale = np.ones(size) if step.scale_ is None else 1.0 / step.scale_
        mean = np.zeros(size) if step.mean_ is None else step.mean_
        return scale, -mean * scale
    if name == "MinMaxScaler" and not step.clip:
        return step.scale_, step.min_
    if name == "MaxAbsScaler":
        return 1.0 / step.scale_, np.zeros(size)
    raise DataError(f"a pipeline with a {name} cannot be read; StandardScaler, MinMaxScaler and MaxAbsScaler can")


def _scorer(model: Any, name: str) -> tuple[str, Any]:
    for kind, read in _READERS.items():
        if name in (f"{kind}Regressor", f"{kind}Classifier"):
            return read(model)
    if hasattr(model, "coef_") and hasattr(model, "intercept_"):
        return _linear(model, name)
    known = ", ".join(f"{kind}…" for kind in _READERS)
    raise DataError(f"a {name} cannot be read; {known} and linear models can")


def _linear(model: Any, name: str) -> tuple[str, Any]:
    weights = np.asarray(model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_, np.float64)
    weights = weights.reshape(-1, model.n_features_in_)
    if weights.shape[0] != 1:
        raise DataError(f"this {name} has {weights.shape[0]} scores per row; a ranker has one")
    intercept = np.asarray(model.intercept_, np.float64).reshape(-1)[:1]
    return "pointwise.linear_regression:LinearRegression", LinearScorer(weights.T.copy(), intercept.copy())


def _table(tree: Any, values: np.ndarray, factor: float) -> NodeTable:
    """A `sklearn.tree._tree.Tree`; ``values`` are those of its nodes."""
    children = tree.children_left, tree.children_right
    missing = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count, np.uint8))
    weight, impurity = tree.weighted_n_node_samples, tree.impurity
    split = children[0] >= 0
    gain = np.zeros(tree.node_count)
    left, right = (child[split] for child in children)
    gain[split] = (weight * impurity)[split] - (weight * impurity)[left] - (weight * impurity)[right]
    return NodeTable(
        children[0],
        children[1],
        np.maximum(tree.feature, 0),
        tree.threshold.astype(np.float64),
        decisions(missing != 0),
        np.asarray(values, np.float64) * factor,
        tree.n_node_samples.astype(np.float64),
        gain,
    )


def _node_values(model: Any) -> np.ndarray:
    """One value per node of a single tree: the mean, or the probability of the second class."""
    values = model.tree_.value
    if getattr(model, "n_outputs_", 1) != 1:
        raise DataError(f"a {type(model).__name__} of {model.n_outputs_} outputs; a ranker has one score")
    if not hasattr(model, "classes_"):
        return values[:, 0, 0]
    _binary(model)
    return values[:, 0, 1] / values[:, 0, :].sum(axis=1)


def _binary(model: Any) -> None:
    if len(model.classes_) != 2:
        raise DataError(f"a {type(model).__name__} of {len(model.classes_)} classes; a ranker has one score: use two")


def _single(model: Any) -> tuple[str, Any]:
    table = _table(model.tree_, _node_values(model), 1.0)
    return "pointwise.mart:MART", tree_scorer_of([table], model.n_features_in_)


def _bagged(model: Any) -> tuple[str, Any]:
    members = model.estimators_
    tables = [_table(member.tree_, _node_values(member), 1.0 / len(members)) for member in members]
    return "pointwise.random_forest:RandomForest", tree_scorer_of(tables, model.n_features_in_)


def _boosted(model: Any) -> tuple[str, Any]:
    if hasattr(model, "classes_"):
        _binary(model)
    if model.init_ != "zero" and type(model.init_).__name__ not in ("DummyRegressor", "DummyClassifier"):
        raise DataError(f"boosting that starts from a {type(model.init_).__name__} cannot be read")
    row = np.zeros((1, model.n_features_in_), np.float32)
    start = float(np.ravel(model._raw_predict_init(row))[0])
    tables = [
        _table(member.tree_, member.tree_.value[:, 0, 0], model.learning_rate) for member in model.estimators_[:, 0]
    ]
    return "pointwise.mart:MART", tree_scorer_of([constant(start), *tables], model.n_features_in_)


def _histogram(model: Any) -> tuple[str, Any]:
    if hasattr(model, "classes_"):
        _binary(model)
    start = float(np.ravel(model._baseline_prediction)[0])
    tables = [constant(start)]
    columns, values = _columns_of_histogram(model)
    for stage in model._predictors:
        nodes = stage[0].nodes
        leaf = nodes["is_leaf"].astype(bool)
        left, right = (np.where(leaf, -1, nodes[side].astype(np.int64)) for side in ("left", "right"))
        sets = {}
        for node in np.flatnonzero((nodes["is_categorical"] != 0) & ~leaf).tolist():
            known = values[int(nodes["feature_idx"][node])]
            bits = np.unpackbits(
                stage[0].raw_left_cat_bitsets[nodes["bitset_idx"][node]].view(np.uint8), bitorder="little"
            )
            goes_left = bits[: known.size] != 0
            if nodes["missing_go_to_left"][node]:  # unknown categories do too: the set is that of the right
                left[node], right[node] = right[node], left[node]
                goes_left = ~goes_left
            sets[node] = known[goes_left]
        tables.append(
            NodeTable(
                left,
                right,
                columns[nodes["feature_idx"].astype(np.int64)],
                nodes["num_threshold"].astype(np.float64),
                decisions(nodes["missing_go_to_left"] != 0),
                nodes["value"].astype(np.float64),
                nodes["count"].astype(np.float64),
                nodes["gain"].astype(np.float64),
                sets,
            )
        )
    return "pointwise.mart:MART", tree_scorer_of(tables, model.n_features_in_)


def _columns_of_histogram(model: Any) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """The column of each feature of histogram gradient boosting, which puts categories first, and their numbers."""
    size = model.n_features_in_
    if getattr(model, "_preprocessor", None) is None:
        return np.arange(size), {}
    mask = np.asarray(model.is_categorical_, bool)
    columns = np.concatenate([np.flatnonzero(mask), np.flatnonzero(~mask)])
    encoder = model._preprocessor.named_transformers_["encoder"]
    text = _texts(model)
    numbers = {}
    for j, categories in enumerate(encoder.categories_):
        if columns[j] in text:
            numbers[j] = np.arange(len(text[columns[j]]))
            continue
        codes = np.asarray(categories, np.float64)
        codes = codes[~np.isnan(codes)]
        if ((codes < 0) | (codes != np.floor(codes))).any():
            raise DataError(
                f"the categories of column {columns[j]} are {codes[:3].tolist()}…; whole numbers from 0 can be read, "
                "and text in columns with names"
            )
        numbers[j] = codes.astype(np.int64)
    return columns, numbers


def _texts(model: Any) -> dict[int, list[Any]]:
    """By column: the categories that are not numbers, in the order of their codes."""
    if getattr(model, "_preprocessor", None) is None:
        return {}
    texts = {}
    columns = np.flatnonzero(np.asarray(model.is_categorical_, bool)).tolist()
    for column, categories in zip(columns, model._preprocessor.named_transformers_["encoder"].categories_, strict=True):
        if np.asarray(categories).dtype.kind not in "iufb":
            if not hasattr(model, "feature_names_in_"):
                raise DataError(
                    f"the categories of column {column} are text: fit to a frame, so that columns have names"
                )
            texts[column] = [value for value in categories if value == value and value is not None]
    return texts


#: By the beginning of the class's name.
_READERS: dict[str, Callable[[Any], tuple[str, Any]]] = {
    "DecisionTree": _single,
    "ExtraTree": _single,
    "RandomForest": _bagged,
    "ExtraTrees": _bagged,
    "GradientBoosting": _boosted,
    "HistGradientBoosting": _histogram,
}
