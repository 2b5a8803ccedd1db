"""Relations made from features, vectors and groups."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from plackett import DataError, Neighbours, RankingDataset, hyperedges


def made(seed=0, sizes=(6, 1, 4)):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    return RankingDataset.from_arrays(rng.normal(size=(qid.size, 5)), None, qid)


def naive(data, vectors, k, minimum=0.0):
    pairs = {}
    for i in range(data.n_rows):
        near = []
        for j in range(data.n_rows):
            if i != j and data.query_of_row[i] == data.query_of_row[j]:
                length = np.linalg.norm(vectors[i]) * np.linalg.norm(vectors[j])
                value = float(vectors[i] @ vectors[j] / length) if length > 0 else 0.0
                if value > 0 and value >= minimum:
                    near.append((-value, j))
        for value, j in sorted(near)[:k]:
            pairs[i, j] = -value
    return pairs


def pairs_of(relation):
    return {(int(i), int(j)): w for (i, j), w in zip(relation.to_pairs(), relation.weights, strict=True)}


def agree(found, expected):
    assert found.keys() == expected.keys()
    for pair, value in expected.items():
        assert found[pair] == pytest.approx(value, abs=1e-5)


@pytest.mark.spec("relational.relations")
@pytest.mark.parametrize("k", [1, 3, None])
@pytest.mark.parametrize("minimum", [0.0, 0.3])
def test_neighbours_are_those_of_a_naive_search(k, minimum):
    data = made()
    expected = naive(data, data.X.astype(float), k, minimum)
    plain = Neighbours(k=k, scale="none", minimum=minimum)
    agree(pairs_of(plain(data)), expected)
    agree(pairs_of(plain(data, csr_matrix(data.X))), expected)
    agree(pairs_of(plain(RankingDataset.from_arrays(None, None, data.qid), data.X)), expected)


@pytest.mark.spec("relational.relations")
def test_features_are_scaled_within_the_query():
    data = made()
    scaled = data.X.astype(float).copy()
    for q in range(data.n_queries):
        rows = slice(*data.offsets[q : q + 2])
        spread = scaled[rows].std(axis=0)
        scaled[rows] = (scaled[rows] - scaled[rows].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    agree(pairs_of(Neighbours(k=2)(data)), naive(data, scaled, 2))
    other_units = data.replace(X=data.X * np.array([1, 10, 1, 1, 100], np.float32) + 3)
    agree(pairs_of(Neighbours(k=2)(other_units)), naive(data, scaled, 2))


def test_some_features_and_constant_ones():
    data = made()
    agree(
        pairs_of(Neighbours(k=2, scale="none", features=(0, 3))(data)), naive(data, data.X[:, [0, 3]].astype(float), 2)
    )
    assert len(Neighbours()(data.replace(X=np.ones_like(data.X)))) == 0


@pytest.mark.parametrize(
    ("parameters", "vectors", "match"),
    [
        ({"k": 0}, None, "k=0"),
        ({"scale": "list"}, None, "scale='list'"),
        ({"minimum": 2.0}, None, "minimum=2.0"),
        ({"features": (9,)}, None, "columns 0 to 4"),
        ({}, [[1.0]], r"shape \(1, 1\)"),
        ({"scale": "none"}, csr_matrix((2, 2)), "2 rows"),
    ],
)
def test_refusals(parameters, vectors, match):
    with pytest.raises(DataError, match=match):
        Neighbours(**parameters)(made(), vectors)


@pytest.mark.spec("relational.relations")
def test_groups_follow_their_documents():
    data = RankingDataset.from_arrays(None, None, [0, 0, 0, 0, 1, 1, 1], docids=list("abcdefg"))
    data = data.replace(relations={"brand": hyperedges(data, ["x", "y", "x", "y", "x", None, "x"])})

    def groups(of):
        found = {}
        for row, label in of.relations["brand"].to_pairs():
            found.setdefault(int(label), set()).add(of.docids[row])
        return sorted(map(sorted, found.values()))

    assert groups(data) == [["a", "c"], ["b", "d"], ["e", "g"]]
    assert groups(data.select([1])) == [["e", "g"]]


def test_groups_that_do_not_fit():
    data = RankingDataset.from_arrays(None, None, [0, 0])
    with pytest.raises(DataError, match="2 rows"):
        hyperedges(data, ["x"])
    with pytest.raises(DataError, match="give a group of each row"):
        hyperedges(data, 3)
    with pytest.raises(DataError, match="more groups than documents"):
        hyperedges(data, [(i, name) for i in (0, 1) for name in "abc"])
    with pytest.raises(DataError, match="weights of groups"):
        hyperedges(data, ["x", "x"], weight={"x": -1.0})
