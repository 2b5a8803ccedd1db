"""Argument checks shared by this package: NaN and infinite values raise errors instead of counting as correct."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isfinite
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


def number(
    name: str, value: Any, *, above: float = -inf, least: float = -inf, below: float = inf, most: float = inf
) -> float:
    """An argument as a finite float inside its limits: above and below exclude the limit, least and most include it.

    >>> number("rho", 0.5, above=0)
    0.5
    >>> number("rho", 0, above=0)
    Traceback (most recent call last):
    ...
    plackett._base.errors.DataError: rho=0; give a number above 0
    """
    try:
        given = float(value)
    except (TypeError, ValueError):
        raise DataError(f"{name}={value!r:.80}; give a number") from None
    inside = isfinite(given) and above < given < below and least <= given <= most
    if not inside:
        limits = [
            f"{word} {limit:g}"
            for word, limit in (("above", above), ("of at least", least), ("below", below), ("of at most", most))
            if isfinite(limit)
        ]
        raise DataError(
            f"{name}={value}; give a {'number' if limits else 'finite number'} {' and '.join(limits)}".strip()
        )
    return given


def whole(name: str, value: Any, least: int) -> int:
    """An argument as a whole number of at least ``least``.

    >>> whole("judgements", 2e4, least=4)
    20000
    """
    given = number(name, value, least=least)
    if given != int(given):
        raise DataError(f"{name}={value}; give a whole number")
    return int(given)


def positive(**values: Any) -> None:
    """Raise an error unless all numbers are positive and finite."""
    for name, value in values.items():
        number(name, value, above=0.0)


def probability(name: str, value: Any) -> float:
    """A probability strictly between 0 and 1."""
    return number(name, value, above=0.0, below=1.0)


def choice(name: str, value: Any, options: Iterable[Any]) -> None:
    """Raise an error unless the value is one of the options."""
    known = list(options)
    if value not in known:
        raise DataError(f"{name}={value!r}; give one of {', '.join(map(repr, known))}")


def row_scores(data: RankingDataset, scores: Any, name: str = "scores") -> np.ndarray:
    """Finite scores, one for each row of a dataset."""
    values = array(name, scores, empty=True)
    if values.shape != (data.n_rows,):
        raise DataError(f"{name} have shape {values.shape}; the dataset has {data.n_rows} rows")
    return values
