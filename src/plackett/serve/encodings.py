"""Bodies that come compressed (``Content-Encoding``)."""

from __future__ import annotations

import zlib

from plackett._base.time_limit import check_time
from plackett.serve.http import RefusedError

#: What zlib calls the encodings: gzip, and a zlib stream, which HTTP calls deflate.
ENCODINGS = {b"gzip": 16 + zlib.MAX_WBITS, b"x-gzip": 16 + zlib.MAX_WBITS, b"deflate": zlib.MAX_WBITS}
#: Bytes that are decompressed at once.
_PIECE = 1 << 20


def decompressed(body: bytes, encoding: bytes, most: int) -> bytes:
    """The body as it was before it was compressed; no more than ``most`` bytes are ever decompressed.

    >>> import gzip
    >>> decompressed(gzip.compress(b"{}"), b"gzip", 10)
    b'{}'
    """
    stream = zlib.decompressobj(ENCODINGS[encoding])
    pieces, size = [], 0
    try:
        while not stream.eof:
            check_time()
            piece = stream.decompress(body, min(_PIECE, most + 1 - size))
            body = stream.unconsumed_tail
            if not piece and not body and not stream.eof:
                raise RefusedError(400, f"the body is not {encoding.decode()}: it ends too early")
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise RefusedError(
                    413, f"the body, decompressed, has more than {most} bytes, the most that is accepted"
                )
    except zlib.error as error:
        raise RefusedError(400, f"the body is not {encoding.decode()}: {error}") from None
    if stream.unused_data:
        raise RefusedError(400, f"{len(stream.unused_data)} bytes follow the end of the {encoding.decode()} body")
    return b"".join(pieces)
