"""Opening a file, whatever it holds."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from plackett import _storage
from plackett._errors import DataError

__all__ = ["foreign_reader", "load"]

#: What the model files of other tools begin with, and the module and function that read them.
_FOREIGN = {
    b"## ": ("plackett.export.ranklib", "read_ranklib"),
    b"SVM-light Version": ("plackett.export.svm_rank", "read_svm_rank"),
}


def foreign_reader(path: str | os.PathLike[str]) -> Callable[..., Any] | None:
    """The function that reads a model file of another tool, by its first bytes; None for any other file."""
    try:
        with open(path, "rb") as file:
            begin = file.read(max(map(len, _FOREIGN)))
    except OSError:
        return None  # whoever opens it next says what is wrong
    for mark, (module, name) in _FOREIGN.items():
        if begin.startswith(mark):
            return getattr(import_module(module), name)
    return None


def load(path: str | os.PathLike[str]) -> Any:
    """What a ``.plackett`` file holds: a ranker, a pipeline that ends in one, or a `RankingDataset`.

    Models of RankLib and svm_rank are known by their first line and read as well (`plackett.read_ranklib`,
    `plackett.read_svm_rank`). Loading runs no code of the file, whoever wrote it.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> path = tempfile.mkdtemp() + "/model.plackett"
    >>> pk.rankers.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1]).save(path)
    >>> load(path).rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])
    """
    foreign = foreign_reader(path)
    if foreign is not None:
        return foreign(path)
    kind = _storage.read(path)[1].get("kind")
    if kind == "model":
        from plackett.rankers.storage import load as load_model

        return load_model(path)
    if kind == "dataset":
        from plackett.data.native import open_dataset

        return open_dataset(path)
    raise DataError(f"{path}: holds a {kind!r}, which this version of plackett does not know")
