"""Rankers, and pipelines that end in one, on disk: parameters and a model card as JSON, the scorer as plain arrays.

Loading never runs code from the file: classes are looked up in the catalogue, and their arguments are checked.
"""

from __future__ import annotations

import os
from typing import Any

from plackett._base.errors import DataError, reading
from plackett._base.parameters import check_parameters
from plackett._names.catalogue import items
from plackett.rankers import pipelines
from plackett.rankers.base import Ranker
from plackett.scorers import model as model_file
from plackett.scorers.plain_values import from_plain

__all__ = ["save"]


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted ranker, or a pipeline of plackett's own transformers and a ranker, to one file.

    The file appears complete or not at all, and holds no code.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> ranker = pk.rankers.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> path = tempfile.mkdtemp() + "/model.plackett"
    >>> save(ranker, path)
    >>> load(path)
    ListNet()
    """
    ranker, steps = pipelines.take_apart(model)
    if not isinstance(ranker, Ranker):
        raise DataError(f"a {type(ranker).__name__} cannot be saved; only rankers, and pipelines that end in one")
    header, arrays = ranker.pack()
    if steps is not None:
        header["pipeline"] = steps
    model_file.write(path, header, arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read the ranker or pipeline that `save` wrote."""
    with reading(path, "the description of the model"):
        header, arrays = model_file.read(path)
        steps = header.pop("pipeline", None)
        ranker = estimator(model_file.ScoringModel(header, arrays))
        return ranker if steps is None else pipelines.put_together(ranker, steps)


def card(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the model card of a file: algorithm, parameters, training data, validation."""
    with reading(path, "the description of the model"):
        header, _ = model_file.read(path)
    return {key: header.get(key) for key in ("card", "parameters", "pipeline") if key in header}


def estimator(model: model_file.ScoringModel) -> Ranker:
    """The ranker of a loaded model: an estimator with its parameters, which scores by the same scorer."""
    header, algorithm = model.header, model.algorithm
    matching = [item for item in items("ranker") if item.symbol == algorithm]
    if not matching:
        raise DataError(f"holds a {algorithm!r}, which this version of plackett does not have")
    cls = matching[0].load()
    parameters = header["parameters"]
    unknown = sorted(set(parameters) - set(cls().get_params(deep=False)))
    if unknown:
        raise DataError(f"{algorithm} has no parameter {unknown[0]!r}; the file is from another version")
    ranker: Ranker = cls(**{name: from_plain(value) for name, value in parameters.items()})
    check_parameters(ranker)
    ranker.history_ = [float(value) for value in header["fitted"]["history_"]]
    for name in ("n_features_in_", "card_", "feature_names_in_", "categories_", "calibration_"):
        if hasattr(model, name):
            setattr(ranker, name, getattr(model, name))
    for name, value in model.learned.items():
        if not hasattr(cls, name):
            setattr(ranker, name, value)
    members: Any = tuple(estimator(member) for member in model.scorer_.members)  # type: ignore[arg-type]
    ranker.scorer_ = model.scorer_.with_members(members)
    ranker.check_loaded()
    return ranker
