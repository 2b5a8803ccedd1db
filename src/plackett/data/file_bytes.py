"""All bytes of a file at once, for readers that work on whole columns."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from plackett._files.checks import open_regular
from plackett._files.compression import CODECS, codec_of, pieces


def read_bytes(path: str | os.PathLike[str]) -> np.ndarray:
    """Content of a file as uint8, decompressed if necessary.

    The file is read, not mapped: truncating a mapped file would kill the process.
    """
    with open_regular(path) as file:
        if codec_of(str(path), file.read(16)) is None:
            file.seek(0)
            return np.fromfile(file, np.uint8)
    return np.frombuffer(b"".join(pieces(str(path))), np.uint8)


def bare_suffix(path: str | os.PathLike[str]) -> str:
    """Suffix of the file inside the compression, in lower case.

    >>> bare_suffix("Fold1/train.TXT.gz"), bare_suffix("train")
    ('.txt', '')
    """
    bare = Path(path)
    if bare.suffix.lower() in {codec.suffix for codec in CODECS}:
        bare = bare.with_suffix("")
    return bare.suffix.lower()
