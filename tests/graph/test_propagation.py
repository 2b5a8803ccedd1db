from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError
from plackett.graph import LinkGraph, SiteMap, propagate_links, propagate_site


def test_site_propagation():
    site = SiteMap([-1, 0, 0, 1])
    s = np.array([1.0, 2.0, 4.0, 8.0])
    result = propagate_site(s, site, alpha=0.25)
    np.testing.assert_allclose(result, [1.25 + 0.75 * 3.0, 2.5 + 0.75 * 8.0, 5.0, 10.0])
    np.testing.assert_allclose(propagate_site(3 * s, site, alpha=0.25), 3 * result)  # linear
    np.testing.assert_allclose(propagate_site(s, site, alpha=1.0), 2 * s)
    np.testing.assert_allclose(propagate_site(np.column_stack([s, s]), site, alpha=0.25)[:, 1], result)


def dense_weights(graph, scheme, s):
    links = graph.out.toarray() > 0
    near = links.T if scheme == "in" else links
    weights = near * (np.ones_like(s) if scheme == "uniform-out" else s)
    total = weights.sum(axis=1, keepdims=True)
    return np.where(total > 0, weights / np.where(total > 0, total, 1), np.nan)


@pytest.mark.parametrize("scheme", ["in", "out", "uniform-out"])
def test_the_fixed_point_solves_the_linear_system(random_graph, scheme):
    graph = random_graph()
    s = np.random.default_rng(0).random(40)
    weights = dense_weights(graph, scheme, s)
    alone = np.isnan(weights).any(axis=1)
    near = np.where(alone[:, None], 0.0, weights)
    right = np.where(alone, s, 0.4 * s)
    exact = np.linalg.solve(np.eye(40) - 0.6 * near, right)
    np.testing.assert_allclose(propagate_links(s, graph, scheme=scheme, alpha=0.4), exact, atol=1e-8)
    np.testing.assert_allclose(propagate_links(s, graph, scheme=scheme, alpha=1.0), s)
    one = propagate_links(s, graph, scheme=scheme, alpha=0.4, steps=1)
    np.testing.assert_allclose(one, 0.4 * s + 0.6 * np.where(alone, s, near @ s))


def test_term_counts_are_propagated_by_column():
    graph = LinkGraph.from_edges([(0, 1), (0, 2)], names=range(3))
    tf = np.array([[0.0, 2.0], [1.0, 0.0], [3.0, 0.0]])
    np.testing.assert_allclose(propagate_links(tf, graph, scheme="uniform-out", steps=1)[0], [1.0, 1.0])
    np.testing.assert_allclose(propagate_links(tf, graph, scheme="out", steps=1)[0], [(1 * 0.25 + 3 * 0.75) / 2, 1.0])


def test_errors():
    graph = LinkGraph.from_edges([(0, 1)])
    with pytest.raises(DataError, match="scheme='x'"):
        propagate_links([1, 2], graph, scheme="x")
    with pytest.raises(DataError, match="0 or more"):
        propagate_links([-1, 2], graph)
    with pytest.raises(DataError, match="alpha=2"):
        propagate_site([1.0], SiteMap([-1]), alpha=2)
