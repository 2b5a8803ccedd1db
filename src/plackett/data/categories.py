"""Columns of categories: their values, and the codes that stand for them in a table of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from plackett._base.errors import DataError, in_shell, parameter

#: Whole numbers up to here are exact in single precision.
_MOST = 1 << 24


def is_category(dtype: Any) -> bool:
    """Whether a column is of pandas' ``category``, or polars' `Categorical` or `Enum`."""
    return hasattr(dtype, "categories") or str(dtype).startswith(("Categorical", "Enum"))


def category_columns(frame: Any, more: Sequence[str] = ()) -> dict[str, list[Any]]:
    """The categorical columns of a frame (pandas' ``category``, polars' `Categorical` and `Enum`), with values.

    ``more`` are columns of text or numbers that hold categories too.

    >>> import pandas as pd
    >>> category_columns(pd.DataFrame({"brand": pd.Categorical(["b", "a"]), "price": [1.0, 2.0]}))
    {'brand': ['a', 'b']}
    """
    columns: dict[str, list[Any]] = {}
    for name, dtype in zip(frame.columns, frame.dtypes, strict=True):
        if not is_category(dtype) and name not in more:
            continue
        if hasattr(dtype, "categories") and hasattr(frame, "iloc"):
            values = frame[name].cat.categories.tolist()
        elif str(dtype).startswith("Enum"):
            values = dtype.categories.to_list()
        elif hasattr(frame, "iloc"):
            values = sorted(frame[name].dropna().unique().tolist(), key=_text_last)
        else:
            # sorted: the order of appearance would make the codes depend on the order of the rows
            column = frame[name].cast(str) if is_category(dtype) else frame[name]
            values = sorted(
                value for value in column.unique().drop_nulls().to_list() if value == value
            )  # NaN is missing
        odd = [value for value in values if not isinstance(value, (str, bool, int, float))]
        if odd:
            raise DataError(
                f"the categories of column {name!r} are of type {type(odd[0]).__name__}; convert them to text with "
                "astype(str).astype('category')"
            )
        columns[name] = values
    return columns


def _text_last(value: Any) -> tuple[bool, Any]:
    return isinstance(value, str), value


def category_codes(column: Any, values: Sequence[Any]) -> np.ndarray:
    """A column as the number of each entry among the values; NaN for missing and unknown ones.

    >>> import polars as pl
    >>> category_codes(pl.Series(["b", None, "x"]), ["a", "b"]).tolist()
    [1.0, nan, nan]
    """
    if hasattr(column, "iloc"):  # pandas
        import pandas as pd

        if isinstance(column.dtype, pd.CategoricalDtype):
            codes, own = column.cat.codes.to_numpy(), column.cat.categories
        else:
            codes, own = pd.factorize(column)
        return recoded(codes, own.tolist(), values)
    import polars as pl

    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    unique = column.unique().drop_nulls().to_list()
    if not unique:
        return np.full(column.len(), np.nan, np.float32)
    places = recoded(np.arange(len(unique)), unique, values).tolist()
    table = dict(zip(unique, places, strict=True))
    return column.replace_strict(table, default=None, return_dtype=pl.Float32).fill_null(np.nan).to_numpy()


def recoded(codes: np.ndarray, own: Sequence[Any], known: Sequence[Any]) -> np.ndarray:
    """Codes of some values as the codes of the same values in another list; NaN where they are not in it.

    Numbers and text are the same value if they are written the same: what came from a text file may be either.

    >>> recoded(np.array([0.0, 1.0, np.nan]), ["b", "c"], ["a", "b"]).tolist()
    [1.0, nan, nan]
    """
    place = {str(value): i for i, value in enumerate(known)} | {value: i for i, value in enumerate(known)}
    table = np.array([place.get(value, place.get(str(value), np.nan)) for value in own] + [np.nan], np.float32)
    inside = (codes >= 0) & (codes < len(own))
    return table[np.where(inside, codes, len(own)).astype(np.int64)]


def checked_categories(given: Mapping[str, Sequence[Any]], names: Sequence[str] | None) -> dict[str, tuple[Any, ...]]:
    """The values of each feature that holds categories, after checks; also of a file."""
    checked: dict[str, tuple[Any, ...]] = {}
    if not isinstance(given, Mapping):
        raise DataError(f"categories must be a mapping from features to their values, not a {type(given).__name__}")
    for name, values in given.items():
        if names is None or name not in names:
            raise DataError(f"categories: there is no feature {name!r}")
        whole = not isinstance(values, str) and all(isinstance(value, (str, bool, int, float)) for value in values)
        if not whole or len({*map(str, values)}) < len(values) or len(values) > _MOST:
            raise DataError(f"categories of {name!r}: give its values, text or numbers that differ as text, in a list")
        checked[name] = tuple(values)
    return checked


def check_codes(X: np.ndarray, names: Sequence[str], categories: Mapping[str, Sequence[Any]]) -> None:
    """Raise an error unless features that hold categories are numbers of their values, or missing."""
    for name, values in categories.items():
        codes = X[:, list(names).index(name)]
        bad = np.flatnonzero(~(np.isnan(codes) | ((codes >= 0) & (codes < len(values)) & (codes == np.floor(codes)))))
        if bad.size:
            raise DataError(
                f"feature {name!r}, row {bad[0]}: {codes[bad[0]]:g} is not the number of one of its {len(values)} "
                "categories, which count from 0"
            )


def refuse_categories(categories: Iterable[str] | None, who: str) -> None:
    """Raise an error if features hold categories, for what takes numbers only."""
    if categories:
        given = list(categories)
        names = ", ".join(map(repr, given))
        raise DataError(
            f"{names}: {who} takes numbers, not categories; tree rankers such as LambdaMART take both. Leave "
            f"categories out with {parameter('drop', ','.join(given) if in_shell() else repr(given))}, or encode them "
            "as numbers (plackett.OrderedTargetEncoder, one-hot)"
        )
