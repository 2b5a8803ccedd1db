"""What is exported: a fitted ranker as a weighted sum of forests, linear functions and networks, in its own numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.data.imputer import Imputer
from plackett.data.query_normalizer import QueryNormalizer
from plackett.data.reference import below_zero
from plackett.export._forest import Forest, Tree
from plackett.feature_selection.selector import FeatureSelector
from plackett.scorers.parts import Line, NetworkLayers, Steps
from plackett.scorers.scoring import Scoring
from plackett.scorers.trees.arrays import TreeArrays

#: What an export writes: trees of TreeArrays and of Steps are a forest here.
Part = Forest | Line | NetworkLayers


@dataclass(frozen=True)
class SumOfParts:
    """A ranker whose score is ``sum(factor * part(x))``, in this order, in float64.

    Parameters
    ----------
    names
        Names of the features.
    parts
        Factor and function of each part.
    algorithm
        The ranker it comes from.
    signed
        Features that may well be below 0, as far as is known from the training data.
    normalised
        Method of a `QueryNormalizer` before the ranker; empty if there is none.
    fills
        What an `Imputer` before the ranker makes of a missing value of each feature; None if there is none, or if it is
        part of the trees.
    fills_first
        Whether missing values are filled in before the features are normalised.
    """

    names: tuple[str, ...]
    parts: tuple[tuple[float, Part], ...]
    algorithm: str
    signed: np.ndarray
    normalised: str = ""
    fills: np.ndarray | None = None
    fills_first: bool = False

    @property
    def takes_missing(self) -> bool:
        """Whether NaN is a value like any other: where everything is a tree."""
        return self.all_trees

    def forest(self, target: str, what: str = "trees") -> Forest:
        """All parts as one forest; refused where one of them is not: ``what`` is all that the target reads."""
        self.only((Forest,), target, what)
        return Forest.join([tree for factor, part in self.parts for tree in part.scaled(factor)])  # type: ignore[union-attr]

    def line(self, target: str, what: str = "a linear function") -> Line:
        """All parts as one linear function; refused where one of them is not: ``what`` is all that the target reads."""
        self.only((Line,), target, what)
        weights, intercept = np.zeros(len(self.names)), 0.0
        for factor, part in self.parts:
            if isinstance(part, Line):
                weights, intercept = weights + factor * part.weights, intercept + factor * part.intercept
        return Line(weights, intercept)

    def only(self, kinds: tuple[type, ...], target: str, what: str) -> None:
        """Refuse parts of other kinds than a target has."""
        others = [_WORDS[type(part)] for _, part in self.parts if not isinstance(part, kinds)]
        if others:
            raise DataError(
                f"{target} cannot express this {self.algorithm}: it has {others[0]}, and {target} reads only {what}"
            )

    @property
    def all_trees(self) -> bool:
        """Whether there is nothing but trees."""
        return all(isinstance(part, Forest) for _, part in self.parts)

    @property
    def all_lines(self) -> bool:
        """Whether there is nothing but linear functions."""
        return all(isinstance(part, Line) for _, part in self.parts)


#: Methods of normalisation that source code has, in the order of their numbers there.
METHODS = ("minmax", "zscore", "sum")
_WORDS: dict[type, str] = {Forest: "trees", Line: "a linear part", NetworkLayers: "a network"}


def names_of(model: Any, given: Sequence[str] | None = None) -> tuple[str, ...]:
    """Names of the features: those given, those of the training data, or ``f1``, ``f2``, …"""
    size = int(model.n_features_in_)
    if given is not None:
        names = tuple(str(name) for name in given)
        if len(names) != size:
            raise DataError(f"{len(names)} feature names for a model of {size} features")
    else:
        learned = getattr(model, "feature_names_in_", None)
        names = tuple(f"f{j + 1}" for j in range(size)) if learned is None else tuple(str(name) for name in learned)
    check_names(names)
    return names


#: Control characters below the space, halves of characters, and code points that are never one.
_UNUSABLE = re.compile("[\\x00-\\x1f\\ud800-\\udfff\\ufffe\\uffff]")


def check_names(names: Sequence[str]) -> None:
    """Refuse names of features that no tool could hold: empty, with control or undefined characters, or given twice."""
    bad = next((name for name in names if not name.strip() or _UNUSABLE.search(name)), None)
    if bad is not None:
        raise DataError(f"{bad!r} cannot be the name of a feature")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"the feature name {twice!r} occurs twice")


def features_of(data: Any, form: SumOfParts) -> np.ndarray:
    """The features of a dataset or table, which must be as many as those of the form."""
    X = data.X if isinstance(data, RankingDataset) else np.asarray(data, np.float32)
    X = np.asarray(dense(X), np.float32)
    if X.ndim != 2 or X.shape[1] != len(form.names):
        raise DataError(f"the data has {X.shape[-1]} features, and the ranker {len(form.names)}")
    return X


def form_of(
    model: Any, feature_names: Sequence[str] | None = None, *, lists: bool = False, fills: bool = False
) -> SumOfParts:
    """The exported form of a fitted ranker; raises a `DataError` that says why if it has none.

    With ``lists``, the target scores all documents of a query together, so that they can be normalised before. With
    ``fills``, it can put a number in place of a missing value. Without it, an `Imputer` is exported together with trees
    only, where it decides the branch that a missing value takes.

    >>> import plackett as pk
    >>> ranker = pk.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> form_of(ranker).all_lines
    True
    """
    if hasattr(model, "steps"):
        return _of_pipeline([step for _, step in model.steps], feature_names, lists, fills)
    if not isinstance(model, Scoring):
        raise DataError(f"a {type(model).__name__} cannot be exported; give a fitted ranker")
    model.check_fitted()
    parts = _parts(model)
    signed = below_zero(getattr(model, "reference_", None), int(model.n_features_in_))
    return SumOfParts(names_of(model, feature_names), tuple(parts), model.algorithm, signed)


def _of_pipeline(steps: list[Any], feature_names: Sequence[str] | None, lists: bool, fills: bool) -> SumOfParts:
    *steps, ranker = steps
    first = steps[0] if steps else ranker
    form = form_of(ranker)
    for step in reversed(steps):
        kind = next((kind for kind in _STEPS if isinstance(step, kind)), None)
        if kind is None:
            raise DataError(
                f"a pipeline with {type(step).__name__} cannot be exported; an Imputer, a QueryNormalizer and "
                "selectors of features can stand before the ranker. Apply the step where the features are computed, "
                "and export the ranker alone (pipeline[-1])"
            )
        form = _STEPS[kind](form, step)
    if form.normalised and not lists:
        raise DataError(
            "a pipeline with a QueryNormalizer cannot be exported to this target: the step needs all documents of a "
            "query, and the target scores one document at a time. Normalise where the features are computed and export "
            "the ranker alone (pipeline[-1]), or export to source code, which scores lists"
        )
    if form.fills is not None and not fills:
        if any(isinstance(step, Imputer) for step in steps):
            raise DataError(
                f"an Imputer before this {form.algorithm} cannot be exported to this target, which has no way to "
                "replace missing values; source code, onnx, pmml, vespa, solr, elasticsearch-ltr and opensearch-ltr "
                "have one. Fill them in where the features are computed and export the ranker alone (pipeline[-1]), or "
                "train a ranker of trees, whose branches take the imputation in"
            )
        form = replace(form, fills=None)
    return replace(form, names=names_of(first, feature_names))


def _imputed(form: SumOfParts, imputer: Imputer) -> SumOfParts:
    """The form with the imputer in it: a missing value takes the branch of the number that it would become."""
    if imputer.strategy == "query-median":
        raise DataError(
            "an Imputer with strategy='query-median' needs all documents of a query and cannot be exported; "
            "'median', 'mean' and 'constant' can"
        )
    fills = imputer.statistics_.astype(np.float32)
    if imputer.added.size and not form.all_trees:
        raise DataError(
            f"an Imputer with add_indicator=True can be exported with trees only, and this {form.algorithm} has "
            "other parts"
        )
    if imputer.added.size and form.normalised:
        raise DataError("an Imputer with add_indicator=True cannot be exported before a QueryNormalizer, only after it")
    if form.normalised:  # nothing is missing behind this step
        return replace(form, fills=fills, fills_first=True)
    parts = tuple(
        (factor, part.imputed(fills, imputer.added) if isinstance(part, Forest) else part)
        for factor, part in form.parts
    )
    return replace(form, parts=parts, signed=form.signed[: fills.size], fills=None if form.all_trees else fills)


def _normalised(form: SumOfParts, step: QueryNormalizer) -> SumOfParts:
    """The form behind a normaliser."""
    if form.normalised:
        raise DataError("a pipeline with two normalisers cannot be exported; keep only one of them")
    if step.keep:
        raise DataError(
            "QueryNormalizer(keep=True) cannot be exported: exports normalise features in place; train without keep"
        )
    if step.method not in METHODS:
        raise DataError(f"normalisation by {step.method!r} cannot be exported; {', '.join(METHODS)} can")
    return replace(form, normalised=str(step.method))


def _selected(form: SumOfParts, selector: FeatureSelector) -> SumOfParts:
    """The form in terms of all features; those that are dropped may be missing."""
    kept, size = np.sort(selector.selected_), selector.n_features_in_

    def spread(values: np.ndarray, fill: float = 0.0) -> np.ndarray:
        whole = np.full((size, *values.shape[1:]), fill, values.dtype)
        whole[kept] = values
        return whole

    def renamed(part: Part) -> Part:
        if isinstance(part, Forest):
            return replace(part, feature=kept[part.feature].astype(part.feature.dtype))
        if isinstance(part, Line):
            return Line(spread(part.weights), part.intercept)
        first = replace(part.layers[0], weights=spread(part.layers[0].weights))
        return replace(part, mean=spread(part.mean), scale=spread(part.scale, 1.0), layers=(first, *part.layers[1:]))

    fills = form.fills
    if fills is None and not form.all_trees:
        fills = np.zeros(kept.size, np.float32)
    return replace(
        form,
        names=tuple(f"f{j + 1}" for j in range(size)),
        parts=tuple((factor, renamed(part)) for factor, part in form.parts),
        signed=spread(form.signed),
        fills=None if fills is None else spread(fills),
    )


#: By class of a step: the form with the step in it.
_STEPS: dict[type, Callable[[SumOfParts, Any], SumOfParts]] = {
    Imputer: _imputed,
    QueryNormalizer: _normalised,
    FeatureSelector: _selected,
}


def _parts(ranker: Scoring) -> list[tuple[float, Part]]:
    scorer = ranker.scorer_
    why = scorer.not_exportable
    if why:
        raise DataError(f"this {ranker.algorithm} {why}")
    return [(factor, _written(part)) for factor, part in scorer.export_parts()]


def _written(part: Any) -> Part:
    """Trees and steps as a forest; other parts as they are."""
    if isinstance(part, TreeArrays):
        return Forest.of(part)
    if isinstance(part, Steps):
        return Forest.join([_staircase(j, function) for j, function in zip(part.features, part.functions, strict=True)])
    return part


def _staircase(feature: int, function: Any) -> Tree:
    """Bisection of the edges. NaN joins a step of its value; if there is none, the first split is for NaN alone."""
    values, edges = function.values.tolist(), function.edges
    own_step = function.missing not in values
    target = -1 if own_step else values.index(function.missing)
    thresholds: list[np.float32] = []
    missing_left: list[bool] = []
    children: list[list[int]] = []
    leaves: list[float] = []

    def leaf(value: float) -> int:
        leaves.append(value)
        return ~(len(leaves) - 1)

    def split(threshold: np.float32, left: bool) -> int:
        thresholds.append(threshold)
        missing_left.append(left)
        children.append([0, 0])
        return len(thresholds) - 1

    stack: list[tuple[int, int, int, int]] = []
    if own_step:
        split(np.float32(np.inf), False)
        children[0][1] = leaf(function.missing)
        stack.append((0, len(values) - 1, 0, 0))
    else:
        stack.append((0, len(values) - 1, -1, 0))
    while stack:
        low, high, parent, side = stack.pop()
        if low == high:
            number = leaf(values[low])
        else:
            middle = (low + high) // 2
            number = split(edges[middle], target <= middle)
            stack += [(middle + 1, high, number, 1), (low, middle, number, 0)]
        if parent >= 0:
            children[parent][side] = number
    return Tree(
        [feature] * len(thresholds), np.array(thresholds, np.float32), missing_left, [c[0] for c in children],
        [c[1] for c in children], leaves,
    )  # fmt: skip
