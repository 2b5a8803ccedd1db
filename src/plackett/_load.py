"""Opening a ``.plackett`` file, whatever it holds."""

from __future__ import annotations

import os
from typing import Any

from plackett import _storage
from plackett._errors import DataError

__all__ = ["load"]


def load(path: str | os.PathLike[str]) -> Any:
    """What a ``.plackett`` file holds: a ranker, a pipeline that ends in one, or a `RankingDataset`.

    Loading runs no code of the file, whoever wrote it.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> path = tempfile.mkdtemp() + "/model.plackett"
    >>> pk.rankers.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1]).save(path)
    >>> load(path).rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])
    """
    kind = _storage.read(path)[1].get("kind")
    if kind == "model":
        from plackett.rankers.storage import load as load_model

        return load_model(path)
    if kind == "dataset":
        from plackett.data.native import open_dataset

        return open_dataset(path)
    raise DataError(f"{path}: holds a {kind!r}, which this version of plackett does not know")
