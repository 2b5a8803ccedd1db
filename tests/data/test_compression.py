"""Compressed files."""

from __future__ import annotations

import pytest

from plackett import DataError
from plackett.data.compression import COMPRESSIONS, bare_suffix, read_bytes, writing

TEXT = b"".join(b"%d some text\n" % i for i in range(5000))


@pytest.mark.parametrize("suffix", ["", *COMPRESSIONS])
def test_round_trip_and_damage(tmp_path, suffix):
    if suffix == ".zst":
        pytest.importorskip("zstandard", reason="zstandard is not installed")
    path = tmp_path / f"a.txt{suffix}"
    with writing(path) as file:
        file.write(TEXT)
    assert read_bytes(path).tobytes() == TEXT
    assert bare_suffix(path) == ".txt"
    if not suffix:
        return
    raw = path.read_bytes()
    assert len(raw) < len(TEXT)
    path.write_bytes(raw + raw)  # parts written one after another are one file
    assert read_bytes(path).tobytes() == TEXT + TEXT
    flipped = bytearray(raw)
    flipped[len(raw) // 2] ^= 255
    for damaged in (raw[:-3], raw[: len(raw) // 2], flipped):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=rf"a.txt{suffix}: cannot be decompressed"):
            read_bytes(path)


def test_other_files(tmp_path):
    (tmp_path / "empty").touch()
    assert read_bytes(tmp_path / "empty").size == 0
    with pytest.raises(DataError, match="folder"):
        read_bytes(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "none")
