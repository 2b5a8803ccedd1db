"""Times of pages: numbers, or dates and times as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plackett.clicks.bad_lines import BadLines

if TYPE_CHECKING:
    import polars as pl

#: A larger number (as seconds, the year 5138) is in milliseconds, microseconds or nanoseconds.
_MILLISECONDS = 1e11
#: A date and a time of ISO 8601: date, hours and minutes, seconds, and the sign, hours and minutes of the offset.
_ISO = (
    r"^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2}(?:[.,]\d+)?))?)?"
    r"\s*(?:Z|UTC|GMT|([+-])(\d{2}):?(\d{2})?)?$"
)


def seconds(heads: pl.DataFrame, bad: BadLines) -> np.ndarray:
    """Seconds since 1970 of each page; NaN where the time is missing, or not understood, which is noted."""
    import polars as pl

    series = heads["time"]
    if series.dtype.is_temporal():
        return (series.cast(pl.Datetime("us")).dt.epoch("us") / 1e6).fill_null(float("nan")).to_numpy()
    moments = series.cast(pl.Float64, strict=False)
    if series.dtype == pl.String:
        text = series.str.strip_chars()
        parts = text.to_frame("t").select(
            *(pl.col("t").str.extract(_ISO, group).alias(str(group)) for group in range(1, 7))
        )
        moment = parts.select(
            pl.concat_str(pl.col("1"), pl.lit(" "), pl.col("2").fill_null("00:00"), pl.lit(":00"))
            .str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False)
            .dt.epoch("ms")
            / 1000.0
            + pl.col("3").str.replace(",", ".").cast(pl.Float64, strict=False).fill_null(0.0)
            - pl.when(pl.col("4") == "-").then(-60.0).otherwise(60.0)
            * (pl.col("5").cast(pl.Float64).fill_null(0.0) * 60 + pl.col("6").cast(pl.Float64).fill_null(0.0))
        ).to_series()
        moments = text.cast(pl.Float64, strict=False).fill_null(moment)
        wrong = heads.filter(moments.is_null() & text.is_not_null() & (text != ""))
        reason = "the time is neither a number nor a date and time such as 2026-05-01T09:30:00+02:00; left out"
        bad.note_all(reason, wrong.select("line", "time"))
    values = moments.fill_null(float("nan")).to_numpy().copy()
    for _ in range(3):
        values[np.abs(values) > _MILLISECONDS] /= 1000.0
    return values
