"""Systems of graphs: against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError, RankingDataset, Relation, hyperedges
from plackett.scorers.relations.laplacian import ForestLaplacian, Hypergraph, Laplacian, checked


def graph(seed=0, sizes=(1, 7, 2, 12, 5)):
    """A dataset and a relation of it, with pairs in both directions, loops and lonely documents."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    dense = np.where((qid[:, None] == qid) & (rng.random((qid.size, qid.size)) < 0.3), rng.random((qid.size,) * 2), 0.0)
    data = RankingDataset.from_arrays(None, None, qid)
    return data, Relation.from_matrix(dense).regrouped(None, data.offsets), dense


def forest(seed=0, sizes=(1, 7, 2, 12, 5)):
    rng = np.random.default_rng(seed)
    data = RankingDataset.from_arrays(None, None, np.repeat(np.arange(len(sizes)), sizes))
    pairs, n = [], data.n_rows
    for first, last in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        names = first + rng.permutation(last - first)  # parents anywhere in the list
        pairs += [(names[i], names[rng.integers(0, i)]) for i in range(1, names.size) if rng.random() < 0.8]
    relation = Relation.from_pairs(pairs, weight=rng.uniform(0.5, 2.0, len(pairs))).regrouped(None, data.offsets)
    return data, relation, relation.matrix(n).toarray()


def dense_laplacian(weights):
    weights = weights - np.diag(np.diag(weights))
    return np.diag(weights.sum(axis=1)) - weights


def test_conjugate_gradients_solve_the_dense_system():
    data, relation, dense = graph()
    b = np.random.default_rng(1).normal(size=(data.n_rows, 3))
    other = Relation.from_matrix(np.where(dense > 0, 1.0, 0.0))
    system = Laplacian.of(data, [(relation, 0.7), (other, 0.2)])
    expected = np.eye(data.n_rows) + sum(
        beta * dense_laplacian(0.5 * (w + w.T)) for w, beta in ((dense, 0.7), ((dense > 0).astype(float), 0.2))
    )
    np.testing.assert_allclose(system.solve(b), np.linalg.solve(expected, b), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(system.solve(b[:, 0]), system.solve(b)[:, 0], rtol=0, atol=0)
    np.testing.assert_allclose(system.times(b[:, 1]), expected @ b[:, 1], rtol=1e-12)


def test_no_strength_and_lonely_documents_change_nothing():
    data, relation, _ = graph()
    b = np.random.default_rng(1).normal(size=data.n_rows)
    np.testing.assert_array_equal(Laplacian.of(data, [(relation, 0.0)]).solve(b), b)
    lonely = Relation.from_pairs([(1, 2)])
    kept = np.setdiff1d(np.arange(data.n_rows), [1, 2])
    np.testing.assert_array_equal(Laplacian.of(data, [(lonely, 5.0)]).solve(b)[kept], b[kept])


def test_worked_example_and_limit():
    data = RankingDataset.from_arrays(None, None, [1, 1, 1])
    relation = Relation.from_matrix([[0, 0.8, 0], [0.8, 0, 0.1], [0, 0.1, 0]])
    f = np.array([3.0, 1.0, 2.0])
    h = Laplacian.of(data, [(relation, 1.0)]).solve(f)
    np.testing.assert_allclose(h, [2.394737, 1.638158, 1.967105], atol=1e-6)
    assert h.sum() == pytest.approx(6.0)
    np.testing.assert_allclose(Laplacian.of(data, [(relation, 1e8)]).solve(f), 2.0, atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_a_forest_is_solved_in_one_pass(seed):
    data, relation, dense = forest(seed)
    b = np.random.default_rng(seed).normal(size=(data.n_rows, 2))
    system = ForestLaplacian.of(data, relation, 1.3)
    assert isinstance(system, ForestLaplacian)
    expected = np.eye(data.n_rows) + 1.3 * dense_laplacian(0.5 * (dense + dense.T))
    np.testing.assert_allclose(system.solve(b), np.linalg.solve(expected, b), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("pairs", [[(0, 1), (1, 0)], [(0, 1), (0, 2)], [(0, 1), (1, 2), (2, 0)]])
def test_what_is_no_forest_is_solved_as_a_graph(pairs):
    data = RankingDataset.from_arrays(None, None, [1, 1, 1])
    relation = Relation.from_pairs(pairs).regrouped(None, data.offsets)
    system = ForestLaplacian.of(data, relation, 2.0)
    assert isinstance(system, Laplacian)
    weights = relation.matrix(3).toarray()
    b = np.array([1.0, -2.0, 0.5])
    expected = np.linalg.solve(np.eye(3) + 2.0 * dense_laplacian(0.5 * (weights + weights.T)), b)
    np.testing.assert_allclose(system.solve(b), expected, rtol=1e-10, atol=1e-14)


def test_hypergraph_against_incidence_matrix():
    rng = np.random.default_rng(3)
    data = RankingDataset.from_arrays(None, None, np.repeat([0, 1], [6, 4]))
    groups = [(int(i), name) for i in range(10) for name in "abc" if rng.random() < 0.5]
    weight = {"a": 2.0, "b": 0.5}
    relation = hyperedges(data, groups, weight=weight)
    n, columns, weights = data.n_rows, [], []
    for query in (0, 1):
        for name in "abc":
            members = [i for i, g in groups if g == name and data.query_of_row[i] == query]
            if len(members) > 1:
                columns.append(np.isin(np.arange(n), members).astype(float))
                weights.append(weight.get(name, 1.0))
    incidence, w = np.array(columns).T, np.array(weights)
    laplacian = np.diag(incidence @ w) - incidence @ np.diag(w / incidence.sum(axis=0)) @ incidence.T
    b = rng.normal(size=n)
    expected = np.linalg.solve(np.eye(n) + 0.8 * laplacian, b)
    np.testing.assert_allclose(Hypergraph.of(data, relation, 0.8).solve(b), expected, rtol=1e-9)


def test_edges_of_two_are_pairs_of_half_the_strength_and_one_edge_shrinks():
    data = RankingDataset.from_arrays(None, None, [1] * 5)
    b = np.array([3.0, 1.0, 2.0, -1.0, 0.0])
    edges = hyperedges(data, ["x", "x", "y", "y", None])
    pairs = Relation.from_pairs([(0, 1), (1, 0), (2, 3), (3, 2)])
    np.testing.assert_allclose(
        Hypergraph.of(data, edges, 0.6).solve(b), Laplacian.of(data, [(pairs, 0.3)]).solve(b), rtol=1e-10
    )
    shrunk = Hypergraph.of(data, hyperedges(data, ["all"] * 5), 0.6).solve(b)
    np.testing.assert_allclose(shrunk - b.mean(), (b - b.mean()) / 1.6, rtol=1e-10)


def test_negative_weights_are_refused():
    with pytest.raises(DataError, match="relation 'r': a pair has the weight -2"):
        checked("r", Relation.from_pairs([(0, 1), (1, 0)], weight=[1.0, -2.0]))
