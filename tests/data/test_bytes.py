"""Whole files, plain or compressed."""

from __future__ import annotations

import gzip
import lzma

import pytest

from plackett import DataError
from plackett.data.file_bytes import read_bytes

TEXT = b"".join(b"%d some text\n" % i for i in range(5000))


@pytest.mark.parametrize("compress", [bytes, gzip.compress, lzma.compress])
def test_content(tmp_path, compress):
    (tmp_path / "a").write_bytes(compress(TEXT))
    assert read_bytes(tmp_path / "a").tobytes() == TEXT


def test_other_files(tmp_path):
    (tmp_path / "empty").touch()
    assert read_bytes(tmp_path / "empty").size == 0
    with pytest.raises(DataError, match="folder"):
        read_bytes(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "none")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(TEXT)[:-9])
    with pytest.raises(DataError, match=r"cut\.gz"):
        read_bytes(tmp_path / "cut.gz")
