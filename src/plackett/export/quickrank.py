"""QuickRank's model files: XML with the same trees as RankLib's."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.export._lines import ModelText
from plackett.export._ranklib_trees import ensemble_trees, tree_scorer
from plackett.export._tags import Tags
from plackett.rankers.base import Ranker
from plackett.scorers.additive import AdditiveTerms
from plackett.scorers.linear import LinearScorer

__all__ = ["read_quickrank"]

_DECLARATION = re.compile(r"\s*<\?xml[^<>]*\?>")
#: Settings of ``<info>`` that have our name.
_TREES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "trees": ("n_estimators", int),
    "leaves": ("num_leaves", int),
    "shrinkage": ("learning_rate", float),
}
_OBLIVIOUS = {name: _TREES[name] for name in ("trees", "shrinkage")} | {"depth": ("depth", int)}


def _trees(tags: Tags, n_features: int | None) -> tuple[Any, int]:
    """Trees with outputs and weights in float64, thresholds in float32."""
    tags.expect("open", "ensemble")
    return tree_scorer(tags.model, ensemble_trees(tags, ModelText.real), n_features)


def _weights(tags: Tags, n_features: int | None) -> tuple[Any, int]:
    """``<model>`` with a ``<feature id weight/>`` for each feature."""
    weights = {}
    tags.expect("open", "model")
    while (tag := tags.next())[1:3] != ("close", "model"):
        tags.expect("open", "feature", tag)
        feature = tags.model.whole(tag.attribute("id") or "", tag.line, "a feature number", 1)
        weights[feature] = tags.model.real(tag.attribute("weight") or "", tag.line, f"the weight of feature {feature}")
        tags.expect("close", "feature")
    return _linear(tags.model, weights, n_features)


def _lines(tags: Tags, n_features: int | None) -> tuple[Any, int]:
    """``<ensemble>`` with an index and a weight for each feature, which are called trees."""
    weights = {}
    tags.expect("open", "ensemble")
    while (tag := tags.next())[1:3] != ("close", "ensemble"):
        tags.expect("open", "tree", tag)
        elements = _elements(tags, "tree")
        feature = tags.model.whole(elements.get("index", ""), tag.line, "a feature number", 1)
        weights[feature] = tags.model.real(elements.get("weight", ""), tag.line, f"the weight of feature {feature}")
    return _linear(tags.model, weights, n_features)


def _weak_rankers(tags: Tags, n_features: int | None) -> tuple[Any, int]:
    """Weak rankers: the weight alpha where the feature (from 0 on) is above theta, or below it with the sign −1."""
    terms, largest, model = AdditiveTerms(), 0, tags.model
    tags.expect("open", "ensemble")
    while (tag := tags.next())[1:3] != ("close", "ensemble"):
        tags.expect("open", "weakranker", tag)
        elements = _elements(tags, "weakranker")
        feature = model.whole(elements.get("featureid", ""), tag.line, "a feature number")
        theta = float(np.float32(model.real(elements.get("theta", ""), tag.line, "a threshold")))
        alpha = float(np.float32(model.real(elements.get("alpha", ""), tag.line, "a weight")))
        sign = elements.get("sign", "")
        if sign not in ("1", "-1"):
            model.fail(tag.line, f"expected the sign 1 or -1, found {sign[:10]!r}")
        if sign == "1":
            terms.step(feature, theta, alpha, alpha * (theta < 0.0))
        else:  # from theta on, the weight is taken back
            before = float(np.nextafter(np.float32(theta), np.float32(-np.inf)))
            terms.line(feature, alpha, 0.0, alpha * (theta > 0.0)).step(feature, before, -alpha)
        largest = max(largest, feature + 1)
    size = model.width(largest, n_features)
    return terms.scorer(size), size


def _elements(tags: Tags, name: str) -> dict[str, str]:
    """The text of each element inside an opened one, by its name."""
    elements = {}
    while (tag := tags.next())[1:3] != ("close", name):
        if tag.kind != "open":
            tags.model.fail(tag.line, f"expected an element of <{name}>, found {tag}")
        inside = tags.next()
        if inside.kind == "text":
            elements[tag.name] = inside.name
            inside = tags.next()
        tags.expect("close", tag.name, inside)
    return elements


def _linear(model: ModelText, weight_of: dict[int, float], n_features: int | None) -> tuple[LinearScorer, int]:
    if not weight_of:
        raise DataError(f"{model.path}: no weights in the model")
    weights = np.zeros((model.width(max(weight_of), n_features), 1))
    for feature, weight in weight_of.items():
        weights[feature - 1, 0] = weight
    return LinearScorer(weights, np.zeros(1)), len(weights)


#: By QuickRank's name: module and name of our ranker, what reads its model, and its settings.
_ALGORITHMS: dict[str, tuple[str, str, Callable[[Tags, int | None], tuple[Any, int]], dict[str, Any]]] = {
    "MART": ("pointwise.mart", "MART", _trees, _TREES),
    "LAMBDAMART": ("pairwise.lambdamart", "LambdaMART", _trees, _TREES),
    "LAMBDAMART-SELECTIVE": ("pairwise.lambdamart", "LambdaMART", _trees, _TREES),
    "STOCHASTIC-NEGATIVE": ("pairwise.lambdamart", "LambdaMART", _trees, _TREES),
    "DART": ("pairwise.xdart", "XDART", _trees, _TREES),
    "OBVMART": ("pointwise.oblivious_mart", "ObliviousMART", _trees, _OBLIVIOUS),
    "OBVLAMBDAMART": ("pairwise.oblivious_lambdamart", "ObliviousLambdaMART", _trees, _OBLIVIOUS),
    "RANDOMFOREST": ("pointwise.random_forest", "RandomForest", _trees, {k: _TREES[k] for k in ("trees", "leaves")}),
    "RANKBOOST": ("pairwise.rank_boost", "RankBoost", _weak_rankers, {"maxweakrankers": ("n_estimators", int)}),
    "COORDASC": (
        "listwise.coordinate_ascent", "CoordinateAscent", _weights, {"max-iterations": ("max_iter", int)},
    ),
    "LINESEARCH": (
        "listwise.coordinate_ascent", "CoordinateAscent", _lines, {"max-iterations": ("max_iter", int)},
    ),
}  # fmt: skip


def read_quickrank(path: str | os.PathLike[str], *, n_features: int | None = None) -> Ranker:
    """Read a QuickRank XML model as a ranker with the same scores.

    Supports MART, LambdaMART (also selective and with stochastic negatives), DART, random forests, their oblivious
    forms, RankBoost, coordinate ascent and line search. Feature 1 is the first column. Of XML, only tags, attributes
    and text are supported: a file with entities or a document type is rejected.

    Parameters
    ----------
    path
        The file that ``--model-out`` names.
    n_features
        Number of columns of the data to score; None means the largest feature number in the file.

    References
    ----------
    Capannini, Lucchese, Nardini, Orlando, Perego, Tonellotto: Quality versus efficiency in document scoring with
    learning-to-rank models. Information Processing & Management 2016.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "model.xml")
    >>> _ = path.write_text(
    ...     "<ranker><info><type>COORDASC</type></info><model>"
    ...     '<feature id="1" weight="0.25" /><feature id="3" weight="0.75" /></model></ranker>'
    ... )
    >>> read_quickrank(path).predict([[4.0, 9.0, 0.0], [0.0, 9.0, 4.0]]).tolist()
    [1.0, 3.0]
    """
    from plackett._base.version import __version__

    model = ModelText.read(path)
    declaration = _DECLARATION.match(model.text)
    body = model.text if declaration is None else " " * declaration.end() + model.text[declaration.end() :]
    tags = Tags(model, body)
    tags.expect("open", "ranker")
    line = tags.expect("open", "info").line
    info = _elements(tags, "info")
    kind = info.get("type", "")
    if kind not in _ALGORITHMS:
        model.fail(line, f"unsupported model type {kind[:30]!r}; the supported types are {', '.join(_ALGORITHMS)}")
    module, symbol, read, settings = _ALGORITHMS[kind]
    scorer, size = read(tags, n_features)
    tags.expect("close", "ranker")
    ranker = getattr(import_module(f"plackett.rankers.{module}"), symbol)(**_settings(info, settings))
    ranker.scorer_, ranker.n_features_in_, ranker.history_ = scorer, size, []
    ranker.card_ = {"algorithm": symbol, "plackett": __version__, "read_from": f"QuickRank ({kind})"}
    return ranker


def _settings(info: dict[str, str], known: dict[str, tuple[str, Callable[[str], Any]]]) -> dict[str, Any]:
    """The training settings in the file, as far as they can be read."""
    settings = {}
    for word, (name, convert) in known.items():
        try:
            settings[name] = convert(info[word])
        except (KeyError, ValueError):
            continue
    return settings


class QuickRankFormat:
    """QuickRank's models."""

    kind: ClassVar[str] = "quickrank"
    first_line: ClassVar[str] = r"(<\?xml.*>\s*)?<ranker>.*|<\?xml.*\?>"
    read = staticmethod(read_quickrank)
