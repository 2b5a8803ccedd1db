"""Datasets in files of any known format, detected by suffix or else by the first bytes."""

from __future__ import annotations

import inspect
import os
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from plackett._base.errors import DataError, in_shell, parameter
from plackett._files.compression import CODECS
from plackett._names.nearest import hint
from plackett.data.columns import TABLE_OPTIONS
from plackett.data.dataset import RankingDataset
from plackett.data.file_bytes import bare_suffix
from plackett.data.required import check_dataset

__all__ = ["read", "write"]


class FileFormat(NamedTuple):
    """A file format: its suffixes, and the functions that read and write it."""

    name: str
    suffixes: tuple[str, ...]
    module: str
    reader: str
    writer: str
    #: Bytes that identify the format of a file without a known suffix, and their position.
    magic: bytes = b""
    magic_at: int = 0


FORMATS = (
    FileFormat("native", (".plackett",), "plackett.data.native", "open_dataset", "save_dataset", b'{"__metadata__"', 8),
    FileFormat("parquet", (".parquet", ".pq"), "plackett.data.tables", "read_parquet", "write_parquet", b"PAR1"),
    FileFormat("separated text", (".csv", ".tsv", ".tab"), "plackett.data.tables", "read_csv", "write_csv"),
    FileFormat(
        "LETOR text",
        (".txt", ".letor", ".svm", ".svmlight", ".libsvm", ".dat"),
        "plackett.data.letor",
        "read_letor",
        "write_letor",
    ),
)
NATIVE, LETOR = FORMATS[0], FORMATS[-1]
#: Formats whose columns have names.
TABLES = FORMATS[1:3]
_BY_SUFFIX = {suffix: format for format in FORMATS for suffix in format.suffixes}


def read(path: str | os.PathLike[str], **options: Any) -> RankingDataset:
    """Read a dataset from a file.

    The suffix determines the format: ``.plackett`` (native), ``.parquet``, ``.csv`` and ``.tsv``, ``.txt`` and others
    (LETOR or SVMlight text); text may be compressed (``.gz``, ``.xz``, ``.zst``). For any other
    suffix the content decides; plain text is read as LETOR.

    Parameters
    ----------
    options
        Passed on to the reader of the format: `plackett.read_letor`, `plackett.data.tables.read_parquet`, …. For
        tables they name the columns, as in `plackett.RankingDataset.from_frame`.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/train.parquet"
    >>> write(RankingDataset.from_arrays([[0.5]], [1], qid=["a"]), path)
    >>> read(path).qids.tolist()
    ['a']
    """
    if hasattr(path, "columns"):
        raise DataError("read takes the name of a file; make a dataset of a frame with pk.RankingDataset.from_frame")
    format = format_of(path)
    reader = getattr(import_module(format.module), format.reader)
    known = [name for name in inspect.signature(reader).parameters if name not in ("path", "columns")]
    if format in TABLES:
        known += TABLE_OPTIONS
    for name in options:
        if name not in known and name in TABLE_OPTIONS:
            shown = parameter(name).split()[0] if in_shell() else name
            raise DataError(f"{path}: {shown} names a column of a table (.csv, .parquet), but this is {format.name}")
        if name not in known and name == "separator":
            raise DataError(f"{path}: {parameter(name)} is for text tables (.csv, .tsv), but this is {format.name}")
        if name not in known:
            raise TypeError(f"read has no option {name!r} for {format.name}; {hint(name, known, 'it has')}")
    return reader(path, **options)


def format_of(path: str | os.PathLike[str]) -> FileFormat:
    """The format of an existing file, by its suffix or its first bytes."""
    if Path(path).is_dir():
        files = sorted(entry.name for entry in Path(path).iterdir() if entry.is_file())[:5]
        raise DataError(f"{path} is a folder; name one of its files ({', '.join(files) or 'it has none'})")
    return format_by_suffix(path) or _look(path)


def format_by_suffix(path: str | os.PathLike[str]) -> FileFormat | None:
    """The format that the suffix of a name stands for; None if it is unknown."""
    return _BY_SUFFIX.get(bare_suffix(path))


def write(data: RankingDataset, path: str | os.PathLike[str], **options: Any) -> None:
    """Write a dataset in the format given by the suffix; see `read`. The file appears complete or not at all.

    Parameters
    ----------
    options
        Passed on to the writer of the format.
    """
    format = format_by_suffix(path)
    if format is None:
        raise DataError(f"{path}: unknown format. {known_suffixes()}")
    getattr(import_module(format.module), format.writer)(check_dataset(data), path, **options)


def _look(path: str | os.PathLike[str]) -> FileFormat:
    if Path(path).is_fifo():  # a pipe can be read only once, which is enough for text
        return LETOR
    with open(path, "rb") as file:
        head = file.read(1024)
    for format in FORMATS:
        if format.magic and head[format.magic_at :].startswith(format.magic):
            return format
    if b"\0" in head and not any(head.startswith(codec.magic) for codec in CODECS):
        raise DataError(f"{path}: neither text nor a file of a known format. {known_suffixes()}")
    return LETOR


def known_suffixes() -> str:
    """The formats and their suffixes, for messages."""
    formats = "; ".join(f"{', '.join(format.suffixes)} ({format.name})" for format in FORMATS)
    return f"The known suffixes are {formats}; text may be compressed ({', '.join(codec.suffix for codec in CODECS)})"
