"""Choosing the format of a file."""

from __future__ import annotations

import shutil

import numpy as np
import polars as pl
import pytest

from plackett import DataError, RankingDataset
from plackett._files import storage
from plackett.data.files import FORMATS, read, write

DATA = RankingDataset.from_arrays([[1.0, 0.0], [0.25, 3.0], [2.0, 2.0]], [0, 1, 2], qid=[7, 7, 3])


def same(data: RankingDataset) -> bool:
    return np.array_equal(data.X, DATA.X) and np.array_equal(data.y, DATA.y) and data.qids.tolist() == [7, 3]


@pytest.mark.parametrize("suffix", [suffix for format in FORMATS for suffix in format.suffixes])
def test_every_suffix(tmp_path, suffix):
    path = tmp_path / f"a.b{suffix.upper()}"
    write(DATA, path)
    assert same(read(path))
    assert same(read(str(path)))


@pytest.mark.parametrize("suffix", [".txt.gz", ".txt.xz", ".csv.gz", ".tsv.xz"])
def test_compressed_text(tmp_path, suffix):
    write(DATA, tmp_path / f"a{suffix}")
    assert same(read(tmp_path / f"a{suffix}"))
    write(DATA, tmp_path / f"plain{suffix[:4]}")
    assert (tmp_path / f"a{suffix}").read_bytes() != (tmp_path / f"plain{suffix[:4]}").read_bytes()


@pytest.mark.parametrize("suffix", [".plackett", ".parquet", ".txt", ".txt.gz"])
def test_unknown_suffix_is_looked_into(tmp_path, suffix):
    write(DATA, tmp_path / f"a{suffix}")
    shutil.move(tmp_path / f"a{suffix}", tmp_path / "msn1.fold1.train.5k")
    assert same(read(tmp_path / "msn1.fold1.train.5k"))


def test_options_reach_the_reader(tmp_path):
    write(DATA, tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet", features=["f2"]).feature_names == ("f2",)
    write(DATA, tmp_path / "a.csv", separator=";")
    assert same(read(tmp_path / "a.csv", separator=";"))


def test_errors(tmp_path):
    with pytest.raises(DataError, match=r"a\.json: unknown format.*\.plackett \(native\).*\.csv, \.tsv"):
        write(DATA, tmp_path / "a.json")
    (tmp_path / "a.xlsx").write_bytes(b"PK\3\4\0\0\0")
    with pytest.raises(DataError, match=r"a\.xlsx: neither text nor .*known suffixes are \.plackett"):
        read(tmp_path / "a.xlsx")
    with pytest.raises(DataError, match=r"is a folder; name one of its files \(a\.xlsx\)"):
        read(tmp_path)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.txt")
    storage.write(tmp_path / "m.plackett", {}, {"kind": "model"})
    with pytest.raises(DataError, match="holds a model"):
        read(tmp_path / "m.plackett")


def test_a_frame_is_not_a_file():
    with pytest.raises(DataError, match="make a dataset of a frame with pk.RankingDataset.from_frame"):
        read(pl.DataFrame({"qid": [1]}))
