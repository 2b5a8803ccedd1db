"""A check that a function was given a dataset."""

from __future__ import annotations

from typing import Any

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset


def check_dataset(data: Any, name: str = "data") -> RankingDataset:
    """The data; arrays, frames and the like, which do not say which rows are lists, are refused with what to do.

    >>> check_dataset([[1.0, 2.0]])
    Traceback (most recent call last):
        ...
    plackett._base.errors.DataError: data is of type list; make a dataset of it: pk.RankingDataset.from_arrays(...
    """
    if isinstance(data, RankingDataset):
        return data
    tabular = hasattr(data, "columns") or hasattr(data, "column_names")
    call = "from_frame(…)" if tabular else "from_arrays(X, y, qid=…)"
    raise DataError(f"{name} is of type {type(data).__name__}; make a dataset of it: pk.RankingDataset.{call}")
