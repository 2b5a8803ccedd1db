"""Conversion of text and tables to the native format, part by part."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from plackett._base.errors import DataError, PartsError, reading
from plackett._files.atomic import naming
from plackett.data.concat import concat
from plackett.data.dataset import RankingDataset
from plackett.data.fields import FIELDS, NUMBERS
from plackett.data.letor.read import read_letor_chunks
from plackett.data.native import save_dataset
from plackett.data.strings import Strings
from plackett.data.table_chunks import csv_chunks, parquet_chunks

#: Rows read at once.
_ROWS = 1 << 16


def letor_to_native(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    chunk_bytes: int = 1 << 26,
    n_features: int | None = None,
) -> RankingDataset:
    r"""Write a LETOR file as a native file without holding it in memory; the mapped result is returned.

    Features, labels, document ids and comments go through temporary files next to the target, so the disk needs room
    for them twice. Memory is that of a chunk, and some hundred bytes per query. Rows of a query must be contiguous
    in the file.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("2 qid:1 1:0.5\n0 qid:1 2:1\n1 qid:2 2:3\n")
    >>> letor_to_native(folder / "a.txt", folder / "a.plackett", chunk_bytes=1).X.tolist()
    [[0.5, 0.0], [0.0, 1.0], [0.0, 3.0]]
    """
    return _to_native(source, read_letor_chunks(source, chunk_bytes=chunk_bytes, n_features=n_features), target)


def table_to_native(
    source: str | os.PathLike[str], target: str | os.PathLike[str], *, chunk_rows: int = 1 << 16, **columns: Any
) -> RankingDataset:
    r"""Write a CSV, TSV or parquet file as a native file without holding it in memory; the mapped result is returned.

    Like `letor_to_native`. The first rows decide what the columns mean and which of them are text; a later row of
    another kind raises an error, and so does a query whose rows are not contiguous. `plackett.read` reads such
    files as a whole.

    Parameters
    ----------
    chunk_rows
        Smallest number of rows to read at once.
    columns
        Which columns mean what; see `plackett.RankingDataset.from_frame`.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("qid,label,bm25\n7,2,0.5\n7,0,1\n8,1,3\n")
    >>> table_to_native(folder / "a.csv", folder / "a.plackett").y.tolist()
    [2.0, 0.0, 1.0]
    """
    from plackett.data.files import format_of

    if columns.pop("sparse", False):
        raise PartsError(f"{source}: sparse features are converted in memory")
    chunks = parquet_chunks if format_of(source).name == "parquet" else csv_chunks
    return _to_native(source, chunks(source, chunk_rows, **columns), target)


def _to_native(source: Any, chunks: Iterable[RankingDataset], target: str | os.PathLike[str]) -> RankingDataset:
    from plackett.data.native import open_dataset

    parts: list[RankingDataset] = []
    with naming(target), ExitStack() as stack:
        spool = _Spools(source, Path(target).resolve().parent, stack)
        for chunk in chunks:
            spool.add(chunk)
            parts.append(_queries_only(chunk))
        with reading(source, "the table"):
            whole = concat(parts)
        arrays, strings = spool.arrays()
        offsets = np.zeros(whole.n_queries + 1, np.int64)
        assert whole.sample_weight is not None
        offsets[1:] = np.cumsum(whole.sample_weight)
        per_row: dict[str, Any] = {name: None for name, field in FIELDS.items() if field.per == "row"} | arrays
        save_dataset(replace(whole, **per_row, offsets=offsets), target, strings=strings)
    return open_dataset(target)


def _queries_only(chunk: RankingDataset) -> RankingDataset:
    """What there is per query, as a dataset of one row each, whose weight is the number of rows."""
    n = chunk.n_queries
    return RankingDataset(
        X=np.empty((n, 0), np.float32),
        y=None,
        offsets=np.arange(n + 1),
        qids=chunk.qids,
        feature_names=chunk.feature_names,
        sample_weight=chunk.group.astype(np.float64),
        **{name: getattr(chunk, name) for name, field in FIELDS.items() if field.per == "query"},
    )


class _Spools:
    """What there is per row, in temporary files."""

    def __init__(self, source: Any, folder: Path, stack: ExitStack) -> None:
        self.source, self.folder, self.stack = source, folder, stack
        self.files: dict[str, Any] = {}
        self.kinds: dict[str, tuple[np.dtype[Any], tuple[int, ...]]] = {}
        self.rows = 0
        self.fields: set[str] | None = None

    def add(self, chunk: RankingDataset) -> None:
        whole = (chunk.preferences, chunk.relations, chunk.categories)
        if not isinstance(chunk.X, np.ndarray) or any(value is not None for value in whole):
            kinds = "sparse features, categories, preferences and relations"
            raise PartsError(f"{self.source}: {kinds} are converted in memory")
        per_row = [name for name, field in NUMBERS.items() if field.per == "row"]
        plain = {name: getattr(chunk, name) for name in ("X", *per_row)}
        plain = {name: value for name, value in plain.items() if value is not None}
        if self.fields not in (None, set(plain)):
            some = ", ".join(sorted(set(plain) ^ self.fields))
            raise DataError(f"{self.source}: {some}: some rows have it, others do not")
        self.fields = set(plain)
        for name, value in plain.items():
            self._write(name, value)
        self._add_text("comments", chunk.comments, chunk.n_rows)
        known = "docids" in self.files or self.rows == 0  # all rows so far have whole numbers
        if chunk.docids is not None and chunk.docids.dtype.kind == "i" and known:
            self._write("docids", chunk.docids)
        else:
            self._numbers_to_text("docids")
            self._add_text("docids", None if chunk.docids is None else Strings.from_values(chunk.docids), chunk.n_rows)
        self.rows += chunk.n_rows

    def _add_text(self, name: str, strings: Strings | None, rows: int) -> None:
        """Add a column of text; rows of chunks without it have an empty text."""
        if strings is not None and f"{name}.bytes" not in self.files:
            self._write_empty(name, self.rows)
        if strings is not None:
            self._write_text(name, strings)
        elif f"{name}.bytes" in self.files:
            self._write_empty(name, rows)

    def _write_empty(self, name: str, rows: int) -> None:
        for start in range(0, rows, _ROWS):
            self._write_text(name, Strings.from_values([""] * min(_ROWS, rows - start)))

    def _write(self, name: str, values: np.ndarray) -> None:
        kind = values.dtype, values.shape[1:]
        if self.kinds.setdefault(name, kind) != kind:
            width, before = (int(np.prod(shape)) for _, shape in (kind, self.kinds[name]))
            raise DataError(
                f"{self.source}: after row {self.rows}, {name} has {width} values per row instead of {before}; the "
                "lists of a column must be of equal length"
            )
        if name not in self.files:
            try:
                file = tempfile.TemporaryFile(dir=self.folder, prefix=".plackett-")  # noqa: SIM115
            except OSError as error:
                error.filename = str(self.folder)  # not the name of a file that nobody knows
                raise
            self.files[name] = self.stack.enter_context(file)
        self.files[name].write(np.ascontiguousarray(values).data)

    def _write_text(self, name: str, strings: Strings) -> None:
        self._write(f"{name}.bytes", strings.data[strings.offsets[0] : strings.offsets[-1]])
        self._write(f"{name}.lengths", strings.lengths)

    def _numbers_to_text(self, name: str) -> None:
        """Ids that were whole numbers so far, as text."""
        if name not in self.files:
            return
        numbers = self._read(name)
        del self.files[name], self.kinds[name]
        for start in range(0, len(numbers), _ROWS):
            self._write_text(name, Strings.from_values(numbers[start : start + _ROWS]))

    def _read(self, name: str) -> np.ndarray:
        file, (dtype, tail) = self.files[name], self.kinds[name]
        file.flush()
        size = file.tell()
        block = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b""
        width = int(np.prod(tail, dtype=np.int64))
        n = self.rows if width == 0 else size // (dtype.itemsize * width)
        return np.frombuffer(block, dtype).reshape(n, *tail)

    def arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Strings]]:
        """All rows: arrays by field, and the columns of text."""
        strings = {}
        for name in ("comments", "docids"):
            if f"{name}.bytes" in self.files:
                lengths, end = self._read(f"{name}.lengths"), 0
                self._write(f"{name}.offsets", np.zeros(1, np.int64))
                for start in range(0, len(lengths), _ROWS):
                    sums = end + np.cumsum(lengths[start : start + _ROWS])
                    end = int(sums[-1])
                    self._write(f"{name}.offsets", sums)
                strings[name] = Strings(self._read(f"{name}.bytes"), self._read(f"{name}.offsets"))
        return {name: self._read(name) for name in self.files if "." not in name}, strings
