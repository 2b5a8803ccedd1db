"""``plackett links``."""

from __future__ import annotations

import json

import polars as pl
import pytest
from typer.testing import CliRunner

from plackett.cli.app import app
from plackett.graph import LinkGraph, pagerank, trustrank
from plackett.text import Document, Index, Link

EDGES = [("http://a.org/", "http://a.org/b"), ("http://a.org/b", "http://a.org/"), ("http://c.org/", "http://a.org/")]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "links.tsv"
    path.write_text("".join(f"{u}\t{v}\n" for u, v in EDGES))
    return path


def _call(*arguments):
    return CliRunner().invoke(app, ["links", *map(str, arguments)])


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_the_table(file, tmp_path, suffix):
    (tmp_path / "seeds").write_text("http://c.org/\n")
    out = tmp_path / f"table{suffix}"
    result = _call(file, "--out", out, "--urls", "--seeds", tmp_path / "seeds")
    assert result.exit_code == 0, result.output
    table = pl.read_csv(out) if suffix == ".csv" else pl.read_parquet(out)
    graph = LinkGraph.from_edges(EDGES)
    assert table["docid"].to_list() == graph.names
    assert table["pagerank"].to_list() == pytest.approx(pagerank(graph).tolist())
    assert table["trustrank"].to_list() == pytest.approx(trustrank(graph, ["http://c.org/"]).tolist())
    assert table["children"].to_list() == [1, 0, 0]
    assert table["url_type"].to_list() == ["root", "file", "root"]


def test_json_and_an_index(tmp_path):
    pytest.importorskip("Stemmer", reason="needs the extra text")
    Index.create(tmp_path / "index", [Document("a", {"t": "x"}, (Link("b"),)), Document("b", {"t": "y"}, (Link("b"),))])
    record = json.loads(_call(tmp_path / "index", "--json").output)
    assert (record["pages"], record["links"], record["dangling"]) == (2, 1, 1)
    assert record["top"][0]["docid"] == "b"


def test_errors(file, tmp_path):
    result = _call(file, "--out", tmp_path / "x.txt")
    assert result.exit_code != 0
    assert ".parquet" in result.output
