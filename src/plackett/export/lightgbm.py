"""LightGBM's model files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._files.atomic import replacing
from plackett.export._forest import Forest
from plackett.export._form import form_of
from plackett.export._imported import NodeTable, decisions, fitted, tree_scorer_of
from plackett.export._lines import ModelText
from plackett.rankers.base import Ranker
from plackett.scorers.trees.arrays import TreeArrays
from plackett.scorers.trees.scorer import TreeScorer
from plackett.scorers.trees.text import join_trees, parse_trees, split_trees, write_text

__all__ = ["read_lightgbm", "write_lightgbm"]

_END = "end of trees\n"
_CLASS_PATHS = {"lambdarank": "pairwise.lambdamart:LambdaMART", "rank_xendcg": "listwise.xendcg:XENDCG"}
#: Lines of the head that say nothing about scores.
_IGNORED = re.compile(r"^(?:average_output|objective=.*|monotone_constraints=.*)\n", re.MULTILINE)


def read_lightgbm(path: str | os.PathLike[str], *, n_features: int | None = None) -> Ranker:
    """Read a model file of LightGBM as a ranker with the same scores, bit for bit.

    Scores are LightGBM's raw scores (``raw_score=True``), the same as its predictions for ranking and regression. The
    ranker is a `LambdaMART` (objective ``lambdarank``), `XENDCG` (``rank_xendcg``), `RandomForest` (``boosting=rf``) or
    `MART`. Files of version 3 and 4 (LightGBM 2.3 and later) with one score per row and constant leaves are
    supported. The text is parsed and checked here: LightGBM itself never sees the file.

    Parameters
    ----------
    path
        The file that ``save_model`` wrote.
    n_features
        Number of columns of the data to score, if more than the model has; None means the model's own.

    References
    ----------
    Ke, Meng, Finley, Wang, Chen, Ma, Ye, Liu: LightGBM: a highly efficient gradient boosting decision tree. NIPS 2017.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> data, path = pk.datasets.make_ranking(n_queries=20, random_state=0), tempfile.mkdtemp() + "/model.txt"
    >>> write_lightgbm(pk.LambdaMART(n_estimators=3).fit(data), path)
    >>> read_lightgbm(path).scorer_.trees.n_trees
    3
    """
    model = ModelText.read(path)
    text = model.text.replace("\r\n", "\n")
    if not text.startswith("tree\n") or _END not in text:
        raise DataError(f"{path}: not a model file of LightGBM, which begins with 'tree' and has 'end of trees'")
    text = text[: text.index(_END) + len(_END)]
    cut = text.find("Tree=0\n")
    head = text[:cut] if cut >= 0 else text
    objective = re.search(r"^objective=(\S+)", head, re.MULTILINE)
    name = objective[1] if objective else "custom"
    average = "\naverage_output\n" in head
    names_line = re.search(r"^feature_names=(.*)$", head, re.MULTILINE)
    names = names_line[1].split(" ") if names_line else []
    head = _IGNORED.sub("", head).replace("\nversion=v3\n", "\nversion=v4\n")  # the same lines
    head = re.sub(
        r"^feature_names=.*$", "feature_names=" + " ".join(f"Column_{j}" for j in range(len(names))), head, flags=re.M
    )
    try:
        trees = parse_trees(head if cut < 0 else head + text[cut:])
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    if trees.n_outputs != 1:
        raise DataError(f"{path}: {trees.n_outputs} scores per row; a ranker has one")
    if average and trees.n_trees:
        trees = replace(trees, leaf_value=trees.leaf_value / trees.n_trees)
    trees = _widened(trees, n_features, path)
    class_path = "pointwise.random_forest:RandomForest" if average else _CLASS_PATHS.get(name, "pointwise.mart:MART")
    plain = all(re.fullmatch(r"Column_\d+", feature) for feature in names) or trees.n_features != len(names)
    return fitted(
        class_path,
        TreeScorer.of(trees),
        trees.n_features,
        f"LightGBM ({name})",
        None if plain else names,
        n_estimators=max(trees.n_trees, 1),
    )


def _widened(trees: TreeArrays, n_features: int | None, path: Any) -> TreeArrays:
    if n_features is None or n_features == trees.n_features:
        return trees
    used = int(trees.feature.max(initial=-1)) + 1
    if n_features < used:
        raise DataError(f"{path}: the model uses feature {used}, and n_features={n_features}")
    return replace(
        trees,
        n_features=n_features,
        feature_names=" ".join(f"Column_{j}" for j in range(n_features)),
        feature_infos=" ".join(["none"] * n_features),
        monotone_constraints=np.zeros(0, np.int8),
    )


def write_lightgbm(ranker: Any, path: str | os.PathLike[str], *, feature_names: Sequence[str] | None = None) -> None:
    """Write a tree ranker as a model file of LightGBM (``lightgbm.Booster(model_file=…)``).

    The trees are written with every digit, categories and the treatment of missing values included; LightGBM gives the
    scores of `predict` exactly. The objective is ``lambdarank``, which does not change scores; readers such as Vespa
    and Metarank need one. Blends of trees, and RankBoost's steps, are written as one ensemble.

    Parameters
    ----------
    ranker
        A ranker of trees, or a blend of such rankers.
    path
        The file to write.
    feature_names
        Names of the features; None means those of the training data, or ``f1``, ``f2``, … Characters that LightGBM
        does not allow become ``_``.

    References
    ----------
    Ke, Meng, Finley, Wang, Chen, Ma, Ye, Liu: LightGBM: a highly efficient gradient boosting decision tree. NIPS 2017.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> data, path = pk.datasets.make_ranking(n_queries=20, random_state=0), tempfile.mkdtemp() + "/model.txt"
    >>> write_lightgbm(pk.LambdaMART(n_estimators=3).fit(data), path)
    >>> import lightgbm
    >>> lightgbm.Booster(model_file=path).num_trees()
    3
    """
    form = form_of(ranker, feature_names)
    names = [re.sub(r"[^A-Za-z0-9_.:-]", "_", name) for name in form.names]
    if len(set(names)) != len(names):
        names = [f"{name}_{j + 1}" for j, name in enumerate(names)]
    own = ranker.scorer_.tree_arrays if hasattr(ranker, "scorer_") else None  # a pipeline changes the trees
    if own is None or form.parts[0][0] != 1.0:
        own = as_trees(form.forest("LightGBM"), len(names))
    head, trees = split_trees(write_text(own))
    head = head | {"objective": "lambdarank", "feature_names": " ".join(names)}
    with replacing(path) as file:
        file.write(join_trees(head, trees).encode())


def as_trees(forest: Forest, n_features: int) -> TreeArrays:
    """A forest as a scorer's trees."""
    tables = []
    for tree in forest:
        number, size = tree.numbers(), len(tree.feature) + len(tree.value)
        left, right = np.full(size, -1), np.full(size, -1)
        feature, threshold, value = np.zeros(size, int), np.zeros(size), np.zeros(size)
        missing = np.zeros(size, bool)
        for node, index in number.items():
            if node < 0:
                value[index] = tree.value[~node]
                continue
            left[index], right[index] = number[tree.left[node]], number[tree.right[node]]
            feature[index], threshold[index] = tree.feature[node], tree.threshold[node]
            missing[index] = tree.missing_left[node]
        tables.append(NodeTable(left, right, feature, threshold, decisions(missing), value))
    return tree_scorer_of(tables, n_features).trees


def score_lightgbm(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores by LightGBM."""
    import lightgbm

    return lightgbm.Booster(model_file=str(path)).predict(X, num_threads=1)


class LightGBMFormat:
    """LightGBM's text."""

    kind: ClassVar[str] = "lightgbm"
    first_line: ClassVar[str] = r"tree"
    suffix: ClassVar[str] = ".txt"
    proof: ClassVar[str] = "scored by LightGBM"
    read = staticmethod(read_lightgbm)
    write = staticmethod(write_lightgbm)
    score = staticmethod(score_lightgbm)
