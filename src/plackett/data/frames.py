"""Datasets from and to tables of pandas, polars and Arrow."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import CellError, DataError, in_shell, parameter
from plackett.data.categories import category_codes, category_columns
from plackett.data.columns import OWN, Columns, is_number
from plackett.data.fields import FIELDS
from plackett.data.frame_columns import id_array, id_series
from plackett.data.grouped import Grouped
from plackett.data.strings import Strings
from plackett.data.times import seconds

if TYPE_CHECKING:
    import polars as pl

#: The largest feature: they are stored in single precision.
_LARGEST = float(np.finfo(np.float32).max)

#: Numbers as spreadsheets write them in many countries: 0,5 or 1.234,5.
_DECIMAL_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+")


def columns_of_rows(table: pl.DataFrame, chosen: Columns, sparse: bool, pandas: Any) -> dict[str, Any]:
    """The arguments of `RankingDataset.from_arrays` that a table has for its rows.

    Parameters
    ----------
    chosen
        The roles of the columns.
    pandas
        The frame that the table was made of, or None.
    """
    roles = chosen.roles
    table, categories = _coded(table, chosen.categories, pandas)
    X, names = _features(table, list(chosen.features), sparse)
    numbers = {"label": "y", "sample_weight": "sample_weight", "position": "positions"}
    return {
        "X": X,
        "qid": id_array(table[roles["qid"]]),
        **{name: _numbers(table[roles[role]], role) for role, name in numbers.items() if role in roles},
        "docids": id_array(table[roles["docid"]], blank=True) if "docid" in roles else None,
        "subtopics": _nested(table["subtopics"]) if "subtopics" in table.columns else None,
        "comments": _comments(table["comment"]) if "comment" in table.columns else None,
        "feature_names": names or None,
        "categories": categories,
    }


def columns_of_queries(table: pl.DataFrame, chosen: Columns, data: Grouped) -> dict[str, Any]:
    """The fields of queries that a table has, in the order of the queries of the dataset of its rows."""
    roles = chosen.roles
    per_query: dict[str, Any] = {}
    if "query_time" in roles:
        times = data.from_input_order(seconds(table[roles["query_time"]]))
        per_query["query_time"] = np.minimum.reduceat(times, data.offsets[:-1]) if times.size else times
    if "query_weight" in roles:
        weights = _numbers(table[roles["query_weight"]], "query_weight")
        per_query["query_weight"] = _of_queries(data, weights, "query_weight")
    if "subtopic_weight" in table.columns:
        per_query["subtopic_weight"] = _of_queries(
            data, _nested(table["subtopic_weight"], np.float64), "subtopic_weight"
        )
    if chosen.query_features:
        columns = [_of_queries(data, _floats(table[name]), name) for name in chosen.query_features]
        per_query["query_features"] = np.stack(columns, axis=1).astype(np.float32)
    elif "query_features" in table.columns:
        values = _of_queries(data, _nested(table["query_features"]), "query_features")
        per_query["query_features"] = values.astype(np.float32)
    return per_query


def _coded(table: pl.DataFrame, names: Sequence[str], pandas: Any) -> tuple[pl.DataFrame, dict[str, list[Any]]]:
    """The table with the number of each category instead of the category, and the categories.

    Those of a pandas frame are of any type and in an order of their own, which polars does not keep.
    """
    if not names:
        return table, {}
    import polars as pl

    frame = table if pandas is None else pandas.set_axis([str(name) for name in pandas.columns], axis=1)
    values = category_columns(frame[list(names)], names)
    codes = [pl.Series(name, category_codes(frame[name], known)) for name, known in values.items()]
    return table.with_columns(codes), values


def _features(table: pl.DataFrame, names: list[str], sparse: bool) -> tuple[Any, list[str]]:
    import polars as pl

    height = table.height  # a selection of no columns has no rows
    table = table.select(names)
    for name in names:
        dtype = table.schema[name]
        if isinstance(dtype, (pl.List, pl.Array)) and dtype.inner is not None and is_number(dtype.inner):
            values = _nested(table[name])
            columns = [pl.Series(f"{name}_{j}", values[:, j]) for j in range(values.shape[1])]
            position = table.get_column_index(name)
            table = table.drop(name)
            for j, column in enumerate(columns):
                table = table.insert_column(position + j, column)
        elif not is_number(dtype):
            _refuse_text(table[name])
        elif (huge := table[name].cast(pl.Float64).fill_nan(None).abs() > _LARGEST).any():
            row = huge.arg_max() or 0
            raise CellError(
                name,
                row,
                f"{table[name][row]} is not a finite number of single precision (up to 3.4e38); leave a "
                "missing value empty",
            )
    if sparse:
        return _sparse(table, height), table.columns
    X = table.cast(pl.Float32).to_numpy(order="c") if table.width else np.empty((height, 0), np.float32)
    return X, table.columns


def _refuse_text(series: pl.Series) -> None:
    """Say what is wrong with a feature of another type, and where: one bad cell makes a whole column text."""
    what = f"column {series.name!r} is {series.dtype}, but features must be numbers"
    leave = parameter("drop", repr(series.name) if in_shell() else f"[{series.name!r}]")
    name = repr(series.name)
    if series.dtype.is_temporal():
        raise DataError(f"{what}: leave it out with {leave}, or say that it is the time with {parameter('time', name)}")
    advice = f"encode it (one-hot or as numbers), or leave it out with {leave}"
    trees = f"; for tree rankers, it may hold categories: {parameter('categories', name)}"
    odd = _odd_cells(series)
    if odd is None:
        raise DataError(f"{what}: {advice}")
    row, count = odd
    problem = f"{series[row]!r:.60} is not a number"
    if _DECIMAL_COMMA.fullmatch(str(series[row])):
        raise CellError(series.name, row, f"{problem}: it has a decimal comma; write the numbers with a point")
    if 2 * count > series.len():  # a column of text
        raise DataError(f"{what}, and {problem}: {advice}{trees}")
    others = f", like {count - 1} more of this column" if count > 1 else ""
    raise CellError(series.name, row, f"{problem}{others}: correct it, or {advice}")


def _odd_cells(series: pl.Series) -> tuple[int, int] | None:
    """The first row of a column of text that is not a number, and how many there are; None for other types."""
    import polars as pl

    if series.dtype != pl.String:
        return None
    odd = series.str.strip_chars().cast(pl.Float64, strict=False).is_null() & series.is_not_null()
    return (odd.arg_max() or 0, int(odd.sum())) if odd.any() else None


def _sparse(table: pl.DataFrame, height: int) -> Any:
    """The entries that are not 0, column by column, so that no dense table is made."""
    import polars as pl
    from scipy.sparse import csc_matrix

    columns = [table[name].cast(pl.Float32).to_numpy() for name in table.columns]
    rows = [np.flatnonzero(column) for column in columns]  # NaN is not 0
    values = [column[some] for column, some in zip(columns, rows, strict=True)]
    pointers = np.cumsum([0, *(some.size for some in rows)])
    empty = np.empty(0, np.int64), np.empty(0, np.float32)
    parts = np.concatenate([empty[1], *values]), np.concatenate([empty[0], *rows]), pointers
    return csc_matrix(parts, shape=(height, table.width)).tocsr()


def _numbers(series: pl.Series, role: str) -> np.ndarray:
    import polars as pl

    if not is_number(series.dtype):
        odd = _odd_cells(series)
        if odd is not None:
            raise CellError(series.name, odd[0], f"{series[odd[0]]!r:.60} is not a number")
        raise DataError(f"column {series.name!r} is {series.dtype}; it must hold numbers")
    values = series.cast(pl.Float64).to_numpy()
    fits, what = _NUMBERS[role]
    bad = np.flatnonzero(~(np.isfinite(values) & fits(values)))
    if bad.size:
        row = int(bad[0])
        problem = "the value is missing" if series[row] is None else f"{series[row]} is not {what}"
        raise CellError(series.name, row, problem + (" (use -1 for an unjudged document)" if role == "label" else ""))
    return values


_WEIGHT: tuple[Callable[[np.ndarray], Any], str] = lambda v: v >= 0, "a weight: give finite numbers of 0 or more"
#: What the finite numbers of a role must be.
_NUMBERS: dict[str, tuple[Callable[[np.ndarray], Any], str]] = {
    "label": (lambda v: True, "a finite number"),
    "sample_weight": _WEIGHT,
    "query_weight": _WEIGHT,
    "position": (lambda v: (v >= 1) & (v == np.floor(v)), "a position: a whole number, 1 at the top of the list"),
}


def _floats(series: pl.Series) -> np.ndarray:
    """Numbers, NaN where they are missing."""
    import polars as pl

    if not is_number(series.dtype):
        raise DataError(f"column {series.name!r} is {series.dtype}; it must hold numbers")
    return series.cast(pl.Float64).fill_null(np.nan).to_numpy()


def _comments(series: pl.Series) -> Strings:
    import polars as pl

    return Strings.from_values(series.cast(pl.String).fill_null("").to_numpy())


def _nested(series: pl.Series, dtype: Any = np.float32) -> np.ndarray:
    """Table of a column whose entries are lists of one length."""
    import polars as pl

    if isinstance(series.dtype, pl.List):
        lengths = series.list.len()
        if series.null_count() or lengths.n_unique() > 1:
            raise DataError(f"column {series.name!r}: its lists must be present and of equal length")
        series = series.list.to_array(lengths[0] if lengths.len() else 0)
    elif not isinstance(series.dtype, pl.Array):
        raise DataError(f"column {series.name!r} is {series.dtype}; lists of numbers were expected")
    if not is_number(series.dtype.inner):  # type: ignore[attr-defined]
        raise DataError(f"column {series.name!r} is {series.dtype}; lists of numbers were expected")
    width = series.dtype.size  # type: ignore[attr-defined]
    flat = series.explode().to_numpy().astype(dtype) if width and series.len() else np.empty(0, dtype)
    return flat.reshape(series.len(), width)


def _of_queries(data: Grouped, values: Any, name: str) -> np.ndarray:
    """One entry per query, of a column that repeats it on every row of the query."""
    values = data.from_input_order(values).astype(np.float64)
    first = values[data.offsets[:-1]]
    repeated = first[data.query_of_row]
    unequal = (values != repeated) & ~(np.isnan(values) & np.isnan(repeated))
    differs = np.flatnonzero(unequal.any(axis=tuple(range(1, unequal.ndim))))
    if differs.size:
        raise DataError(f"{name} differs between the rows of query {data.qids[data.query_of_row[differs[0]]]}")
    return first


def to_polars(data: Grouped) -> pl.DataFrame:
    """One row per document; see `RankingDataset.to_polars`."""
    import polars as pl

    rows = pl.Series(data.query_of_row)
    columns = [id_series("qid", data.qids).gather(rows)]
    for name, field in FIELDS.items():
        values = getattr(data, name)
        if values is None:
            continue
        if field.dtype in (None, str):
            columns.append(id_series(field.column, values if field.dtype is None else values.to_numpy()))
            continue
        values = values if field.per == "row" else values[data.query_of_row]
        columns.append(_arrays(field.column, values) if field.width else pl.Series(field.column, values))
    names = data.feature_names or [f"f{j + 1}" for j in range(data.n_features)]
    kinds = data.categories or {}
    clash = {series.name for series in columns}.intersection(names)
    if clash or len(set(names)) < len(names):
        raise DataError(f"feature names must be unique and not {', '.join(OWN)}; found {sorted(clash) or 'duplicates'}")
    table = pl.DataFrame(columns)
    if not names:
        return table
    features = pl.from_numpy(data.dense(), schema=list(names), orient="row")
    return table.hstack(features.with_columns(_named_values(features[name], kinds[name]) for name in kinds))


def _named_values(codes: pl.Series, values: Sequence[Any]) -> pl.Series:
    """Codes of categories as their values, in text: a column of categories of pandas and polars alike."""
    import polars as pl

    texts = [str(value) for value in values]
    place = codes.fill_nan(None)
    place = place.set((place < 0) | (place >= len(texts)), None).cast(pl.UInt32)
    return pl.Series(codes.name, texts, dtype=pl.Enum(texts)).gather(place).alias(codes.name)


def _arrays(name: str, values: np.ndarray) -> pl.Series:
    import polars as pl

    return pl.Series(name, values.ravel()).reshape((-1, values.shape[1]))
