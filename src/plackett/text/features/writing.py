"""Datasets written piece by piece."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from plackett._base.errors import DataError
from plackett._files.atomic import replacing
from plackett._names.optional import optional
from plackett.data.concat import concat
from plackett.data.dataset import RankingDataset
from plackett.data.file_bytes import bare_suffix
from plackett.data.files import LETOR, write
from plackett.data.letor import write_letor


def write_blocks(blocks: Iterable[RankingDataset], path: str | os.PathLike[str]) -> tuple[int, int]:
    """Write datasets of different queries into one file; return the number of queries and of rows.

    Parquet and LETOR text are written as the blocks come, so that they need not fit into memory; other formats at the
    end. The file appears only when it is complete.
    """
    suffix = bare_suffix(path)
    if suffix == ".parquet":
        return _parquet(blocks, Path(path))
    if suffix in LETOR.suffixes and Path(path).suffix == suffix:
        return _letor(blocks, Path(path))
    whole = concat(list(blocks))
    write(whole, path)
    return whole.n_queries, whole.X.shape[0]


def _parquet(blocks: Iterable[RankingDataset], path: Path) -> tuple[int, int]:
    arrow = optional("pyarrow", "writing parquet piece by piece needs")
    parquet = optional("pyarrow.parquet", "writing parquet piece by piece needs")
    queries = rows = 0
    with replacing(path) as file:
        writer = None
        for block in blocks:
            table = arrow.Table.from_batches(block.to_polars().to_arrow().to_batches())
            writer = writer or parquet.ParquetWriter(file, table.schema)
            writer.write_table(table.cast(writer.schema))
            queries, rows = queries + block.n_queries, rows + block.X.shape[0]
        if writer is None:
            raise DataError("no candidates: none of the queries has a term that occurs in the documents")
        writer.close()
    return queries, rows


def _letor(blocks: Iterable[RankingDataset], path: Path) -> tuple[int, int]:
    queries = rows = 0
    with replacing(path) as file, tempfile.TemporaryDirectory(dir=path.resolve().parent) as folder:
        part = Path(folder) / "part.txt"
        for block in blocks:
            write_letor(block, part)
            file.write(part.read_bytes())
            queries, rows = queries + block.n_queries, rows + block.X.shape[0]
        if not rows:
            raise DataError("no candidates: none of the queries has a term that occurs in the documents")
    return queries, rows
