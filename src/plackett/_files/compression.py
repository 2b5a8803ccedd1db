"""Text files, plain or compressed with gzip, xz or Zstandard, read and written piece by piece."""

from __future__ import annotations

import contextlib
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

from plackett._base.errors import DataError
from plackett._files.atomic import replacing
from plackett._names.optional import optional

#: Compressed input is taken in small pieces: Zstandard can make 32,000 bytes of one.
_COMPRESSED_PIECE = 1 << 12
#: Text that takes more memory than this, and is this many times as large as its file, is rejected as a
#: decompression bomb.
_MOST_BYTES = 1 << 30
_MOST_TIMES = 1000
_PLAIN_PIECE = 1 << 20


@dataclass(frozen=True)
class Codec:
    """A compressed format: its suffix, the bytes its files begin with, and the objects that (de)compress."""

    name: str
    suffix: str
    magic: bytes
    compressor: Callable[[], Any]
    decompressor: Callable[[], Any]


def _zstd() -> tuple[Callable[[], Any], Callable[[], Any]]:
    try:
        from compression import zstd  # type: ignore[import-not-found]  # Python 3.14 and later
    except ImportError:
        zstandard = optional("zstandard", "reading or writing .zst needs")
        return (
            lambda: zstandard.ZstdCompressor().compressobj(),
            lambda: zstandard.ZstdDecompressor().decompressobj(),
        )
    return zstd.ZstdCompressor, zstd.ZstdDecompressor


CODECS = (
    Codec("gzip", ".gz", b"\x1f\x8b", lambda: zlib.compressobj(6, wbits=31), lambda: zlib.decompressobj(wbits=31)),
    Codec("xz", ".xz", b"\xfd7zXZ\0", lzma.LZMACompressor, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ)),
    Codec("Zstandard", ".zst", b"\x28\xb5\x2f\xfd", lambda: _zstd()[0](), lambda: _zstd()[1]()),
)


def codec_of(path: str, head: bytes) -> Codec | None:
    """Codec of a file, detected by its first bytes; None for plain text."""
    for codec in CODECS:
        if head.startswith(codec.magic):
            return codec
    for codec in CODECS:
        if path.lower().endswith(codec.suffix) and head:
            raise DataError(
                f"{path}: the name ends in {codec.suffix}, but the content is not {codec.name} data; "
                "rename the file if it is plain text"
            )
    return None


def pieces(path: str) -> Iterator[bytes]:
    """Content of a file, decompressed, in pieces of some kilobytes to megabytes."""
    with open(path, "rb") as file:
        head = file.read(_COMPRESSED_PIECE)
        codec = codec_of(path, head)
        if codec is not None:
            yield from _decompressed(path, file, head, codec)
            return
        while head:
            yield head
            head = file.read(_PLAIN_PIECE)


def _next(file: BinaryIO, piece: bytes, fresh: bool) -> bytes:
    """The next piece of input; zero bytes between and after streams are padding."""
    while True:
        if fresh:
            piece = piece.lstrip(b"\0")
        if piece:
            return piece
        piece = file.read(_COMPRESSED_PIECE)
        if not piece:
            return b""


def _decompressed(path: str, file: BinaryIO, piece: bytes, codec: Codec) -> Iterator[bytes]:
    stream = codec.decompressor()
    fresh = True
    total = 0
    while piece:
        try:
            out = stream.decompress(piece)
        except Exception as error:  # each format has an error class of its own, some only in optional modules
            raise DataError(f"{path}: damaged {codec.name} data ({error}); get the file again") from None
        total += len(out)
        if total > max(_MOST_BYTES, _MOST_TIMES * file.tell()):
            raise DataError(
                f"{path}: the {codec.name} data expands more than {_MOST_TIMES} times, to over {total} bytes. "
                "Decompress it first if that is intended"
            )
        if out:
            yield out
        fresh = stream.eof
        piece = b""
        if fresh:  # another stream may follow
            piece = stream.unused_data
            stream = codec.decompressor()
        piece = _next(file, piece, fresh)
    if not fresh:
        raise DataError(f"{path}: the {codec.name} data ends too early (truncated file?); get the file again")


class _Compressed:
    """File object that compresses what is written to it."""

    def __init__(self, file: IO[bytes], codec: Codec) -> None:
        self._file = file
        self._stream = codec.compressor()

    def write(self, data: Any) -> int:
        self._file.write(self._stream.compress(data))
        return memoryview(data).nbytes

    def finish(self) -> None:
        self._file.write(self._stream.flush())


@contextlib.contextmanager
def replacing_compressed(path: str | os.PathLike[str]) -> Iterator[Any]:
    """Like `plackett._files.atomic.replacing`, compressed as the suffix of the path says."""
    suffix = Path(path).suffix.lower()
    codec = next((codec for codec in CODECS if suffix == codec.suffix), None)
    with replacing(path) as file:
        if codec is None:
            yield file
        else:
            compressed = _Compressed(file, codec)
            yield compressed
            compressed.finish()
