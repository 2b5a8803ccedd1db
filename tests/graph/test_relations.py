"""Parents by URL and links between the documents of a query."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError, RankingDataset
from plackett.graph.links import LinkGraph
from plackett.graph.relations import link_relation, parent_relation
from plackett.graph.urls import INDEX_PAGE, host, path_of
from plackett.scorers.relations.laplacian import parents_of


def test_parents_are_the_nearest_pages_above_within_the_query():
    urls = [
        "http://a.org/b/c.html",
        "http://A.org/b/",
        "a.org/b/d/e/",
        "a.org/index.html",
        "a.org/b/c.html",
        "a.org/b/",
    ]
    data = RankingDataset.from_arrays(None, None, [1, 1, 1, 1, 2, 2], docids=urls)
    relation = parent_relation(data)
    assert relation.to_pairs().tolist() == [[0, 1], [1, 3], [2, 1], [4, 5]]
    assert parents_of(relation, data) is not None  # a forest
    assert parent_relation(data, urls).to_pairs().tolist() == relation.to_pairs().tolist()


def test_paths_are_enough():
    data = RankingDataset.from_arrays(None, None, [1, 1, 1], docids=["lib/os.html", "lib/os/path.html", "lib"])
    assert parent_relation(data).to_pairs().tolist() == [[0, 2], [1, 2]]


def above(urls, query):
    """Row of the parent of each row, by a loop over prefixes."""
    keys = [(host(url) + INDEX_PAGE.sub("/", path_of(url))).rstrip("/") for url in urls]
    pairs = []
    for i, key in enumerate(keys):
        result = next(j for j in range(len(keys)) if query[j] == query[i] and keys[j] == key)
        while result == i and "/" in key:
            key = key.rpartition("/")[0]
            result = next((j for j in range(len(keys)) if query[j] == query[i] and keys[j] == key), i)
        pairs += [[i, result]] if result != i else []
    return pairs


def test_parents_against_a_loop():
    rng = np.random.default_rng(0)
    parts = [
        "",
        "a",
        "b.org",
        "B",
        "index.html",
        "Home.ASP",
        "a%20b",
        "a b",
        "é",
        "//",
        "%2F",
        "x?a/b",
        "#y/z",
        "u@h:80",
    ]
    starts = ["", "http://", "HTTPS://", "//", " ftp://", "u:p@", "a.org:8080/"]
    urls = [
        str(rng.choice(starts)) + "/".join(rng.choice(parts, rng.integers(0, 5))) + "/" * rng.integers(0, 2)
        for _ in range(400)
    ]
    query = np.sort(rng.integers(0, 12, 400))
    data = RankingDataset.from_arrays(None, None, query)
    assert parent_relation(data, urls).to_pairs().tolist() == above(urls, query)


def test_urls_of_thousands_of_parts_and_odd_names():
    deep = "/".join("a" * 5000)
    data = RankingDataset.from_arrays(None, None, [1, 1, 1, 2])
    assert parent_relation(data, [deep, "a/a", "a", "a"]).to_pairs().tolist() == [[0, 1], [1, 2]]
    assert parent_relation(data, [11, 12, 11, 11]).to_pairs().tolist() == [[2, 0]]
    assert len(parent_relation(data, ["", "/", None, ""])) == 1
    with pytest.raises(DataError, match="not valid Unicode"):
        parent_relation(data, ["a", "\ud800", "b", "c"])


def test_links_against_a_loop():
    rng = np.random.default_rng(0)
    names = [f"p{i}" for i in range(30)]
    edges = [
        (names[a], names[b], float(w))
        for a, b, w in zip(*rng.integers(0, 30, (2, 200)), rng.uniform(1, 2, 200), strict=True)
    ]
    graph = LinkGraph.from_edges(edges, names=names)
    qid = np.repeat(np.arange(5), 8)
    docids = np.concatenate([rng.permutation([*names, "unknown"])[:8] for _ in range(5)])
    data = RankingDataset.from_arrays(None, None, qid, docids=docids)
    expected = {}
    for i in range(data.n_rows):
        for j in range(data.n_rows):
            if i != j and data.qid[i] == data.qid[j]:
                total = sum(w for a, b, w in edges if (a, b) == (data.docids[i], data.docids[j]))
                if total:
                    expected[i, j] = total
    relation = link_relation(data, graph)
    result = dict(zip(map(tuple, relation.to_pairs().tolist()), relation.weights, strict=True))
    assert result.keys() == expected.keys()
    assert all(result[pair] == pytest.approx(value) for pair, value in expected.items())


def test_refusals():
    data = RankingDataset.from_arrays(None, None, [1, 1])
    with pytest.raises(DataError, match="no document ids"):
        parent_relation(data)
    with pytest.raises(DataError, match="1 URLs for 2 documents"):
        parent_relation(data, ["a.org"])
    with pytest.raises(DataError, match="'x' is not"):
        link_relation(data, LinkGraph.from_edges([("a", "b")]), ["x", "y"])


def test_links_of_documents_that_occur_twice():
    graph = LinkGraph.from_edges([("a", "b", 2.0), ("b", "b", 1.0), ("a", "c", 3.0)])
    data = RankingDataset.from_arrays(None, None, [1, 1, 1, 1, 2, 2], docids=["b", "a", "b", "x", "a", "c"])
    relation = link_relation(data, graph)
    assert relation.to_pairs().tolist() == [[0, 2], [1, 0], [1, 2], [2, 0], [4, 5]]
    assert relation.weights.tolist() == [1.0, 2.0, 2.0, 1.0, 3.0]
