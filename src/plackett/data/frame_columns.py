"""Convert any table to a polars frame, and find its columns by their usual names."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.dtypes import StringDType

from plackett._base.errors import CellError, DataError, parameter
from plackett._names.nearest import nearest, plain, question
from plackett.data.grouping import ids_array, is_missing

if TYPE_CHECKING:
    import polars as pl

#: What programs write into a text file for a missing number.
MISSING_NUMBERS = ("None", "nan", "NaN", "NaT", "<NA>", "null", "NULL")

#: Names of a label if no other column looks like one, and of a feature otherwise.
WEAK_LABELS = ("rating", "target")

#: Names of the same thing elsewhere: ir-measures, PyTerrier, BEIR, click logs and plain tables. The first match
#: counts; case, ``_``, ``-`` and blanks do not matter.
ALIASES: dict[str, tuple[str, ...]] = {
    "qid": ("qid", "query_id", "q_id", "srch_id", "search_id", "topic_id", "query", "topic"),
    # PyTerrier has both: docno is the document's id, docid a number of the index
    "docid": (
        *("docno", "docid", "doc_id", "document_id", "corpus_id", "product_id", "item_id", "passage_id", "asin"),
        *("document", "doc", "product", "item"),
    ),
    "label": (
        *("label", "relevance", "y", "rel", "grade", "judgement", "judgment", "relevance_label", "relevance_grade"),
        *WEAK_LABELS,
    ),
    "score": ("score",),
    "subtopic": ("subtopic", "iteration"),
}


def is_table(value: Any) -> bool:
    """Whether this is a table of pandas, polars, Arrow or another library that exports columns."""
    marks = ("__arrow_c_stream__", "__dataframe__", "collect_schema")
    return is_pandas(value) or any(hasattr(value, mark) for mark in marks)


def as_polars(table: Any) -> pl.DataFrame:
    """Polars frame of a table of pandas, polars (also lazy), Arrow, or of a mapping of columns.

    Anything with the Arrow PyCapsule interface is taken without a copy where the types allow it. pandas is read
    column by column, so that it works without pyarrow.
    """
    import polars as pl

    if isinstance(table, pl.DataFrame):
        return table
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    if is_pandas(table):
        return _from_pandas(table)
    if hasattr(table, "__arrow_c_stream__"):
        return pl.DataFrame(table)
    if isinstance(table, Mapping):
        try:
            return pl.DataFrame(table)
        except (TypeError, pl.exceptions.PolarsError) as error:
            raise DataError(f"these columns do not form a table: {error}") from None
    if hasattr(table, "__dataframe__"):
        return pl.from_dataframe(table)
    raise DataError(
        f"a pandas, polars or Arrow table was expected, not {type(table).__module__}.{type(table).__name__}"
    )


def is_pandas(table: Any) -> bool:
    """Whether this is a frame of pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(table, pandas.DataFrame)


def _from_pandas(table: Any) -> pl.DataFrame:
    import polars as pl

    levels = [
        level
        for level in table.index.names
        if level is not None and level not in table.columns and any(is_alias(str(level), role) for role in ALIASES)
    ]
    if levels:  # a frame with set_index("qid")
        table = table.reset_index(level=levels)
    names = [str(name) for name in table.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"column {twice!r} occurs twice in the frame")
    return pl.DataFrame([_pandas_column(name, table.iloc[:, i]) for i, name in enumerate(names)])


def _pandas_column(name: str, column: Any) -> pl.Series:
    import polars as pl
    from pandas import CategoricalDtype
    from pandas.api.types import is_numeric_dtype

    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biufmM":
        return pl.Series(name, column.to_numpy())
    missing = column.isna().to_numpy()
    if is_numeric_dtype(dtype):  # nullable, sparse or Arrow's: NumPy's own type where nothing is missing
        target = getattr(dtype, "numpy_dtype", getattr(dtype, "subtype", np.dtype(np.float64)))
        if missing.any() or target.kind not in "biuf":
            return pl.Series(name, column.to_numpy(dtype=np.float64, na_value=np.nan))
        return pl.Series(name, column.to_numpy(dtype=target))
    values = column.astype(object)
    values = values.where(~missing, None).to_list() if missing.any() else values.to_list()
    if isinstance(dtype, CategoricalDtype):
        return pl.Series(name, [None if v is None else str(v) for v in values], dtype=pl.Categorical)
    try:
        return pl.Series(name, values)
    except (TypeError, pl.exceptions.PolarsError):  # mixed types; if the column is used, an error names it
        return pl.Series(name, values, dtype=pl.Object)


def look(table: pl.DataFrame, limit: int = 12) -> str:
    """Describe a table, for error messages."""
    columns = [f"{name} ({dtype})" for name, dtype in table.schema.items()]
    more = f", and {len(columns) - limit} more" if len(columns) > limit else ""
    return f"the table has {table.height} rows and the columns {', '.join(columns[:limit]) or 'none'}{more}"


def find_column(table: pl.DataFrame, role: str, name: str | None = None, *, needed: bool = True) -> str | None:
    """Column with a role: the one named or, if the name is just the role, one of the usual names.

    >>> import polars as pl
    >>> find_column(pl.DataFrame({"query_id": [1], "rel": [0]}), "qid")
    'query_id'
    """
    if name is not None and name in table.columns and name != role:
        return name
    usual = ALIASES.get(role, (role,)) if name in (None, role) else ()
    for candidate in usual:
        matches = [column for column in table.columns if _same(column, candidate)]
        if matches:
            return candidate if candidate in matches else matches[0]
    if name not in (None, role):
        near = nearest(str(name), table.columns)
        asked = f"; {question(near)}" if near else f": {look(table)}"
        raise DataError(f"there is no column {name!r} for {role}{asked}")
    if needed:
        others = f" (nor {', '.join(n for n in usual if n != role)})" if len(usual) > 1 else ""
        raise DataError(f"there is no column {role!r}{others}; name it with {parameter(role)}: {look(table)}")
    return None


def is_alias(column: str, role: str) -> bool:
    """Whether a column has one of the usual names of a role.

    >>> is_alias("Query ID", "qid"), is_alias("Y", "label")
    (True, False)
    """
    return any(_same(column, alias) for alias in ALIASES[role])


def is_weak_label(column: str) -> bool:
    """Whether a column has a name that is a label's only if no other column looks like one.

    >>> is_weak_label("Rating"), is_weak_label("grade")
    (True, False)
    """
    return any(_same(column, alias) for alias in WEAK_LABELS)


def _same(column: str, alias: str) -> bool:
    return column == alias or (len(alias) > 1 and plain(column) == plain(alias))  # Y may stand next to X


def id_array(series: pl.Series, *, blank: bool = False) -> np.ndarray:
    """Ids of a column as int64 or strings; a missing id (also an empty one unless ``blank``) or another type raises."""
    import polars as pl

    if series.null_count():
        raise CellError(series.name, series.is_null().arg_max() or 0, "the id is missing")
    if series.dtype.is_integer():
        whole = series.cast(pl.Int64, strict=False)
        return series.cast(pl.String).to_numpy().astype(StringDType()) if whole.null_count() else whole.to_numpy()
    if series.dtype.is_float():
        whole = series.cast(pl.Int64, strict=False)
        bad = (whole.cast(series.dtype) != series).fill_null(True)
        if bad.any():
            row = bad.arg_max() or 0
            bad_id = series[row]
            problem = f"{bad_id} is not an id: give whole numbers or text" if bad_id == bad_id else "the id is missing"
            raise CellError(series.name, row, problem)
        return whole.to_numpy()
    if series.dtype in (pl.String, pl.Categorical, pl.Enum):
        texts = series.cast(pl.String)
        if not blank and (empty := texts == "").any():
            raise CellError(series.name, empty.arg_max() or 0, "the id is empty")
        return texts.to_numpy().astype(StringDType())
    if series.dtype in (pl.Date, pl.Datetime):
        return ids_array(series.to_numpy(), series.name)
    if series.dtype == pl.Object:  # numbers among texts
        return _mixed_ids(series, blank)
    raise DataError(f"column {series.name!r} is {series.dtype}; ids are whole numbers, strings or dates")


def _mixed_ids(series: pl.Series, blank: bool) -> np.ndarray:
    values = series.to_list()
    for row, value in enumerate(values):
        if is_missing(value):
            raise CellError(series.name, row, "the id is missing")
        if not isinstance(value, (str, Integral)):
            raise CellError(series.name, row, f"{value!r:.80} is not an id: give whole numbers or text")
    return ids_array(np.array(values, object), series.name, blank=blank)


def missing_ids(texts: pl.Series) -> pl.Series:
    """Which ids of a text file are missing: empty ones, and words such as ``nan`` if all others are whole numbers.

    Otherwise, such a word is an id like any other.

    >>> import polars as pl
    >>> missing_ids(pl.Series(["7", "nan"])).to_list(), missing_ids(pl.Series(["a", "nan"])).to_list()
    ([False, True], [False, False])
    """
    empty = texts.is_null() | (texts == "").fill_null(True)
    absent = empty | texts.is_in(MISSING_NUMBERS).fill_null(True)
    others = texts.filter(~absent)
    return absent if others.len() and are_whole(others) else empty


def are_whole(texts: pl.Series) -> bool:
    """Whether all texts are whole numbers, perhaps written with a decimal point."""
    return bool(texts.str.contains(r"^-?[0-9]+(\.0)?$").all())


def first_missing(ids: np.ndarray) -> int | None:
    """Position of the first id of a text file that is missing (see `missing_ids`); None if there is none.

    >>> first_missing(np.array(["7", "nan"], StringDType())), first_missing(np.array(["a", "nan"], StringDType()))
    (1, None)
    """
    if ids.dtype.kind == "i" or set(MISSING_NUMBERS).isdisjoint(ids.tolist()):
        return None
    missing = missing_ids(id_series("id", ids))
    return missing.arg_max() if missing.any() else None


def id_series(name: str, ids: np.ndarray) -> pl.Series:
    """Polars column of ids."""
    import polars as pl

    if ids.dtype.kind == "i":
        return pl.Series(name, ids)
    return pl.Series(name, ids.tolist(), dtype=pl.String)


def id_strings(series: pl.Series) -> pl.Series:
    """Ids of a column as text."""
    import polars as pl

    if series.dtype == pl.String and not series.null_count() and not (series == "").any():
        return series
    return id_series(series.name, id_array(series)).cast(pl.String)
