"""From a table with one row per shown document to the arrays of a log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett.clicks.bad_lines import BadLines
from plackett.clicks.readers.roles import PER_ROW, about_page
from plackett.clicks.readers.row_rules import LARGEST, row_rules, rows_that_keep
from plackett.clicks.readers.times import seconds
from plackett.data.frame_columns import id_array, missing_ids

if TYPE_CHECKING:
    import polars as pl

FROM_ZERO = "ranks begin at 0; the top is taken for rank 1 (first_rank=1 if it is not)"


class NoPagesError(DataError):
    """No usable lines are left of a table."""


def page_arrays(
    data: pl.DataFrame, bad: BadLines, first_rank: int | None = None, parts: Sequence[str] = ()
) -> dict[str, Any]:
    """The arguments of `ClickLog.from_arrays` for rows with one document each.

    The columns of the table are the roles, ``line``, and ``long`` for rows with too many cells. What is wrong is
    counted in ``bad``, and its page left out.
    """
    import polars as pl

    data = data.with_columns(
        _present(data[role]) for role in ("page", "query", "document", "user") if role in data.columns
    )
    numbers = [role for role in ("rank", *PER_ROW, "weight") if role in data.columns]  # the first fault is reported
    data = data.with_columns(_number(data[role]).alias(f"{role}_number") for role in numbers)
    if "rank" in numbers:
        data = _from_one(data, bad, first_rank)
    if "dwell" in numbers:
        data = _dwell_times(data, bad)
    data = rows_that_keep(data, row_rules(numbers, parts), bad)
    if not data.height:
        raise NoPagesError(f"no result pages; {bad}")
    keys = ["first", "rank_number"] if "rank" in numbers else ["first"]
    data = data.with_row_index("row").with_columns(first=pl.col("row").min().over("page"))
    data = data.sort(keys, maintain_order=True)
    heads = _heads(data, bad)
    known = heads.columns
    return {
        "query": id_array(heads["query"]),
        "documents": id_array(data["document"]),
        "lengths": heads["n"].to_numpy(),
        "ranks": _ranks(data, heads["n"].to_numpy().astype(np.int64)) if "rank" in numbers else None,
        "users": heads["user"].cast(pl.String).to_numpy() if "user" in known else None,
        "times": seconds(heads, bad) if "time" in known else None,
        "ranker": id_array(heads["ranker"]) if "ranker" in known else None,
        "weight": heads["weight_number"].to_numpy() if "weight_number" in known else None,
    } | {
        argument: data[f"{role}_number"].fill_null(float("nan")).to_numpy()
        for role, argument in PER_ROW.items()
        if role in numbers
    }


def _present(ids: pl.Series) -> pl.Series:
    """The ids of a column, null where a text or NaN says that there is none."""
    import polars as pl

    if ids.dtype.is_float():
        return ids.fill_nan(None)
    return ids.set(missing_ids(ids), None) if ids.dtype == pl.String else ids


def _number(column: pl.Series) -> pl.Expr:
    """The numbers of a column, null where a cell is none."""
    import polars as pl

    value = pl.col(column.name)
    if column.dtype == pl.String:
        flag = value.str.strip_chars().str.to_lowercase().replace({"true": "1", "false": "0"})
        return flag.cast(pl.Float64, strict=False)
    if column.dtype == pl.Boolean or column.dtype.is_numeric():
        return value.cast(pl.Float64)
    raise DataError(f"column for the {column.name} is {column.dtype}; numbers are needed")


def _from_one(data: pl.DataFrame, bad: BadLines, first_rank: int | None) -> pl.DataFrame:
    """Ranks that count from 1."""
    import polars as pl

    if first_rank is None:  # zeros on most pages are not mistakes
        tops = data.group_by("page").agg((pl.col("rank_number") == 0).any().alias("zero"))["zero"]
        first_rank = 0 if tops.len() and tops.sum() > 0.5 * tops.len() else 1
        if first_rank == 0:
            bad.note(FROM_ZERO, data["line"][0], "")
    return data.with_columns(rank_number=pl.col("rank_number") + (1 - first_rank))


def _dwell_times(data: pl.DataFrame, bad: BadLines) -> pl.DataFrame:
    """Replace dwell times that are not seconds by missing values, and note them; an empty cell is missing anyway."""
    import polars as pl

    value = pl.col("dwell_number")
    fine = value.is_between(0.0, LARGEST).fill_null(False)
    given = pl.col("dwell").cast(pl.String).str.strip_chars().str.to_lowercase()
    broken = data.filter(~fine & given.is_not_null() & ~given.is_in(["", "nan"]))
    bad.note_all("dwell is not a number from 0; left out", broken.select("line", "dwell"))
    return data.with_columns(dwell_number=pl.when(fine).then(value))


def _heads(data: pl.DataFrame, bad: BadLines) -> pl.DataFrame:
    """What there is once per page, and its number of rows ``n``; refuses a page with several queries."""
    import polars as pl

    once = ("query", "user", "time", "ranker", "weight_number")
    heads = data.group_by("first", maintain_order=True).agg(
        pl.len().alias("n"),
        *(pl.col(role).first() for role in once if role in data.columns),
        pl.col("query").n_unique().alias("queries"),
        pl.col("line").first(),
    )
    if (heads["queries"] > 1).any():
        row = heads.filter(pl.col("queries") > 1).row(0, named=True)
        raise DataError(
            f"the page that begins in {bad.unit} {row['line']} has {row['queries']} queries, and a page has one; "
            f"{about_page(bad)}"
        )
    return heads


def _ranks(data: pl.DataFrame, sizes: np.ndarray) -> np.ndarray | None:
    """The rank of each row; None if they are 1, 2, … on each page."""
    ranks = data["rank_number"].to_numpy().astype(np.int64)
    plain_ranks = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1
    return None if np.array_equal(ranks, plain_ranks) else ranks
