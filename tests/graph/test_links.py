from __future__ import annotations

import gzip

import numpy as np
import polars as pl
import pytest

from plackett import DataError
from plackett.graph import LinkGraph, link_counts, read_links


def test_links_that_occur_twice_count_once_unless_weighted():
    graph = LinkGraph.from_edges([("a", "b"), ("a", "b"), ("b", "b")])
    assert graph.n_links == 2
    assert graph.unweighted
    assert LinkGraph.from_edges([("a", "b", 1.0), ("a", "b", 2.5)]).out[0, 1] == 3.5
    assert LinkGraph.from_edges([("a", "b"), ("b", "b")], self_links=False).n_links == 1


def test_counts():
    counts = link_counts(LinkGraph.from_edges([(0, 1), (2, 1), (1, 0)], names=range(4)))
    assert counts.inlinks.tolist() == [1, 2, 0, 0]
    assert counts.outlinks.tolist() == [1, 1, 1, 0]


def test_sums_along_links_equal_matrix_products(random_graph):
    for weighted in (False, True):
        graph = random_graph(weighted=weighted)
        x = np.random.default_rng(0).random(graph.n_nodes)
        np.testing.assert_allclose(graph.collect(x), graph.out.toarray().T @ x)
        np.testing.assert_allclose(graph.collect_out(x), graph.out.toarray() @ x)
        np.testing.assert_allclose(graph.follow(np.column_stack([x, x]))[:, 1], graph.follow(x))


@pytest.mark.parametrize("separator", ["\t", " ", ","])
def test_text_files(tmp_path, separator):
    file = tmp_path / "links.txt"
    file.write_text(f"# a comment\na{separator}b\nc{separator}a\na{separator}b\n")
    graph = read_links(file)
    assert graph.names == ["a", "b", "c"]
    assert graph.out.toarray().tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 0]]
    with gzip.open(tmp_path / "links.gz", "wb") as packed:
        packed.write(file.read_bytes())
    assert read_links(tmp_path / "links.gz").names == graph.names


def test_parquet_and_weights(tmp_path):
    pl.DataFrame({"from": [1, 2], "to": [2, 3], "n": [0.5, 2]}).write_parquet(tmp_path / "links.parquet")
    graph = read_links(tmp_path / "links.parquet")
    assert graph.names == ["1", "2", "3"]
    assert graph.out.data.tolist() == [0.5, 2.0]
    assert read_links(tmp_path / "links.parquet", names=["3", "2", "1", "x"]).out[2, 1] == 0.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n", "1 columns"),
        ("a\tb\t1\na\tc\t-2\n", "link 2: weight '-2'"),
        ("a\tb\t1\na\tc\tx\n", "link 2: weight 'x'"),
        ("a\tb\na\t\n", "link 2 has no target"),
    ],
)
def test_bad_lines_are_named(tmp_path, text, message):
    (tmp_path / "links.tsv").write_text(text)
    with pytest.raises(DataError, match=message):
        read_links(tmp_path / "links.tsv")


def test_empty_file(tmp_path):
    (tmp_path / "links.tsv").write_text("")
    assert read_links(tmp_path / "links.tsv").n_nodes == 0


def test_mutated_files_are_read_or_rejected(tmp_path):
    rng = np.random.default_rng(0)
    base = bytearray(b"# links\na\tb\t1.5\nb\tc\t2\nc\ta\t1\n")
    for _ in range(60):
        text = base.copy()
        for _ in range(rng.integers(1, 6)):
            text[rng.integers(0, len(text))] = rng.integers(0, 256)
        (tmp_path / "links.tsv").write_bytes(bytes(text))
        try:
            graph = read_links(tmp_path / "links.tsv")
        except DataError:
            continue
        assert graph.n_nodes == len(graph.names)


def test_node_numbers_are_checked():
    with pytest.raises(DataError, match="between 0 and 1"):
        LinkGraph.from_arrays([0], [5], 2)
    with pytest.raises(DataError, match="positive"):
        LinkGraph.from_edges([("a", "b", -1.0)])
    with pytest.raises(DataError, match="'c' is not among"):
        LinkGraph.from_edges([("a", "c")], names=["a", "b"])
