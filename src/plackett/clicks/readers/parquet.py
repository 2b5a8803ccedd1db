"""Tables of clicks in parquet files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plackett._files.parquet import named_damage, parquet_frame
from plackett.clicks.bad_lines import BadLines
from plackett.clicks.readers.table_format import LINE, TableFormat, first_line_of

if TYPE_CHECKING:
    import polars as pl


def _whole(path: Any, bad: BadLines, separator: str | None) -> pl.DataFrame:
    frame = parquet_frame(Path(path))
    bad.total, bad.unit = frame.height, "row"
    return frame


def _batches(path: Any, bad: BadLines, separator: str | None, n_rows: int) -> Iterator[pl.DataFrame]:
    import polars as pl

    bad.unit = "row"
    with named_damage(path):
        rows = pl.scan_parquet(os.fspath(path)).with_row_index(LINE, offset=bad.first)
        for batch in rows.collect_batches(chunk_size=n_rows, maintain_order=True):
            bad.total += batch.height
            yield from batch.iter_slices(n_rows)


PARQUET = TableFormat((".parquet",), _whole, _batches, first_line_of)
