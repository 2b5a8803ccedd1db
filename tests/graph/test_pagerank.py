from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from plackett import DataError, PlackettWarning
from plackett.graph import (
    LinkGraph,
    blockrank,
    domain_links,
    host_graph,
    hostrank,
    pagerank,
    pagerank_by_damping,
    query_pagerank,
    second_eigenvalue,
    topic_pagerank,
    topical_pagerank,
    trust_seeds,
    trustrank,
)

SEVEN = {1: [2, 3, 4, 5, 7], 2: [1], 3: [1, 2], 4: [2, 3, 5], 5: [1, 3, 4, 6], 6: [1, 5], 7: [5]}
SOLVERS = ("power", "extrapolation", "gauss-seidel")


def transitions(graph, lost=None):
    """Column-stochastic matrix of a surfer; from dangling pages he goes to ``lost``, by default anywhere."""
    n = graph.n_nodes
    weights = graph.out.toarray()
    lost = np.full(n, 1 / n) if lost is None else lost
    return np.column_stack([row / row.sum() if row.sum() > 0 else lost for row in weights])


def dense_pagerank(graph, damping=0.85, teleport=None, lost=None):
    n = graph.n_nodes
    v = np.full(n, 1 / n) if teleport is None else np.asarray(teleport, float) / np.sum(teleport)
    return np.linalg.solve(np.eye(n) - damping * transitions(graph, lost), (1 - damping) * v)


def seven():
    return LinkGraph.from_edges([(u, v) for u in SEVEN for v in SEVEN[u]], names=SEVEN)


def test_the_seven_pages_of_the_book():
    printed = [0.304, 0.166, 0.141, 0.105, 0.179, 0.045, 0.060]  # the last one is truncated
    assert np.abs(pagerank(seven(), damping=1.0) - printed).max() < 0.001
    expected = [0.2803, 0.1588, 0.1389, 0.1082, 0.1842, 0.0606, 0.0691]
    np.testing.assert_allclose(pagerank(seven()), expected, atol=5e-5)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_it_solves_the_linear_system(random_graph, solver, weighted, seed):
    graph = random_graph(seed=seed, weighted=weighted)
    result = pagerank(graph, solver=solver, tol=1e-13)
    assert result.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(result, dense_pagerank(graph), atol=1e-12)
    values, vectors = np.linalg.eig(0.85 * transitions(graph) + 0.15 / graph.n_nodes)
    leading = np.real(vectors[:, np.argmax(values.real)])
    np.testing.assert_allclose(result, leading / leading.sum(), atol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("dangling", ["uniform", "teleport"])
def test_personalised(random_graph, solver, dangling):
    graph = random_graph(seed=5)
    teleport = np.random.default_rng(1).random(graph.n_nodes) * (np.arange(graph.n_nodes) % 3 == 0)
    lost = teleport / teleport.sum() if dangling == "teleport" else None
    result = pagerank(graph, teleport=teleport, dangling=dangling, solver=solver, tol=1e-13)
    np.testing.assert_allclose(result, dense_pagerank(graph, 0.85, teleport, lost), atol=1e-12)
    if dangling == "teleport":
        names = {name: teleport[i] for i, name in enumerate(graph.names)}
        peer = nx.pagerank(
            nx.from_scipy_sparse_array(graph.out, create_using=nx.DiGraph), personalization=names, tol=1e-14
        )
        np.testing.assert_allclose(result, [peer[i] for i in range(graph.n_nodes)], atol=1e-10)


def test_it_is_linear_in_the_teleport_vector(random_graph):
    graph = random_graph(seed=2)
    rng = np.random.default_rng(3)
    a, b = rng.dirichlet(np.ones(graph.n_nodes), 2)
    mixed = pagerank(graph, teleport=0.3 * a + 0.7 * b, tol=1e-14)
    np.testing.assert_allclose(mixed, 0.3 * pagerank(graph, teleport=a) + 0.7 * pagerank(graph, teleport=b), atol=1e-9)


def test_no_damping_is_uniform(random_graph):
    np.testing.assert_allclose(pagerank(random_graph(), damping=0.0), 1 / 40)


def test_removed_dangling_pages_get_their_rank_last():
    # 0 <-> 1 is the core; 2 dangles, and 3 once 2 is gone
    graph = LinkGraph.from_edges([(0, 1), (1, 0), (1, 3), (3, 2)], names=range(4))
    result = pagerank(graph, dangling="remove")
    raw = np.array([0.5, 0.5, 0.25, 0.25])  # half of 1's rank goes to 3, all of 3's to 2
    np.testing.assert_allclose(result, raw / raw.sum(), atol=1e-9)


def test_a_surfer_without_teleport_may_go_round_for_ever():
    circle = LinkGraph.from_edges([(0, 1), (1, 0)])
    with pytest.warns(PlackettWarning, match="periodic"):
        pagerank(circle, damping=1.0, start=[1.0, 0.0], max_iter=50)


def test_frequencies_of_a_simulated_surfer():
    graph, rng, steps = seven(), np.random.default_rng(0), 60_000
    table = np.cumsum(0.85 * transitions(graph) + 0.15 / 7, axis=0).T
    visits, page = np.zeros(7), 0
    for u in rng.random(steps):
        page = int(np.searchsorted(table[page], u))
        visits[page] += 1
    np.testing.assert_allclose(visits / steps, pagerank(graph), atol=0.01)


def test_accelerations_need_fewer_steps():
    ahead, back = [(i, i + 1) for i in range(99)], [(i + 1, i) for i in range(99)]
    path = LinkGraph.from_edges([*ahead, *back, (0, 0)], names=range(100))
    control = {"damping": 0.99, "tol": 1e-9, "max_iter": 900}
    with pytest.warns(PlackettWarning, match="raise max_iter"):
        pagerank(path, **control)
    for solver in ("extrapolation", "gauss-seidel"):
        np.testing.assert_allclose(pagerank(path, solver=solver, **control), dense_pagerank(path, 0.99), atol=1e-7)


def test_blockrank_is_a_good_start():
    rng = np.random.default_rng(0)
    hosts = np.repeat(np.arange(20), 10)
    source = rng.integers(0, 200, 1500)
    inside = rng.random(1500) < 0.9
    target = np.where(inside, hosts[source] * 10 + rng.integers(0, 10, 1500), rng.integers(0, 200, 1500))
    graph = LinkGraph.from_arrays(source, target, 200)
    start, exact = blockrank(graph, hosts), pagerank(graph, tol=1e-14)
    assert start.sum() == pytest.approx(1.0)
    assert np.abs(start - exact).sum() < 0.5 * np.abs(1 / 200 - exact).sum()
    np.testing.assert_allclose(pagerank(graph, start=start, tol=1e-13), exact, atol=1e-12)


def test_blockrank_is_exact_for_separate_hosts(random_graph):
    parts = [random_graph(20, 80, seed=s) for s in (1, 2)]
    source = np.concatenate([np.repeat(np.arange(20), np.diff(p.out.indptr)) + 20 * i for i, p in enumerate(parts)])
    target = np.concatenate([p.out.indices + 20 * i for i, p in enumerate(parts)])
    result = blockrank(LinkGraph.from_arrays(source, target, 40), np.repeat([0, 1], 20), tol=1e-13)
    np.testing.assert_allclose(result, np.concatenate([dense_pagerank(p) / 2 for p in parts]), atol=1e-10)


def test_topic_pagerank_mixes_personalised_vectors(random_graph):
    graph = random_graph()
    topics = np.random.default_rng(0).random((40, 3))
    vectors = topic_pagerank(graph, topics)
    np.testing.assert_allclose(vectors[:, 1], dense_pagerank(graph, teleport=topics[:, 1]), atol=1e-9)
    np.testing.assert_allclose(topic_pagerank(graph, topics, [2, 0, 2]), vectors[:, [0, 2]].mean(axis=1), atol=1e-12)


def test_topical_pagerank_sums_to_pagerank(random_graph):
    graph = random_graph(seed=4)
    topics = np.random.default_rng(0).random((40, 3))
    table = topical_pagerank(graph, topics, stay=0.7)
    np.testing.assert_allclose(table.sum(axis=1), dense_pagerank(graph), atol=1e-9)
    # the state (page, topic) as one dense walk
    content = topics / topics.sum(axis=1, keepdims=True)
    walk = transitions(graph)
    n, k = topics.shape
    step = np.zeros((n * k, n * k))
    for v in range(n):
        for u in range(n):
            for i in range(k):
                for j in range(k):
                    keep = 0.7 * (i == j) + 0.3 * content[u, j] if not graph.dangling[v] else content[u, j]
                    step[u * k + j, v * k + i] = walk[u, v] * keep
    jump = 0.15 / n * content.ravel()
    np.testing.assert_allclose(table.ravel(), np.linalg.solve(np.eye(n * k) - 0.85 * step, jump), atol=1e-9)


def test_query_pagerank(random_graph):
    graph = random_graph(seed=6)
    assert np.allclose(query_pagerank(graph, np.ones(40)), dense_pagerank(graph), atol=1e-9)
    wanted = np.random.default_rng(0).random(40)
    dense = graph.out.toarray() * wanted
    columns = [row / row.sum() if row.sum() > 0 else wanted / wanted.sum() for row in dense]
    exact = np.linalg.solve(np.eye(40) - 0.85 * np.column_stack(columns), 0.15 * wanted / wanted.sum())
    np.testing.assert_allclose(query_pagerank(graph, wanted), exact, atol=1e-9)


def test_by_damping_and_second_eigenvalue(random_graph):
    graph = random_graph(seed=7)
    rows = pagerank_by_damping(graph, [0.1, 0.5, 0.9])
    for alpha, row in zip([0.1, 0.5, 0.9], rows, strict=True):
        np.testing.assert_allclose(row, dense_pagerank(graph, alpha), atol=1e-8)
    exact = np.sort(np.abs(np.linalg.eigvals(0.85 * transitions(graph) + 0.15 / 40)))[-2]
    assert exact <= 0.85
    assert second_eigenvalue(graph, max_iter=2000) == pytest.approx(exact, rel=0.02)


def test_trust_does_not_reach_a_spam_farm():
    farm = [(f"f{i}", "spam") for i in range(20)] + [("spam", f"f{i}") for i in range(20)]
    graph = LinkGraph.from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("spam", "a"), *farm])
    trust, rank = trustrank(graph, ["a"]), pagerank(graph)
    spam = graph.names.index("spam")
    assert trust[spam] == 0.0
    assert rank[spam] > rank[graph.names.index("c")]
    np.testing.assert_allclose(trustrank(graph, graph.names), rank, atol=1e-9)
    assert trust_seeds(graph, 1) == ["spam"]


def test_hosts():
    graph = LinkGraph.from_edges([(0, 2), (1, 2), (2, 0), (2, 3), (0, 1)], names=range(4))
    hosts = ["a", "a", "b", "b"]
    assert host_graph(graph, hosts).out.toarray().tolist() == [[0, 2], [1, 0]]  # without links inside
    rank = hostrank(graph, hosts)
    np.testing.assert_allclose([rank[:2].sum(), rank[2:].sum()], dense_pagerank(host_graph(graph, hosts)), atol=1e-9)
    assert rank[2] / rank[3] == pytest.approx(3 / 2)  # 1 + in-links
    deep = hostrank(graph, hosts, depth=[0, 0, 1, 0], decay=0.1)
    assert deep[2] / deep[3] == pytest.approx(0.3 / 2)
    assert domain_links(graph, hosts, inside=0.0).n_links == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"damping": 1.5}, "damping=1.5"),
        ({"solver": "powr"}, "power"),
        ({"solver": "gauss-seidel", "damping": 1.0}, "below 1"),
        ({"teleport": [1.0]}, "a weight for each of the 2 nodes"),
        ({"teleport": {"x": 1.0}}, "'x' is not a node"),
        ({"teleport": [0.0, 0.0]}, "at least one above 0"),
        ({"dangling": "x"}, "dangling='x'"),
    ],
)
def test_errors_name_the_argument(arguments, message):
    with pytest.raises(DataError, match=message):
        pagerank(LinkGraph.from_edges([("a", "b")]), **arguments)
