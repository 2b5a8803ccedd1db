"""Checks of arguments that are arrays: NaN and infinite values raise errors instead of counting as correct."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset


def array(
    name: str, value: Any, ndim: int | None = 1, *, least: float = -inf, most: float = inf, empty: bool = False
) -> np.ndarray:
    """An argument as an array of finite floats inside [least, most], or an error that names the first bad entry.

    >>> array("margins", [1, 2]).tolist()
    [1.0, 2.0]
    >>> array("margins", [1.0, float("nan")])
    Traceback (most recent call last):
    ...
    plackett._base.errors.DataError: margins[1] is nan; give finite numbers
    """
    try:
        table = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name}={value!r:.80}; give an array of numbers") from None
    if ndim is not None and table.ndim != ndim:
        shape = {0: "a number", 1: "a column of numbers", 2: "a table of numbers"}[ndim]
        raise DataError(f"{name} has shape {table.shape}; give {shape}")
    if not empty and not table.size:
        raise DataError(f"{name} is empty; give at least one number")
    _refuse(name, table, ~np.isfinite(table), "finite numbers")
    _refuse(name, table, table < least, f"numbers of {least:g} or more")
    _refuse(name, table, table > most, f"numbers of {most:g} or less")
    return table


def _refuse(name: str, table: np.ndarray, bad: np.ndarray, wanted: str) -> None:
    if bad.any():
        where = np.unravel_index(int(np.argmax(bad)), table.shape)
        index = f"[{', '.join(map(str, where))}]" if table.ndim else ""
        raise DataError(f"{name}{index} is {table[where]:g}; give {wanted}")


def matching(**arrays: np.ndarray) -> None:
    """Raise an error unless all arrays have the same shape."""
    if len({table.shape for table in arrays.values()}) > 1:
        shapes = ", ".join(f"{name} {table.shape}" for name, table in arrays.items())
        raise DataError(f"{shapes}: the shapes differ; give arrays of the same shape")


def row_scores(data: RankingDataset, scores: Any, name: str = "scores") -> np.ndarray:
    """Finite scores, one for each row of a dataset."""
    values = array(name, scores, empty=True)
    if values.shape != (data.n_rows,):
        raise DataError(f"{name} have shape {values.shape}; the dataset has {data.n_rows} rows")
    return values
