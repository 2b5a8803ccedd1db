"""Compressed files: read by what they begin with, written by how they are named."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from plackett._atomic import replacing
from plackett._errors import DataError

__all__ = ["COMPRESSIONS", "bare_suffix", "read_bytes", "writing"]


def _read_gzip(raw: bytes) -> bytes:
    import gzip
    import zlib

    try:
        return gzip.decompress(raw)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(str(error)) from None


def _write_gzip(file: IO[bytes]) -> Any:
    import gzip

    # neither name nor time in the header: equal data, equal file
    return gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0)


def _read_xz(raw: bytes) -> bytes:
    import lzma

    try:
        return lzma.decompress(raw)
    except lzma.LZMAError as error:
        raise DataError(str(error)) from None


def _write_xz(file: IO[bytes]) -> Any:
    import lzma

    return lzma.LZMAFile(file, "wb")


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise DataError("zstd needs the package zstandard: pip install 'plackett[zstd]'") from None
    return zstandard


def _read_zstd(raw: bytes) -> bytes:
    zstandard = _zstandard()
    frames = []
    while raw:
        frame = zstandard.ZstdDecompressor().decompressobj()
        try:
            frames.append(frame.decompress(raw))
        except zstandard.ZstdError as error:
            raise DataError(str(error)) from None
        if not frame.eof:
            raise DataError("it ends inside a frame")
        raw = frame.unused_data
    return b"".join(frames)


def _write_zstd(file: IO[bytes]) -> Any:
    return _zstandard().ZstdCompressor(write_checksum=True).stream_writer(file, closefd=False)


class Compression(NamedTuple):
    """First bytes of the compressed file, how to read all of it and how to write into it."""

    magic: bytes
    decompress: Callable[[Any], bytes]
    writer: Callable[[IO[bytes]], Any]


#: By the last suffix of the file.
COMPRESSIONS = {
    ".gz": Compression(b"\x1f\x8b", _read_gzip, _write_gzip),
    ".xz": Compression(b"\xfd7zXZ\x00", _read_xz, _write_xz),
    ".zst": Compression(b"\x28\xb5\x2f\xfd", _read_zstd, _write_zstd),
}


def bare_suffix(path: str | os.PathLike[str]) -> str:
    """Suffix of the file inside the compression, in lower case.

    >>> bare_suffix("Fold1/train.TXT.gz"), bare_suffix("train")
    ('.txt', '')
    """
    bare = Path(path)
    if bare.suffix.lower() in COMPRESSIONS:
        bare = bare.with_suffix("")
    return bare.suffix.lower()


def read_bytes(path: str | os.PathLike[str]) -> np.ndarray:
    """All bytes of a file as uint8: decompressed if its first bytes say so, else mapped into memory."""
    if Path(path).is_dir():
        raise DataError(f"{path} is a folder, not a file")
    if Path(path).stat().st_size == 0:  # cannot be mapped
        return np.empty(0, np.uint8)
    raw = np.memmap(path, np.uint8, mode="r").view(np.ndarray)
    head = raw[:8].tobytes()
    for name, compression in COMPRESSIONS.items():
        if head.startswith(compression.magic):
            try:
                return np.frombuffer(compression.decompress(raw.data), np.uint8)
            except DataError as error:
                raise DataError(f"{path}: cannot be decompressed ({name}): {error}") from None
    return raw


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing, compressed if its name ends so; it appears complete or not at all.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/a.txt.gz"
    >>> with writing(path) as file:
    ...     _ = file.write(b"text")
    >>> read_bytes(path).tobytes()
    b'text'
    """
    compression = COMPRESSIONS.get(Path(path).suffix.lower())
    with replacing(path) as file:
        if compression is None:
            yield file
        else:
            with compression.writer(file) as inner:
                yield inner
