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


def agree(result, expected):
    assert result.keys() == expected.keys()
    for pair, value in expected.items():
        assert result[pair] == pytest.approx(value, abs=1e-5)


@pytest.mark.parametrize("k", [1, 3, None])
@pytest.mark.parametrize("minimum", [0.0, 0.3])
def test_neighbours_are_those_of_a_naive_search(k, minimum):
    data = made()
    expected = naive(data, data.X.astype(float), k, minimum)
    plain = Neighbours(k=k, scale="none", minimum=minimum)
    agree(pairs_of(plain(data)), expected)
    agree(pairs_of(plain(data, csr_matrix(data.X))), expected)
    agree(pairs_of(plain(RankingDataset.from_arrays(None, None, data.qid), data.X)), expected)


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


def test_groups_follow_their_documents():
    data = RankingDataset.from_arrays(None, None, [0, 0, 0, 0, 1, 1, 1], docids=list("abcdefg"))
    data = data.replace(relations={"brand": hyperedges(data, ["x", "y", "x", "y", "x", None, "x"])})

    def groups(of):
        result = {}
        for row, label in of.relations["brand"].to_pairs():
            result.setdefault(int(label), set()).add(of.docids[row])
        return sorted(map(sorted, result.values()))

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


def test_groups_against_a_loop():
    rng = np.random.default_rng(0)
    data = made(sizes=(6, 1, 9, 4))
    names = ["x", "y", 3, 3.5, None, ("a", 1), True]
    pairs = [(int(i), names[g]) for i, g in zip(rng.integers(0, 20, 60), rng.integers(0, 7, 60), strict=True)]
    wanted = set()
    for row, name in pairs:
        fellows = {r for r, n in pairs if n == name and data.query_of_row[r] == data.query_of_row[row]}
        if name is not None and len(fellows) > 1:
            wanted.add((row, name))
    relation = hyperedges(data, pairs, weight={"x": 2.0})
    assert len(relation) == len(wanted)
    assert (data.query_of_row[relation.row] == data.query_of_row[relation.other]).all()
    members = {}
    for row, label in relation.to_pairs().tolist():
        members.setdefault(label, set()).add(row)
    groups = {}
    for row, name in wanted:
        groups.setdefault((int(data.query_of_row[row]), name), set()).add(row)
    assert sorted(map(sorted, members.values())) == sorted(map(sorted, groups.values()))
    doubled = {row for row, name in wanted if name == "x"}
    assert set(relation.row[relation.weights == 2.0].tolist()) == doubled


def test_groups_from_arrays_lists_and_numbers_are_the_same():
    data = made()
    codes = np.array([0, 1, 0, 1, 2, 0, 3, 1, 1, 2, 2])
    as_list = hyperedges(data, codes.tolist()).to_pairs().tolist()
    for groups in (codes, codes.astype(float), codes.astype(str), codes.astype(np.int8), [f"g{c}" for c in codes]):
        assert hyperedges(data, groups).to_pairs().tolist() == as_list
    missing = np.where(codes == 1, np.nan, codes)
    assert (
        hyperedges(data, missing).to_pairs().tolist()
        == hyperedges(data, [None if c == 1 else c for c in codes]).to_pairs().tolist()
    )
    assert len(hyperedges(data.select([]), [])) == 0
    with pytest.raises(DataError, match="row numbers"):
        hyperedges(data, [(0.5, "x"), (1.0, "x")])
