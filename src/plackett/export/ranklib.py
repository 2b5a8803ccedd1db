"""RankLib's model files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett._files.atomic import replacing
from plackett.export._form import form_of, names_of
from plackett.export._lines import ModelText
from plackett.export._ranklib_names import read_names, with_names
from plackett.export._ranklib_network import read_network, write_network
from plackett.export._ranklib_rule import apart, score_ranklib
from plackett.export._ranklib_sums import read_linear, read_rankboost, write_linear, write_rankboost
from plackett.export._ranklib_trees import read_trees, write_trees
from plackett.rankers.base import Ranker
from plackett.scorers.linear import LinearScorer
from plackett.scorers.scoring import Scoring
from plackett.scorers.trees.scorer import TreeScorer

__all__ = ["read_ranklib", "write_ranklib"]


class _Algorithm(NamedTuple):
    """One of RankLib's algorithms: our ranker, how its model is read, and its settings that have our name."""

    module: str
    symbol: str
    read: Callable[[ModelText, int | None], tuple[Any, int]]
    settings: dict[str, tuple[str, Callable[[str], Any]]] = {}  # noqa: RUF012 - nobody writes to it


_TREES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "No. of trees": ("n_estimators", int),
    "No. of leaves": ("num_leaves", int),
    "Learning rate": ("learning_rate", float),
}
_EPOCHS: dict[str, tuple[str, Callable[[str], Any]]] = {"Epochs": ("max_epochs", int)}
_ALGORITHMS = {
    "LambdaMART": _Algorithm("plackett.rankers.pairwise.lambdamart", "LambdaMART", read_trees, _TREES),
    "MART": _Algorithm("plackett.rankers.pointwise.mart", "MART", read_trees, _TREES),
    "Random Forests": _Algorithm(
        "plackett.rankers.pointwise.random_forest",
        "RandomForest",
        read_trees,
        {"No. of bags": ("n_estimators", int), "No. of leaves": ("num_leaves", int)},
    ),
    "RankBoost": _Algorithm(
        "plackett.rankers.pairwise.rank_boost", "RankBoost", read_rankboost, {"Iteration": ("n_estimators", int)}
    ),
    "AdaRank": _Algorithm(
        "plackett.rankers.listwise.adarank",
        "AdaRank",
        read_linear,
        {"Iteration": ("n_estimators", int), "Tolerance": ("tol", float)},
    ),
    "Coordinate Ascent": _Algorithm(
        "plackett.rankers.listwise.coordinate_ascent",
        "CoordinateAscent",
        read_linear,
        {"MaxIteration": ("max_iter", int), "Tolerance": ("tol", float)},
    ),
    "Linear Regression": _Algorithm("plackett.rankers.pointwise.linear_regression", "LinearRegression", read_linear),
    "RankNet": _Algorithm("plackett.rankers.pairwise.ranknet", "RankNet", read_network, _EPOCHS),
    "LambdaRank": _Algorithm("plackett.rankers.pairwise.lambdarank", "LambdaRank", read_network, _EPOCHS),
    "ListNet": _Algorithm("plackett.rankers.listwise.listnet", "ListNet", read_network, {"Epochs": ("max_iter", int)}),
}
_SETTING = re.compile(r"##\s*(.+?)\s*=\s*(\S+)\s*$")


def _trees(ranker: Ranker) -> tuple[str, str]:
    name = {"MART": "MART", "RandomForest": "Random Forests"}.get(ranker.algorithm, "LambdaMART")
    [(factor, trees)] = ranker.scorer_.export_parts()
    scorer = ranker.scorer_.model
    if factor != 1.0:
        scorer = TreeScorer.of(replace(trees, leaf_value=trees.leaf_value * factor))
    settings = {"No. of trees": trees.n_trees, "No. of leaves": _leaves(ranker), "Learning rate": 1.0}
    if name == "Random Forests":
        settings = {"No. of bags": 1} | settings
    head = "".join(f"## {key} = {value}\n" for key, value in settings.items())
    return name, f"{head}\n{write_trees(scorer)}"


def _leaves(ranker: Ranker) -> int:
    """The largest number of leaves per tree: the parameter, or the number chosen from the data."""
    leaves = getattr(ranker, "num_leaves", 0)
    return leaves if isinstance(leaves, int) else ranker.card_.get("chosen", {}).get("num_leaves", 0)


def _linear(ranker: Ranker) -> tuple[str, str]:
    line = form_of(ranker).line("RankLib", "blends of linear functions")
    text = write_linear(LinearScorer(line.weights[:, None], np.array([line.intercept])))
    if text.startswith("0:"):
        return "Linear Regression", text
    return "AdaRank" if ranker.algorithm == "AdaRank" else "Coordinate Ascent", text


def _additive(ranker: Ranker) -> tuple[str, str]:
    return "RankBoost", write_rankboost(ranker.scorer_)


def _network(ranker: Ranker) -> tuple[str, str]:
    name = ranker.algorithm
    return name if name in ("LambdaRank", "ListNet") else "RankNet", write_network(ranker.scorer_)


#: By kind of scorer: RankLib's name of the algorithm, and what follows it.
_WRITERS: dict[str, Callable[[Any], tuple[str, str]]] = {
    "trees": _trees,
    "divided": _trees,
    "linear": _linear,
    "ordinal": _linear,
    "hyperplanes": _linear,
    "blend": _linear,
    "additive": _additive,
    "neural": _network,
    "sigmoid_layers": _network,
}


def read_ranklib(path: str | os.PathLike[str], *, n_features: int | None = None) -> Ranker:
    """Read a RankLib model as a ranker with the same scores.

    Supports LambdaMART, MART and random forests, RankBoost, AdaRank, coordinate ascent, linear regression, RankNet,
    LambdaRank and ListNet. RankLib's feature 1 is the first column. RankLib treats a missing feature as 0: fill NaN
    with 0 for linear models and networks; trees and RankBoost treat NaN as 0 themselves. RankLib sums in float32, so
    its own scores differ from these in the last of seven digits.

    Parameters
    ----------
    path
        The file that RankLib's ``-save`` wrote.
    n_features
        Number of columns of the data to score. None means the number of names in the comments (see `write_ranklib`), or
        without names the largest feature number in the file.

    References
    ----------
    Dang: The Lemur project: RankLib. 2013.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "model.txt")
    >>> _ = path.write_text("## Coordinate Ascent" + chr(10) + "1:0.25 3:0.75")
    >>> read_ranklib(path).predict([[4.0, 9.0, 0.0], [0.0, 9.0, 4.0]]).tolist()
    [1.0, 3.0]
    """
    from plackett._base.version import __version__

    model = ModelText.read(path)
    lines = model.text.splitlines()
    first = lines[0].removeprefix("##").strip() if lines and lines[0].startswith("##") else ""
    algorithm = {name.lower(): algorithm for name, algorithm in _ALGORITHMS.items()}.get(first.lower())
    if algorithm is None:
        known = ", ".join(f"'## {name}'" for name in _ALGORITHMS)
        raise DataError(f"{path}:1: not a RankLib model; its first line should be one of {known}")
    names = read_names(lines)
    if names is not None and n_features is not None and len(names) != n_features:
        names = None  # they are those of other data
    scorer, size = algorithm.read(model, n_features if names is None else len(names))
    ranker = getattr(import_module(algorithm.module), algorithm.symbol)(**_settings(algorithm, lines))
    ranker.scorer_, ranker.n_features_in_, ranker.history_ = scorer, size, []
    if names is not None:
        ranker.feature_names_in_ = np.array(names, dtype=object)
    ranker.card_ = {"algorithm": algorithm.symbol, "plackett": __version__, "read_from": f"RankLib ({first})"}
    return ranker


def _settings(algorithm: _Algorithm, lines: list[str]) -> dict[str, Any]:
    """The training settings in the comments at the top, as far as they can be read; RankLib itself ignores them."""
    settings: dict[str, Any] = {}
    for line in lines[1:20]:
        setting = _SETTING.match(line)
        if setting is not None and setting[1] in algorithm.settings:
            name, convert = algorithm.settings[setting[1]]
            try:
                settings[name] = convert(setting[2])
            except ValueError:
                continue
    return settings


def write_ranklib(ranker: Ranker, path: str | os.PathLike[str], *, feature_names: Sequence[str] | None = None) -> None:
    r"""Write a fitted ranker as a RankLib model file, which Elasticsearch's and OpenSearch's plugins also read.

    Supports tree ensembles, linear models (as coordinate ascent, AdaRank or, with a constant, linear regression),
    RankBoost and networks of sigmoid layers (RankNet, LambdaRank: RankLib puts their score through the logistic
    function, which changes no order). Leaf values lose what float32 cannot hold when RankLib reads them. Models that
    the format cannot express (a branch for missing values, categories, several scores per document) are rejected.

    Parameters
    ----------
    ranker
        The ranker.
    path
        The file to write.
    feature_names
        Names of the features; by default those of the training data, if it has some. RankLib knows features by number:
        names are in comments, which RankLib skips and `read_ranklib` reads.

    References
    ----------
    Dang: The Lemur project: RankLib. 2013.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> path = tempfile.mkdtemp() + "/model.txt"
    >>> write_ranklib(pk.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1]), path)
    >>> open(path).readline()
    '## Coordinate Ascent\n'
    """
    if not isinstance(ranker, Scoring):
        alone = " alone (pipeline[-1])" if hasattr(ranker, "steps") else ""
        raise DataError(f"a {type(ranker).__name__} cannot be written as a RankLib model; give a fitted ranker{alone}")
    ranker.check_fitted()
    if ranker.scorer_.not_exportable:
        form_of(ranker)  # says why
    if ranker.scorer_.kind not in _WRITERS:
        raise DataError(
            f"{ranker.algorithm} ({ranker.scorer_.kind}) has no counterpart in RankLib; trees, linear models, "
            "RankBoost and networks of sigmoid layers have"
        )
    name, body = _WRITERS[ranker.scorer_.kind](ranker)
    if feature_names is not None or hasattr(ranker, "feature_names_in_"):
        body = with_names(body, names_of(ranker, feature_names))
    with replacing(path) as file:
        file.write(f"## {name}\n{body}".encode())


class RankLibFormat:
    """RankLib's models; a dataset may begin with a comment too, so the whole first line must fit."""

    kind: ClassVar[str] = "ranklib"
    first_line: ClassVar[str] = (
        r"## (LambdaMART|MART|Random Forests|RankBoost|AdaRank|Coordinate Ascent|Linear Regression|RankNet|LambdaRank|"
        r"ListNet)"
    )
    suffix: ClassVar[str] = ".txt"
    proof: ClassVar[str] = "scored by RankLib's rule (x <= threshold and sums in float32)"
    tolerance: ClassVar[float] = 1e-5
    read = staticmethod(read_ranklib)
    write = staticmethod(write_ranklib)
    score = staticmethod(score_ranklib)
    apart = staticmethod(apart)
