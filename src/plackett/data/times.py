"""Times as numbers: dates and dates with times become seconds since 1970 (UTC), numbers stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import CellError, DataError

if TYPE_CHECKING:
    import polars as pl


def seconds(series: pl.Series) -> np.ndarray:
    """A column of dates, dates with times, text such as ``2024-05-31T12:00:00``, or numbers; none may be missing.

    >>> import polars as pl
    >>> seconds(pl.Series("asked", ["1970-01-02", "1970-01-02 00:01:00", "1970-01-02T00:00:00Z"])).tolist()
    [86400.0, 86460.0, 86400.0]
    """
    import polars as pl

    values = series
    if series.dtype == pl.String:
        text = series.str.strip_chars().str.strip_suffix("Z")
        values = text.str.to_date("%Y-%m-%d", strict=False).cast(pl.Datetime("us"))
        for form in ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M"):
            values = values.fill_null(text.str.replace("T", " ").str.to_datetime(form, time_unit="us", strict=False))
        numbers = text.cast(pl.Float64, strict=False)
        values = numbers if numbers.null_count() < values.null_count() else values
    if values.dtype == pl.Date or values.dtype == pl.Datetime:
        values = values.dt.epoch("us").cast(pl.Float64) / 1e6
    if not values.dtype.is_numeric():
        raise DataError(
            f"column {series.name!r} is {series.dtype}; a time is a date, a date with a time of day, or a number"
        )
    found = values.cast(pl.Float64).fill_null(np.nan).to_numpy()
    bad = np.flatnonzero(~np.isfinite(found))
    if bad.size:
        row, form = int(bad[0]), "2024-05-31 or 2024-05-31T12:00:00"
        missing = series[row] is None or series[row] != series[row]
        problem = "the time is missing" if missing else f"{series[row]!r:.60} is not a time; write {form}"
        raise CellError(series.name, row, problem)
    return found


def times(values: Any, name: str) -> np.ndarray:
    """Times in a list, an array or a column, as numbers.

    >>> import datetime
    >>> times([datetime.date(1970, 1, 2)], "cutoffs").tolist(), times([3, 2.5], "cutoffs").tolist()
    ([86400.0], [3.0, 2.5])
    """
    import polars as pl

    array = np.asarray(values)
    if array.ndim != 1:
        raise DataError(f"{name} has shape {array.shape}; give a list of dates or numbers")
    if array.dtype.kind == "M":
        array = array.astype("datetime64[us]")
    try:
        series = pl.Series(name, array if array.dtype.kind in "iufM" else array.tolist())
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise DataError(f"{name}: give dates or numbers, all of one kind ({error})") from None
    return seconds(series)


def duration(value: Any, name: str) -> float:
    """A length of time: a number, or a ``timedelta`` in seconds.

    >>> import datetime
    >>> duration(datetime.timedelta(days=1), "embargo"), duration(7, "embargo")
    (86400.0, 7.0)
    """
    if isinstance(value, np.timedelta64):
        value = value / np.timedelta64(1, "s")
    length = value.total_seconds() if hasattr(value, "total_seconds") else value
    if isinstance(length, bool) or not isinstance(length, (int, float)) or not 0 <= length < np.inf:
        raise DataError(f"{name}={value!r}; give a timedelta, or a number of 0 or more in the unit of the times")
    return float(length)
