"""Logs from tables of clicks: whole, or in parts with whole pages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett.clicks.bad_lines import BadLines
from plackett.clicks.log import ClickLog
from plackett.clicks.readers.page_arrays import FROM_ZERO, NoPagesError
from plackett.clicks.readers.roles import column_of, joined_page, no_page
from plackett.clicks.readers.table_files import batches, damaged, read_frame
from plackett.clicks.readers.table_format import LINE
from plackett.data.frame_columns import is_table

if TYPE_CHECKING:
    import polars as pl


def read_table(path: Any, *, separator: str | None = None, **columns: Any) -> ClickLog:
    """Read a table: a frame, or a file ``.csv``, ``.tsv``, ``.parquet``, ``.jsonl`` or ``.ndjson``."""
    if is_table(path):
        return ClickLog.from_frame(path, **columns)
    frame, bad = read_frame(path, separator)
    try:
        return ClickLog.from_frame(frame, bad_lines=bad, **columns)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def iter_table(
    path: str | os.PathLike[str], n_rows: int, *, separator: str | None = None, **options: Any
) -> Iterator[ClickLog]:
    """Read a table in parts of about ``n_rows`` rows with whole pages; see `plackett.clicks.iter_clicks`."""
    import polars as pl

    bad = BadLines(os.fspath(path))
    logs = _Logs(bad, options)
    try:
        for part in _whole_pages(batches(path, bad, n_rows, separator), options, bad):
            yield from logs.of(part)
        if logs.none:
            raise DataError(f"no result pages; {bad}")
    except pl.exceptions.PolarsError as error:
        raise damaged(path, error, separator) from None
    except DataError as error:
        named = str(error).startswith(os.fspath(path))
        raise DataError(str(error) if named else f"{path}: {error}") from None


def _whole_pages(frames: Iterator[pl.DataFrame], names: dict[str, Any], bad: BadLines) -> Iterator[pl.DataFrame]:
    """The rows of the tables, in parts that end with a page."""
    import polars as pl

    rest: pl.DataFrame | None = None
    done = _PagesDone()
    for frame in frames:
        frame = frame if rest is None else pl.concat([rest, frame], how="diagonal_relaxed")
        table, roles, _ = joined_page(frame, names)
        document, page = (column_of(table, role, roles.get(role)) for role in ("document", "page"))
        if document is not None and table[document].dtype == pl.List:  # a row per page
            rest = None
            yield frame
            continue
        if page is None:
            raise no_page(frame)
        run = table[page].rle_id()
        whole, rest = frame.filter(run < run[-1]), frame.filter(run == run[-1])
        if whole.height:
            done.add(table.filter(run < run[-1])[page], whole, bad)
            yield whole
    if rest is not None and rest.height:
        table, _, _ = joined_page(rest, names)
        done.add(table[str(page)], rest, bad)
        yield rest


class _Logs:
    """Makes logs of the parts of a table; the first one decides what the top rank is called."""

    def __init__(self, bad: BadLines, options: dict[str, Any]) -> None:
        self.bad, self.options, self.none = bad, options, True

    def of(self, part: pl.DataFrame) -> Iterator[ClickLog]:
        """The log of a part, if any of its pages can be used."""
        try:
            log = ClickLog.from_frame(part, bad_lines=self.bad, **self.options)
        except NoPagesError:  # counted as bad lines; other parts may have pages
            return
        if self.options.get("first_rank") is None:
            self.options = self.options | {"first_rank": 0 if FROM_ZERO in self.bad.notes else 1}
        self.none = False
        yield log


class _PagesDone:
    """Hashes of the pages returned so far: none of them may appear again."""

    def __init__(self) -> None:
        self.runs: list[np.ndarray] = []  # sorted, each less than half as long as the one before

    def add(self, pages: pl.Series, rows: pl.DataFrame, bad: BadLines) -> None:
        """Add the pages of a part; `DataError` if rows of one are not next to each other."""
        heads = pages.rle_id().diff().fill_null(1) != 0
        ids = pages.filter(heads).cast(str)
        hashes = ids.hash(seed=0).to_numpy()
        back = ids.is_duplicated().to_numpy() if ids.n_unique() < ids.len() else np.zeros(ids.len(), bool)
        for run in self.runs:
            at = np.minimum(np.searchsorted(run, hashes), run.size - 1)
            back |= run[at] == hashes
        back &= ids.is_not_null().to_numpy()  # rows without a page are counted as bad lines
        if back.any():
            last = int(np.flatnonzero(back)[-1])
            line = rows.filter(heads)[LINE][last]
            name = ids[last].replace("\x1f", ",")
            raise DataError(
                f"{bad.unit} {line}: rows of the page {name!r} are not next to each other, as reading in parts needs: "
                "sort the table by page, or read it at once (read_clicks)"
            )
        self.runs.append(np.sort(hashes))
        while len(self.runs) > 1 and 2 * self.runs[-1].size >= self.runs[-2].size:
            shorter = self.runs.pop()
            self.runs[-1] = np.sort(np.concatenate((self.runs[-1], shorter)))
