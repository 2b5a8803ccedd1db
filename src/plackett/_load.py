"""Load a file of any kind."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from plackett._base.errors import DataError, reading
from plackett._files import storage
from plackett._files.checks import check_regular, open_regular
from plackett._names.catalogue import formats
from plackett.scorers import model as model_file
from plackett.scorers.model import ScoringModel

__all__ = ["load", "load_scorer"]


def foreign_reader(path: str | os.PathLike[str]) -> Callable[..., Any] | None:
    """The function that reads a model file of another tool, by its first line; None for any other file."""
    if not os.path.isfile(path):  # a pipe can be read only once, by the reader that opens it next
        return None
    try:
        with open_regular(path) as file:
            start = file.read(200)
    except OSError:
        return None  # the reader that opens it next says what is wrong
    first = start.partition(b"\n")[0][:100]
    if first.strip() == b"{":  # JSON with a line for each name: the first name says what it is
        first = b"".join(start.split())[:100]
    for known in formats():
        if known.first_line and re.fullmatch(known.first_line, first.rstrip().decode("latin-1")):
            return known.load().read
    return None


def _refuse_data(path: str | os.PathLike[str]) -> None:
    """Point users with a table or LETOR text to the function that reads it."""
    from plackett.data.files import NATIVE, format_by_suffix

    format = format_by_suffix(path)
    if format is not None and format is not NATIVE and os.path.isfile(path):
        raise DataError(
            f"{path}: this is data ({format.name}), not a model; read it with plackett.read (load reads models and "
            ".plackett files)"
        )


def load(path: str | os.PathLike[str], *, mmap: bool = True) -> Any:
    """Load a ``.plackett`` file: a ranker, a pipeline that ends in one, a recommender, or a `RankingDataset`.

    Models of LightGBM, XGBoost, CatBoost (JSON), RankLib, QuickRank and svm_rank are recognised by their first line and
    also read (`plackett.read_lightgbm`, `plackett.read_xgboost`, …). Loading never runs code from the file.

    Parameters
    ----------
    mmap
        Map a dataset into memory instead of reading it; pass False for a file that may be truncated while in
        use, see `plackett.data.native.open_dataset`. Models are always read.

    Raises
    ------
    DataError
        If the file is damaged, of a newer format or not a plackett file. Memory and time are bounded by the
        size of the file.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> path = tempfile.mkdtemp() + "/model.plackett"
    >>> pk.rankers.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1]).save(path)
    >>> load(path).rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])
    """
    check_regular(path)
    foreign = foreign_reader(path)
    if foreign is not None:
        return foreign(path)
    _refuse_data(path)
    with reading(path, "the file"):
        kind = storage.read_metadata(path).get("kind")
    if kind == "model":
        from plackett.rankers.storage import load as load_model

        return load_model(path)
    if kind == "dataset":
        from plackett.data.native import open_dataset

        return open_dataset(path, mmap=mmap)
    if kind == "recommender":
        from plackett.applications.recommender import load_recommender

        return load_recommender(path)
    raise DataError(f"{path}: holds a {kind!r}, which this version of plackett does not know")


class SavedScorer(ScoringModel):
    """The scoring function of a model file, without the estimator that learned it: `load_scorer` makes it.

    ``scorer_`` is the scoring function, ``steps`` the transformers before it, ``card_`` the model card;
    ``n_features_in_``, ``feature_names_in_``, ``categories_`` and ``calibration_`` are those of the ranker.
    """

    def explain(self, data: Any, qid: Any = None, **settings: Any) -> Any:
        """The contributions of the features to the scores of a query, as `plackett.explain` gives them."""
        from plackett.explanations.explain import explain

        return explain(self, data, qid, **settings)


def load_scorer(path: str | os.PathLike[str]) -> SavedScorer:
    """Load the scoring function of a model file: for prediction alone, where no estimator is needed.

    It predicts, ranks and explains as the ranker or pipeline that was saved, bit for bit, and needs neither its class
    nor what trained it. `load` gives the estimator itself.

    Raises
    ------
    DataError
        If the file is damaged or no model file, or if the model trains while it predicts, as `KNNOnline` does.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> path = tempfile.mkdtemp() + "/model.plackett"
    >>> pk.rankers.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1]).save(path)
    >>> load_scorer(path).rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])
    """
    if foreign_reader(path) is not None:
        raise DataError(f"{path}: this is a model of another tool; read it with plackett.load")
    model = _scorer(path)
    if model_file.trains(model):
        raise DataError(
            f"{path}: {model.algorithm} trains while it predicts, so its scores need the estimator; read it with "
            "plackett.load"
        )
    return model


def load_to_score(path: str | os.PathLike[str]) -> Any:
    """What `load_scorer` gives where that is enough; otherwise `load`: what trains while it predicts, other tools'."""
    if foreign_reader(path) is not None:
        return load(path)
    model = _scorer(path)
    return load(path) if model_file.trains(model) else model


def _scorer(path: str | os.PathLike[str]) -> SavedScorer:
    check_regular(path)
    _refuse_data(path)
    with reading(path, "the description of the model"):
        return SavedScorer(*model_file.read(path))
