"""The order that depends on content alone."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from plackett import Preferences, RankingDataset, Relation
from plackett.data.canonical import canonical_order


def _parts(rng, n=200):
    X = rng.integers(0, 3, (n, 4)).astype(np.float32)
    qid = rng.integers(0, 30, n)
    return X, rng.integers(0, 3, n), qid, rng.random(n)


@pytest.mark.parametrize("sparse", [False, True])
def test_any_order_and_any_ids_become_the_same(sparse):
    rng = np.random.default_rng(0)
    X, y, qid, weight = _parts(rng)
    form = sp.csr_matrix if sparse else np.asarray
    first = canonical_order(RankingDataset.from_arrays(form(X), y, qid, sample_weight=weight))
    names = np.array([f"query {i}" for i in rng.permutation(30)])
    for _ in range(5):
        rows = rng.permutation(y.size)
        data = RankingDataset.from_arrays(form(X[rows]), y[rows], names[qid[rows]], sample_weight=weight[rows])
        again = canonical_order(data)
        dense = [d.X.toarray() if sparse else d.X for d in (first, again)]
        np.testing.assert_array_equal(*dense)
        for field in ("y", "offsets", "sample_weight"):
            np.testing.assert_array_equal(getattr(first, field), getattr(again, field))


def test_rows_that_differ_in_their_positions_alone_have_an_order():
    """The same documents shown in other orders: rows, and whole queries, are told apart by the positions."""
    rng = np.random.default_rng(3)
    X, y, qid = np.ones((60, 2), np.float32), np.tile([0, 1], 30), np.arange(60) // 6
    positions = np.concatenate([rng.permutation(6) + 1 for _ in range(10)])
    first = canonical_order(RankingDataset.from_arrays(X, y, qid, positions=positions))
    for _ in range(5):
        rows = rng.permutation(60)
        data = RankingDataset.from_arrays(X, y[rows], qid[rows], positions=positions[rows])
        again = canonical_order(data)
        np.testing.assert_array_equal(again.positions, first.positions)
        np.testing.assert_array_equal(again.y, first.y)
    assert sorted(first.positions) == sorted(positions)


def test_it_is_the_same_data():
    X, y, qid, _ = _parts(np.random.default_rng(1))
    data = RankingDataset.from_arrays(X, y, qid, query_weight=np.arange(1.0, np.unique(qid).size + 1))
    ordered = canonical_order(data)

    def content(d):
        rows = np.column_stack([d.X, d.y, d.qid, np.repeat(d.query_weight, d.group)])
        return sorted(map(tuple, rows.tolist()))

    assert content(ordered) == content(data)


def test_preferences_move_along():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(12, 2))
    qid = np.repeat([3, 1, 2], 4)
    pairs = [(0, 1), (5, 4), (11, 8), (8, 11)]
    data = RankingDataset.from_arrays(X, None, qid, preferences=Preferences.from_pairs(pairs, margin=[1, 2, 3, 4]))
    ordered = canonical_order(data)

    def named(d):
        p = d.preferences
        return sorted(zip(d.X[p.winner, 0].tolist(), d.X[p.loser, 0].tolist(), p.margin.tolist(), strict=True))

    assert named(ordered) == named(data)


@pytest.mark.parametrize("kind", [1, 1000])
def test_preferences_and_subtopics_have_an_order_too(kind):
    """Also of rows that are equal otherwise: training on pairs does not depend on the order of rows or pairs."""
    rng = np.random.default_rng(5)
    n, qid = 60, np.repeat(np.arange(6), 10)
    X = rng.integers(0, kind, (n, 3)).astype(np.float32)
    pairs = np.array([(i, j) for i, j in rng.integers(0, n, (900, 2)).tolist() if i // 10 == j // 10 and i != j])
    more = {"margin": rng.random(len(pairs)), "weight": rng.random(len(pairs))}
    subtopics = rng.integers(0, 2, (n, 2)) * np.where(rng.random((n, 2)) < 0.2, np.nan, 1.0)
    by_subtopic = rng.random((6, 2))

    def parts(rows, order):
        at = np.argsort(rows)
        queries = qid[rows][np.sort(np.unique(qid[rows], return_index=True)[1])]
        extra = {name: values[order] for name, values in more.items()}
        chosen = Preferences.from_pairs(at[pairs[order]], **extra)
        data = RankingDataset.from_arrays(
            X[rows],
            None,
            qid[rows],
            preferences=chosen,
            subtopics=subtopics[rows],
            subtopic_weight=by_subtopic[queries],
        )
        ordered = canonical_order(data)
        result = ordered.preferences
        return (result.winner, result.loser, result.margin, result.weight, ordered.subtopics, ordered.subtopic_weight)

    first = parts(np.arange(n), np.arange(len(pairs)))
    for _ in range(3):
        for one, other in zip(first, parts(rng.permutation(n), rng.permutation(len(pairs))), strict=True):
            np.testing.assert_array_equal(one, other)


def test_the_callers_matrix_is_left_alone():
    X = sp.csr_matrix((np.ones(2, np.float32), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    assert not X.has_sorted_indices
    canonical_order(RankingDataset.from_arrays(X, [1]))
    assert X.indices.tolist() == [1, 0]


def test_weights_only_decide_between_equals():
    """The order with weights is one of those without; rows that differ in their weights alone still have an order."""
    rng = np.random.default_rng(4)
    X, y, qid, weight = _parts(rng)
    plain = canonical_order(RankingDataset.from_arrays(X, y, qid))
    by_query = rng.random(np.unique(qid).size)
    weighted = canonical_order(RankingDataset.from_arrays(X, y, qid, sample_weight=weight, query_weight=by_query))
    for field in ("X", "y", "offsets", "qids"):
        np.testing.assert_array_equal(getattr(weighted, field), getattr(plain, field))
    same = np.ones((200, 4), np.float32)
    first = canonical_order(RankingDataset.from_arrays(same, np.zeros(200), np.arange(200) // 5, sample_weight=weight))
    rows = np.concatenate([5 * q + rng.permutation(5) for q in rng.permutation(40)])
    again = canonical_order(RankingDataset.from_arrays(same, np.zeros(200), rows // 5, sample_weight=weight[rows]))
    np.testing.assert_array_equal(again.sample_weight, first.sample_weight)


def test_relations_decide_only_between_equal_rows():
    rng = np.random.default_rng(0)
    X, qid = rng.integers(0, 2, (40, 2)).astype(float), np.repeat(np.arange(4), 10)
    y = rng.integers(0, 2, 40)
    plain = canonical_order(RankingDataset.from_arrays(X, y, qid))
    pairs = Relation.from_pairs([(i, j) for i, j in rng.integers(0, 40, (200, 2)).tolist() if i // 10 == j // 10])
    for relations in ({"r": pairs}, {"r": pairs, "s": Relation.from_pairs([(0, 1)])}):
        result = canonical_order(RankingDataset.from_arrays(X, y, qid, relations=relations))
        np.testing.assert_array_equal(result.X, plain.X)
        np.testing.assert_array_equal(result.y, plain.y)
        np.testing.assert_array_equal(result.qids, plain.qids)
