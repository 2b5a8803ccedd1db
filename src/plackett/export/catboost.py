"""CatBoost's models, as JSON."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.export._imported import MOST_FEATURES, NodeTable, constant, decisions, fitted, tree_scorer_of
from plackett.export._objects import Fields, read_object
from plackett.rankers.base import Ranker

__all__ = ["read_catboost"]

#: Where a missing value goes: ``AsIs`` compares NaN, which is not above any border.
_MISSING_ABOVE = {"AsIs": False, "AsFalse": False, "AsTrue": True}
#: Levels of a symmetric tree, which has two to this power leaves.
_MOST_LEVELS = 20
#: Losses that learn from documents one by one; the others rank.
_POINTWISE = (
    "RMSE",
    "MAE",
    "Quantile",
    "Logloss",
    "CrossEntropy",
    "Huber",
    "Expectile",
    "Poisson",
    "Tweedie",
    "MAPE",
    "Lq",
)


def read_catboost(path: str | os.PathLike[str], *, n_features: int | None = None) -> Ranker:
    """Read a CatBoost model that was saved as JSON as a ranker with the same scores.

    Write the file with ``model.save_model("model.json", format="json")``. Scores are CatBoost's ``RawFormulaVal``.
    Symmetric trees become an `ObliviousMART` or, for ranking losses, an `ObliviousLambdaMART`; other trees a `MART` or
    `LambdaMART`. CatBoost adds leaves in another order, so scores agree to the last digits of a double. Values closer
    to 0 than 1e-35 count as 0 here. Models with categorical or text features, which need CatBoost's hash tables, and
    those with several scores per row are rejected.

    Parameters
    ----------
    path
        The file.
    n_features
        Number of columns of the data to score, if more than the model has; None means the model's own.

    References
    ----------
    Prokhorenkova, Gusev, Vorobev, Dorogush, Gulin: CatBoost: unbiased boosting with categorical features. NeurIPS 2018.

    Examples
    --------
    >>> import json, tempfile
    >>> path = tempfile.mkdtemp() + "/model.json"
    >>> split = {"border": 0.5, "float_feature_index": 0, "split_type": "FloatFeature"}
    >>> model = {
    ...     "features_info": {"float_features": [{"feature_index": 0, "flat_feature_index": 0}]},
    ...     "oblivious_trees": [{"splits": [split], "leaf_values": [-1.0, 2.0]}],
    ...     "scale_and_bias": [1, [0.25]],
    ... }
    >>> json.dump(model, open(path, "w"))
    >>> read_catboost(path).predict([[0.5], [0.75]]).tolist()
    [-0.75, 2.25]
    """
    model = read_object(Path(path))
    info = model["features_info"]
    for kind in ("categorical_features", "text_features", "embedding_features"):
        if kind in info and info[kind].items():
            info.fail(
                f"the model has {kind.replace('_', ' ')}, which CatBoost turns into numbers by hash tables and "
                "statistics of its own; train it on numeric features, with categories encoded before"
            )
    features = info["float_features"].items()
    column_of = {
        field["feature_index"].whole(): field["flat_feature_index"].whole(0, MOST_FEATURES) for field in features
    }
    above = {
        field["feature_index"].whole(): _missing_above(field) if "nan_value_treatment" in field else False
        for field in features
    }
    size = max(column_of.values(), default=0) + 1
    if n_features is not None and n_features < size:
        raise DataError(f"{path}: the model has {size} features, and n_features={n_features}")
    scale, bias = _scale_and_bias(model)
    tables = [] if bias == 0.0 else [constant(bias)]
    symmetric = "oblivious_trees" in model
    trees = model["oblivious_trees" if symmetric else "trees"].items()
    tables += [(_symmetric if symmetric else _nested)(tree, column_of, above, scale) for tree in trees]
    ids = [field["feature_id"].text() if "feature_id" in field else "" for field in features]
    named = all(ids) and sorted(column_of.values()) == list(range(size)) and n_features in (None, size)
    loss = _loss(model)
    ranks = loss.partition(":")[0] not in _POINTWISE
    family = ("Oblivious" if symmetric else "") + ("LambdaMART" if ranks else "MART")
    width = size if n_features is None else n_features
    names = [name for _, name in sorted(zip(column_of.values(), ids, strict=True))] if named else None
    scorer = tree_scorer_of(tables or [constant(0.0)], width)
    return fitted(_CLASS_PATHS[family], scorer, width, f"CatBoost ({loss})", names, n_estimators=max(len(trees), 1))


_CLASS_PATHS = {
    "ObliviousLambdaMART": "pairwise.oblivious_lambdamart:ObliviousLambdaMART",
    "ObliviousMART": "pointwise.oblivious_mart:ObliviousMART",
    "LambdaMART": "pairwise.lambdamart:LambdaMART",
    "MART": "pointwise.mart:MART",
}


def _missing_above(field: Fields) -> bool:
    word = field["nan_value_treatment"].text()
    if word not in _MISSING_ABOVE:
        field.fail(f"the unknown treatment of missing values {word[:30]!r}")
    return _MISSING_ABOVE[word]


def _loss(model: Fields) -> str:
    """The loss that the model was trained with, if the file says so."""
    value: Any = model.value.get("model_info")
    for name in ("params", "loss_function", "type"):
        value = value.get(name) if isinstance(value, dict) else None
    return str(value)[:60] if value else "RMSE"


def _scale_and_bias(model: Fields) -> tuple[float, float]:
    if "scale_and_bias" not in model:
        return 1.0, 0.0
    entries = model["scale_and_bias"].items()
    if len(entries) != 2:
        model["scale_and_bias"].fail("expected a scale and a bias")
    bias = entries[1]
    if isinstance(bias.value, list):
        if len(bias.value) > 1:
            bias.fail("several scores per row; a ranker has one")
        return entries[0].real(), sum(entry.real() for entry in bias.items())
    return entries[0].real(), bias.real()


def _split(field: Fields, column_of: dict[int, int], above: dict[int, bool]) -> tuple[int, float, bool]:
    """Column, border and whether a missing value is above it."""
    if "split_type" in field and field["split_type"].text() != "FloatFeature":
        field.fail(f"a split of the kind {field['split_type'].text()[:30]!r} cannot be read")
    number = field["float_feature_index"].whole()
    if number not in column_of:
        field.fail(f"no feature {number} in features_info")
    return column_of[number], float(np.float32(field["border"].real())), above[number]


def _symmetric(tree: Fields, column_of: dict[int, int], above: dict[int, bool], scale: float) -> NodeTable:
    """All nodes of a level have the same split; bit i of a leaf's number says whether the value is above border i."""
    splits = [_split(field, column_of, above) for field in tree["splits"].items()]
    values = tree["leaf_values"].numbers() * scale
    depth = len(splits)
    if depth > _MOST_LEVELS or values.size != 1 << depth:
        tree.fail(f"{values.size} leaf values for {depth} splits")
    if not depth:
        return constant(float(values[0]))
    inner = (1 << depth) - 1
    node = np.arange(inner)
    level = np.floor(np.log2(node + 1)).astype(int)
    order = np.array([_reversed_bits(leaf, depth) for leaf in range(1 << depth)])
    pad = np.full(1 << depth, -1)
    columns = [np.append(np.array([split[c] for split in splits])[level], np.zeros(1 << depth)) for c in range(3)]
    cover = None
    if "leaf_weights" in tree:
        weights = tree["leaf_weights"].numbers()
        if weights.size != 1 << depth:
            tree.fail(f"{weights.size} leaf weights for {depth} splits")
        cover = np.append(np.zeros(inner), weights[order])
    return NodeTable(
        np.append(2 * node + 1, pad),
        np.append(2 * node + 2, pad),
        columns[0].astype(int),
        columns[1],
        decisions(columns[2] == 0),
        np.append(np.zeros(inner), values[order]),
        cover,
    )


def _reversed_bits(number: int, bits: int) -> int:
    """The first split sets the lowest bit of a leaf's number, but the highest bit of its position from the left."""
    return int(f"{number:0{bits}b}"[::-1], 2)


def _nested(tree: Fields, column_of: dict[int, int], above: dict[int, bool], scale: float) -> NodeTable:
    rows: list[tuple[int, float, bool, float, float]] = []
    left: list[int] = []
    right: list[int] = []
    stack = [(tree, -1, 0)]
    while stack:
        field, parent, side = stack.pop()
        number = len(rows)
        if parent >= 0:
            (left, right)[side][parent] = number
        left.append(-1)
        right.append(-1)
        if "split" in field:
            rows.append((*_split(field["split"], column_of, above), 0.0, 0.0))
            stack += [(field["right"], number, 1), (field["left"], number, 0)]
        else:
            weight = field["weight"].real() if "weight" in field else 1.0
            rows.append((0, 0.0, False, field["value"].real() * scale, weight))
    feature, border, missing, value, weights = (np.array(column) for column in zip(*rows, strict=True))
    return NodeTable(
        np.array(left), np.array(right), feature.astype(int), border, decisions(~missing.astype(bool)), value, weights
    )


class CatBoostFormat:
    """CatBoost's JSON."""

    kind: ClassVar[str] = "catboost"
    first_line: ClassVar[str] = r'\{\s*"(ctrs|features_info|model_info|oblivious_trees)".*'
    read = staticmethod(read_catboost)
