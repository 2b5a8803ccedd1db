"""Compressed files in pieces, and the writer."""

from __future__ import annotations

import gzip
import lzma
import sys

import pytest
import zstandard

from plackett import DataError, MissingExtraError
from plackett._files.compression import pieces, replacing_compressed

TEXT = b"".join(b"%d some text\n" % i for i in range(20_000))
COMPRESS = {".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstandard.compress}


@pytest.fixture(params=COMPRESS)
def suffix(request):
    return request.param


def read(path) -> bytes:
    return b"".join(pieces(str(path)))


def test_content_decides(tmp_path, suffix):
    path = tmp_path / "no-suffix"
    path.write_bytes(COMPRESS[suffix](TEXT))
    assert read(path) == TEXT


def test_streams_and_padding(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(COMPRESS[suffix](TEXT) + COMPRESS[suffix](b"more"))
    assert read(path) == TEXT + b"more"
    if suffix != ".zst":  # Zstandard has frames for padding
        path.write_bytes(COMPRESS[suffix](TEXT) + bytes(100_000) + COMPRESS[suffix](b"more") + bytes(40))
        assert read(path) == TEXT + b"more"


@pytest.mark.parametrize("keep", [0.01, 0.5, 0.999])
def test_truncated(tmp_path, suffix, keep):
    path = tmp_path / f"a{suffix}"
    whole = COMPRESS[suffix](TEXT)
    path.write_bytes(whole[: max(8, int(keep * len(whole)))])
    with pytest.raises(DataError, match=r"a\.\w+: the .* data ends too early"):
        read(path)


def test_damaged(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    whole = bytearray(COMPRESS[suffix](TEXT))
    whole[len(whole) // 2] ^= 0xFF
    whole[len(whole) // 2 + 1] ^= 0xFF
    path.write_bytes(whole)
    with pytest.raises(DataError, match=r"a\.\w+: (damaged|the .* data ends too early)"):
        read(path)


def test_wrong_suffix(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(TEXT)
    with pytest.raises(DataError, match="the content is not"):
        read(path)


def test_zstandard_missing(tmp_path, monkeypatch):
    (tmp_path / "a.zst").write_bytes(zstandard.compress(TEXT))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'plackett\[zstd\]'"):
        read(tmp_path / "a.zst")


def test_write(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    with replacing_compressed(path) as file:
        file.write(TEXT[:1000])
        file.write(memoryview(TEXT)[1000:])
    assert read(path) == TEXT
    assert path.stat().st_size < len(TEXT) / 2


def test_failure_keeps_the_old_file(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), replacing_compressed(path) as file:
        file.write("no bytes")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
