from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from plackett.graph import LinkGraph, hits, topical_hits
from plackett.graph.hits import base_set


@pytest.mark.parametrize("weighted", [False, True])
def test_leading_singular_vectors(random_graph, weighted):
    graph = random_graph(weighted=weighted)
    result = hits(graph, tol=1e-13)
    left, _, right = np.linalg.svd(graph.out.toarray())
    np.testing.assert_allclose(result.hub, np.abs(left[:, 0]) / np.abs(left[:, 0]).sum(), atol=1e-9)
    np.testing.assert_allclose(result.authority, np.abs(right[0]) / np.abs(right[0]).sum(), atol=1e-9)
    hubs, _ = nx.hits(nx.from_scipy_sparse_array(graph.out, create_using=nx.DiGraph), max_iter=1000, tol=1e-12)
    np.testing.assert_allclose(result.hub, [hubs[i] for i in range(graph.n_nodes)], atol=1e-8)


def test_topical_hits_sums_to_hits(random_graph):
    graph = random_graph(seed=3)
    topics = np.random.default_rng(0).random((40, 3))
    result = topical_hits(graph, topics, stay=0.6)
    plain = hits(graph)
    np.testing.assert_allclose(result.authority.sum(axis=1), plain.authority, atol=1e-8)
    np.testing.assert_allclose(result.hub.sum(axis=1), plain.hub, atol=1e-8)
    content = topics / topics.sum(axis=1, keepdims=True)
    along = graph.out.toarray().T @ result.hub
    step = 0.6 * along + 0.4 * along.sum(axis=1, keepdims=True) * content
    np.testing.assert_allclose(result.authority, step / step.sum(), atol=1e-8)


def test_a_graph_without_links():
    result = hits(LinkGraph.from_edges([], names=["a", "b"]))
    assert result.authority.tolist() == result.hub.tolist() == [0.0, 0.0]


def test_base_set():
    graph = LinkGraph.from_edges([(0, 1), (2, 0), (3, 0), (4, 5)], names=range(6))
    assert base_set(graph, [0]).tolist() == [0, 1, 2, 3]
    assert base_set(graph, [0], most_in=1).tolist() == [0, 1, 2]
