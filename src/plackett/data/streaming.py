"""Conversion of text to the native format, part by part."""

from __future__ import annotations

import mmap
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from plackett.data.concat import concat
from plackett.data.dataset import RankingDataset
from plackett.data.letor.read import read_letor_chunks
from plackett.data.native import save_dataset

__all__ = ["letor_to_native"]


def letor_to_native(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    chunk_bytes: int = 1 << 26,
    n_features: int | None = None,
) -> RankingDataset:
    r"""Write a LETOR file as a native file without holding its features in memory; the mapped result is returned.

    Features go through a temporary file beside the target, so that the disk must have room for them twice. Memory is
    that of a chunk, and of labels, ids and comments. Rows of a query must be contiguous in the file.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("2 qid:1 1:0.5\n0 qid:1 2:1\n1 qid:2 2:3\n")
    >>> letor_to_native(folder / "a.txt", folder / "a.plackett", chunk_bytes=1).X.tolist()
    [[0.5, 0.0], [0.0, 1.0], [0.0, 3.0]]
    """
    from plackett.data.native import open_dataset

    target = Path(target)
    width, rows, parts = 0, 0, []
    with tempfile.TemporaryFile(dir=target.resolve().parent, prefix=".plackett-") as spool:
        for chunk in read_letor_chunks(source, chunk_bytes=chunk_bytes, n_features=n_features):
            spool.write(np.ascontiguousarray(chunk.X).data)
            width, rows = chunk.n_features, rows + chunk.n_rows
            parts.append(replace(chunk, X=np.empty((chunk.n_rows, 0), np.float32)))
        spool.flush()
        size = 4 * width * rows
        mapped = mmap.mmap(spool.fileno(), size, access=mmap.ACCESS_READ) if size else b""
        X = np.frombuffer(mapped, np.float32).reshape(rows, width)
        save_dataset(replace(concat(parts), X=X), target)
    return open_dataset(target)
