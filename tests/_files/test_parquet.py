"""Parquet files that make polars panic are named; nothing but an error of ours comes out."""

from __future__ import annotations

import polars as pl
import pytest

import plackett as pk
from plackett import DataError
from plackett._files.parquet import named_damage, parquet_frame
from plackett.clicks import read_clicks
from plackett.graph.links import read_links


def panic(*_, **__):
    raise pl.exceptions.PanicException("called `Result::unwrap()` on an `Err` value")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.parquet"
    pl.DataFrame({"qid": ["1", "1"], "docid": ["a", "b"], "relevance": [1, 0]}).write_parquet(path)
    return path


@pytest.mark.parametrize(
    "read", [parquet_frame, pk.read, pk.read_qrels, pk.read_run, pk.read_documents, read_clicks, read_links]
)
def test_a_panic_names_the_file(read, table, monkeypatch):
    monkeypatch.setattr(pl, "read_parquet", panic)
    monkeypatch.setattr(pl, "scan_parquet", panic)
    with pytest.raises(DataError, match=r"table\.parquet: a damaged parquet file"):
        list(read(table))  # documents are read as they are needed


def test_parts_of_a_file(table):
    with pytest.raises(DataError, match="damaged parquet"), named_damage(table):
        panic()
    with pytest.raises(KeyError), named_damage(table):
        raise KeyError("another error")
