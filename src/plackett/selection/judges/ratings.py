"""Labels of several judges for the same items."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError, parameter
from plackett._files.checks import check_regular
from plackett._names.nearest import plain
from plackett.data.frame_columns import as_polars, find_column, is_table

if TYPE_CHECKING:
    import polars as pl

_JUDGE = ("judge", "rater", "assessor", "annotator", "worker", "user", "book")


@dataclass(frozen=True, eq=False)
class JudgeRatings:
    """Table of labels, items × judges, with NaN where a judge did not label an item.

    >>> ratings = JudgeRatings.of([[1, 1], [2, float("nan")], [0, 2]])
    >>> ratings.grades.tolist(), ratings.codes.tolist()
    ([0.0, 1.0, 2.0], [[1, 1], [2, -1], [0, 2]])
    """

    labels: np.ndarray
    judges: tuple[str, ...]
    #: Columns of a table that identify the item of a row; none for arrays.
    items: pl.DataFrame | None = None

    def __post_init__(self) -> None:
        if self.labels.ndim != 2 or self.labels.shape[1] < 2:
            given = f"the shape is {self.labels.shape}" if not self.judges else f"found {', '.join(self.judges)}"
            raise DataError(f"labels of two judges or more are needed, items × judges; {given}")
        if np.isinf(self.labels).any():
            raise DataError("labels must be numbers or missing, found infinity")
        if not np.isfinite(self.labels).any():
            raise DataError("there are no labels")

    @property
    def grades(self) -> np.ndarray:
        """The distinct labels, ascending."""
        return np.unique(self.labels[~np.isnan(self.labels)])

    @property
    def codes(self) -> np.ndarray:
        """Number of each label among the grades, -1 where missing."""
        return np.where(np.isnan(self.labels), -1, np.searchsorted(self.grades, self.labels))

    @property
    def counts(self) -> np.ndarray:
        """How many judges gave each grade, items × grades."""
        codes = self.codes
        return np.stack([(codes == k).sum(axis=1) for k in range(self.grades.size)], axis=1)

    @classmethod
    def of(cls, source: Any, judges: Sequence[str] | None = None) -> JudgeRatings:
        """Ratings from an array, a table or a CSV file.

        A table has either one row per label, with a column ``judge`` (or rater, worker, …) in addition to query,
        document and label, or one row per item and one column per judge: those named in ``judges``, or else the columns
        whose names look like ratings of a judge (``agent_1_rating``, ``rater2``).
        """
        if isinstance(source, JudgeRatings):
            return source
        if isinstance(source, (str, os.PathLike)):
            import polars as pl

            path = Path(source)
            check_regular(path)
            try:
                table = pl.read_csv(path, infer_schema_length=None)
            except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
                raise DataError(
                    f"{path}: not a table of comma-separated values: {str(error).splitlines()[0]}"
                ) from None
            try:
                return cls._of_table(table, judges)
            except DataError as error:
                raise DataError(f"{path}: {error}") from None
        if is_table(source):
            return cls._of_table(as_polars(source), judges)
        labels = np.asarray(source, np.float64)
        names = judges or [f"judge {i + 1}" for i in range(labels.shape[1] if labels.ndim == 2 else 0)]
        return cls(labels, tuple(names))

    @classmethod
    def _of_table(cls, table: pl.DataFrame, judges: Sequence[str] | None) -> JudgeRatings:
        import polars as pl

        who = next((name for name in table.columns if plain(name).removesuffix("id") in _JUDGE), None)
        if judges is None and who is not None:
            keys = [str(find_column(table, "qid")), str(find_column(table, "docid"))]
            value = str(find_column(table, "label"))
            twice = table.group_by(*keys, who).len().filter(pl.col("len") > 1)
            if twice.height:
                row = twice.row(0)
                raise DataError(f"judge {row[2]!r} labels query {row[0]!r}, document {row[1]!r} {row[3]} times")
            unnamed = table[who].is_null()
            if unnamed.any():
                raise DataError(f"column {who!r}, row {(unnamed.arg_max() or 0) + 1}: the judge is missing")
            names = sorted(table[who].cast(pl.String).unique().to_list())
            if not names:
                raise DataError("there are no labels: the table has no rows")
            pairs = table.select(qid=keys[0], docid=keys[1]).with_row_index("row")
            start = pairs.select(pl.col("row").first().over("qid", "docid")).to_series().to_numpy()
            first, item = np.unique(start, return_inverse=True)
            number = {name: j for j, name in enumerate(names)}
            labels = np.full((first.size, len(names)), np.nan)
            judge = [number[name] for name in table[who].cast(pl.String)]
            labels[item, judge] = _numbers(table, [value])[:, 0]
            return cls(labels, tuple(names), table.select(keys)[first])
        if judges is None:
            marks = ("rating", "label", "grade", "score", *_JUDGE, "agent")
            judges = [
                name
                for name in table.columns
                if any(c.isdigit() for c in name) and any(mark in plain(name) for mark in marks)
            ]
            if len(judges) < 2:
                raise DataError(
                    f"no columns of judges found: name two or more ({parameter('judges', '[…]')}), or have a column "
                    f"'judge' with one row per label; the columns are {', '.join(table.columns)}"
                )
        for name in judges:
            if name not in table.columns:
                raise DataError(f"no column {name!r}; the columns are {', '.join(table.columns)}")
            if list(judges).count(name) > 1:
                raise DataError(f"column {name!r} is given as a judge more than once")
        rest = [name for name in table.columns if name not in judges]
        return cls(_numbers(table, judges), tuple(judges), table.select(rest))


def _numbers(table: pl.DataFrame, names: Sequence[str]) -> np.ndarray:
    import polars as pl

    columns = []
    for name in names:
        column = table[name]
        if not column.dtype.is_numeric():
            numbers = column.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
            bad = numbers.is_null() & column.is_not_null() & (column.cast(pl.String).str.strip_chars() != "")
            if bad.any():
                row = bad.arg_max() or 0
                raise DataError(f"column {name!r}, row {row + 1}: {column[row]!r} is not a number")
            column = numbers
        columns.append(column.cast(pl.Float64).fill_null(np.nan).to_numpy())
    return np.column_stack(columns)
