"""What is exported: a fitted ranker as a weighted sum of forests, linear functions and networks, in its own numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from plackett._base.errors import DataError, parameter
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.data.imputer import Imputer
from plackett.data.query_normalizer import QueryNormalizer
from plackett.data.reference import below_zero
from plackett.export._forest import Forest, Tree
from plackett.feature_selection.selector import FeatureSelector
from plackett.rankers.base import Ranker


@dataclass(frozen=True)
class Line:
    """``x @ weights + intercept``."""

    weights: np.ndarray
    intercept: float


@dataclass(frozen=True)
class Layer:
    """``activation(norm(x @ weights + bias))``, added to its input where it skips."""

    weights: np.ndarray
    bias: np.ndarray
    #: ``relu``, ``gelu``, ``silu``, ``tanh``, ``sigmoid`` or ``identity``.
    activation: str
    #: Scale and shift after each row was brought to mean 0 and variance 1 (plus 1e-5).
    norm: tuple[np.ndarray, np.ndarray] | None = None
    skip: bool = False


@dataclass(frozen=True)
class Network:
    """Layers of a network; the first one receives ``(g(x) - mean) * scale``, where g is x or sign(x) log(1 + |x|)."""

    log1p: bool
    mean: np.ndarray
    scale: np.ndarray
    layers: tuple[Layer, ...]

    def folded(self) -> tuple[Layer, ...]:
        """The layers with mean and scale in the weights of the first one."""
        first = self.layers[0]
        weights = first.weights * self.scale[:, None]
        bias = first.bias - (self.mean * self.scale) @ first.weights
        return (Layer(weights, bias, first.activation, first.norm, first.skip), *self.layers[1:])


Part = Forest | Line | Network


@dataclass(frozen=True)
class Form:
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
_WORDS: dict[type, str] = {Forest: "trees", Line: "a linear part", Network: "a network"}


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


def features_of(data: Any, form: Form) -> np.ndarray:
    """The features of a dataset or table, which must be as many as those of the form."""
    X = data.X if isinstance(data, RankingDataset) else np.asarray(data, np.float32)
    X = np.asarray(dense(X), np.float32)
    if X.ndim != 2 or X.shape[1] != len(form.names):
        raise DataError(f"the data has {X.shape[-1]} features, and the ranker {len(form.names)}")
    return X


def form_of(
    model: Any, feature_names: Sequence[str] | None = None, *, lists: bool = False, fills: bool = False
) -> Form:
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
    if not isinstance(model, Ranker):
        raise DataError(f"a {type(model).__name__} cannot be exported; give a fitted ranker")
    model.check_fitted()
    parts = _parts(model)
    signed = below_zero(getattr(model, "reference_", None), int(model.n_features_in_))
    return Form(names_of(model, feature_names), tuple(parts), type(model).__name__, signed)


def _of_pipeline(steps: list[Any], feature_names: Sequence[str] | None, lists: bool, fills: bool) -> Form:
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


def _imputed(form: Form, imputer: Imputer) -> Form:
    """The form with the imputer in it: a missing value takes the branch of the number that it would become."""
    if imputer.strategy == "query-median":
        raise DataError(
            "an Imputer with strategy='query-median' needs all documents of a query and cannot be exported; "
            "'median', 'mean' and 'constant' can"
        )
    fills = imputer.statistics_.astype(np.float32)
    if imputer._added.size and not form.all_trees:
        raise DataError(
            f"an Imputer with add_indicator=True can be exported with trees only, and this {form.algorithm} has "
            "other parts"
        )
    if imputer._added.size and form.normalised:
        raise DataError("an Imputer with add_indicator=True cannot be exported before a QueryNormalizer, only after it")
    if form.normalised:  # nothing is missing behind this step
        return replace(form, fills=fills, fills_first=True)
    parts = tuple(
        (factor, part.imputed(fills, imputer._added) if isinstance(part, Forest) else part)
        for factor, part in form.parts
    )
    return replace(form, parts=parts, signed=form.signed[: fills.size], fills=None if form.all_trees else fills)


def _normalised(form: Form, step: QueryNormalizer) -> Form:
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


def _selected(form: Form, selector: FeatureSelector) -> Form:
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
_STEPS: dict[type, Callable[[Form, Any], Form]] = {
    Imputer: _imputed,
    QueryNormalizer: _normalised,
    FeatureSelector: _selected,
}


def _parts(ranker: Ranker, factor: float = 1.0) -> list[tuple[float, Part]]:
    scorer = ranker.scorer_
    name = type(ranker).__name__
    if scorer.kind == "early_exit":
        raise DataError(f"this {name} has an early exit, which engines do not have; export the ranker it was made from")
    if scorer.kind == "cascade":
        raise DataError(
            f"a {name} looks at whole lists of documents, and engines score one document at a time; export its stages "
            "(members_) one by one, for the engine's own phases of ranking"
        )
    if scorer.kind == "list_features":
        raise DataError(
            f"this {name} was trained with features relative to their list, and engines score one document at a time; "
            f"train it without ({parameter('list_features', 'False')}), or serve it: plackett serve scores whole lists"
        )
    if scorer.kind == "standardized":
        raise DataError(
            f"this {name} scales the scores of its members within each list (scale='query'), and engines score one "
            "document at a time; blend with scale='spread', export one of its members_, or serve it: plackett serve "
            "scores whole lists"
        )
    if scorer.list_aware:
        raise DataError(
            f"{name} looks at whole lists of documents, and engines score one document at a time; serve it instead: "
            "plackett serve scores whole lists"
        )
    if scorer.kind not in _READERS:
        raise DataError(
            f"a {name} ({scorer.kind}) cannot be exported; trees, linear models, networks and blends of them can"
        )
    if scorer.kind == "blend":
        pairs = zip(scorer.rankers, scorer.factors.tolist(), strict=True)
        return [part for member, weight in pairs for part in _parts(member, factor * weight)]
    return [(factor * output_factor(ranker), part) for part in _READERS[scorer.kind](ranker, scorer)]


def output_factor(ranker: Ranker) -> float:
    """What a ranker multiplies the output of its scorer by; found by asking it, and refused if it does more."""
    if type(ranker).score_rows is Ranker.score_rows:
        return 1.0
    probe = _Fixed(np.array([1.0, -3.0, 0.25]))
    twin = object.__new__(type(ranker))
    twin.__dict__ = ranker.__dict__ | {"scorer_": probe}
    try:
        if hasattr(ranker, "_n_trees"):
            n_trees = ranker.scorer_.trees.n_trees
            twin._n_trees = lambda: n_trees
        outputs = twin.score_rows(cast(RankingDataset, _Rows()))
    except (AttributeError, IndexError, TypeError, ValueError):  # it looks at more than the output of its scorer
        raise DataError(f"{type(ranker).__name__} cannot be exported: it transforms features or outputs") from None
    factor = float(outputs[0])
    if np.shape(outputs) != (3,) or not np.allclose(outputs, factor * probe.values, rtol=1e-12):
        raise DataError(f"{type(ranker).__name__} cannot be exported: it transforms the output of its model")
    return factor


@dataclass(frozen=True)
class _Fixed:
    """A scorer with scores of its own."""

    values: np.ndarray

    def predict(self, X: Any, offsets: Any, n_jobs: int | None = None) -> np.ndarray:
        return self.values.copy()


class _Rows:
    """Rows that only a scorer may look at."""

    X = None
    offsets = None


def _trees(ranker: Ranker, scorer: Any) -> list[Part]:
    if scorer.linear_leaves:
        raise DataError("trees with linear leaves (linear_tree) cannot be exported")
    if scorer.trees.n_outputs != 1:
        raise DataError(
            f"{type(ranker).__name__} has {scorer.trees.n_outputs} outputs per document; engines expect one score"
        )
    return [Forest.of(scorer.trees)]


def _line(ranker: Ranker, scorer: Any) -> list[Part]:
    if scorer.weights.shape[1] != 1:
        raise DataError(
            f"{type(ranker).__name__} has {scorer.weights.shape[1]} outputs per document; engines expect one score"
        )
    if scorer.weights.shape[0] != ranker.n_features_in_:
        raise DataError(f"{type(ranker).__name__} expands its features, which cannot be exported")
    return [Line(scorer.weights[:, 0], float(scorer.intercept[0]))]


def _ordinal(ranker: Ranker, scorer: Any) -> list[Part]:
    return [Line(scorer.weights, 0.0)]


def _hyperplanes(ranker: Ranker, scorer: Any) -> list[Part]:
    return [Line(scorer.weights @ scorer.alpha, 0.0)]


def _additive(ranker: Ranker, scorer: Any) -> list[Part]:
    """One tree per feature; slopes are a linear part."""
    trees = [_staircase(int(j), scorer.function(int(j))) for j in scorer.features]
    parts: list[Part] = [Forest.join(trees)]
    if scorer.slopes.any():
        weights = np.zeros(int(scorer.n_features[0]))
        weights[scorer.features] = scorer.slopes
        parts.append(Line(weights, 0.0))
    return parts


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
        [feature] * len(thresholds),
        np.array(thresholds, np.float32),
        missing_left,
        [c[0] for c in children],
        [c[1] for c in children],
        leaves,
    )


def _neural(ranker: Ranker, scorer: Any) -> list[Part]:
    network, weights = scorer.network, {name: np.asarray(w, np.float64) for name, w in scorer.weights.items()}
    if network.name not in ("mlp", "sigmoid"):
        raise DataError(f"networks of the architecture {network.name!r} cannot be exported; mlp and sigmoid can")
    if network.n_outputs != 1:
        raise DataError(f"{type(ranker).__name__} has {network.n_outputs} outputs per document; engines expect one")
    layers, width = [], network.n_features
    for i, size in enumerate(network.hidden):
        name = f"hidden.{i}"
        norm = None
        if network.name == "mlp":
            norm = weights[f"{name}.norm.weight"], weights[f"{name}.norm.bias"]
        layers.append(
            Layer(
                weights[f"{name}.weight"].T,
                weights[f"{name}.bias"],
                network.activation if network.name == "mlp" else "sigmoid",
                norm,
                network.name == "mlp" and i > 0 and width == size,
            )
        )
        width = size
    layers.append(Layer(weights["output.weight"].T, weights["output.bias"], "identity"))
    mean, scale = (np.asarray(a, np.float64) for a in (scorer.features.mean, scorer.features.scale))
    return [Network(bool(scorer.features.log1p), mean, scale, tuple(layers))]


def _sigmoid_layers(ranker: Ranker, scorer: Any) -> list[Part]:
    size = scorer.weights[0].shape[0]
    layers = tuple(Layer(w, b, "sigmoid") for w, b in zip(scorer.weights, scorer.biases, strict=True))
    return [Network(False, np.zeros(size), np.ones(size), layers)]


#: By kind of scorer.
_READERS: dict[str, Callable[[Ranker, Any], list[Part]]] = {
    "trees": _trees,
    "linear": _line,
    "ordinal": _ordinal,
    "hyperplanes": _hyperplanes,
    "additive": _additive,
    "neural": _neural,
    "sigmoid_layers": _sigmoid_layers,
    "blend": lambda ranker, scorer: [],
}
