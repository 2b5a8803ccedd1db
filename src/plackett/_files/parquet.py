"""Parquet files that are damaged so badly that polars gives up without an error of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from plackett._base.errors import DataError

if TYPE_CHECKING:
    import polars as pl


@contextmanager
def named_damage(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise `DataError` where polars panics: its panics are no errors, and nothing catches them."""
    import polars as pl

    try:
        yield
    except pl.exceptions.PanicException:  # its text is about the insides of polars
        raise DataError(f"{path}: a damaged parquet file; write it again") from None


def parquet_frame(path: str | os.PathLike[str]) -> pl.DataFrame:
    """The table of a parquet file; errors of polars are left to the caller."""
    import polars as pl

    with named_damage(path):
        return pl.read_parquet(Path(path))
