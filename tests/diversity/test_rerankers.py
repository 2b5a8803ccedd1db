"""Re-rankers against brute force and plain loops."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import plackett as pk
from plackett import DataError, RankingDataset, Relation
from plackett.diversity import MMR, IASelect, MaxMin, MaxSum, MonoObjective, Repulsion, satisfaction
from plackett.diversity.named import find_reranker

ONE = {"k": None, "depth": None, "relevance": "none"}


def lists(seed, n_queries=5, size=9, dims=3, aspects=3):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rng.integers(1, size, n_queries))
    n = qid.size
    data = RankingDataset.from_arrays(np.abs(rng.normal(size=(n, dims))), None, qid)
    return data, rng.random(n), rng.random((n, aspects)) * (rng.random((n, aspects)) < 0.6), rng


def similarities(data):
    X = data.X / np.linalg.norm(data.X, axis=1, keepdims=True)
    return np.clip(X @ X.T, 0.0, 1.0).astype(np.float64)


def blocks(data):
    return [np.arange(a, b) for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)]


def test_ia_select_worked_example():
    aspects, weight = np.array([[0.9, 0], [0.8, 0], [0, 0.5], [0.3, 0.3]]), [0.6, 0.4]
    data = RankingDataset.from_arrays(None, None, qid=np.ones(4))
    order = IASelect(relevance="none").order(data, [4, 3, 2, 1], aspects=aspects, aspect_weight=[weight])
    assert order.tolist()[:3] == [0, 2, 3]
    np.testing.assert_allclose(satisfaction(aspects[order[:3]], weight), [0.54, 0.74, 0.818], atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_ia_select_is_the_greedy_choice_and_near_the_optimum(seed):
    data, scores, aspects, rng = lists(seed, size=10)
    weight = rng.dirichlet(np.ones(3), data.n_queries)
    for k in (1, 3, None):
        method = IASelect(k=k, depth=None, relevance="none")
        order = method.order(data, scores, aspects=aspects, aspect_weight=weight)
        for q, rows in enumerate(blocks(data)):
            size = rows.size if k is None else min(k, rows.size)
            left, pool, expected = weight[q].copy(), rows[np.lexsort((-scores[rows],))].tolist(), []
            for _ in range(size):
                best = max(pool, key=lambda row: (round(float(left @ aspects[row]), 12), -pool.index(row)))
                expected.append(best)
                left = left * (1 - aspects[best])
                pool.remove(best)
            got = order[data.offsets[q] : data.offsets[q + 1]]
            assert got[:size].tolist() == expected
            assert got[size:].tolist() == pool  # the others keep their order
            gains = np.diff(satisfaction(aspects[got[:size]], weight[q]), prepend=0.0)
            assert (np.diff(gains) <= 1e-12).all()
            best = max(satisfaction(aspects[list(s)], weight[q])[-1] for s in combinations(rows, size))
            assert satisfaction(aspects[got[:size]], weight[q])[-1] >= (1 - 1 / np.e) * best - 1e-12


def test_ia_select_is_optimal_for_documents_of_one_aspect():
    rng = np.random.default_rng(3)
    aspects = np.zeros((8, 3))
    aspects[np.arange(8), rng.integers(0, 3, 8)] = rng.random(8)
    weight = rng.dirichlet(np.ones(3))
    data = RankingDataset.from_arrays(None, None, qid=np.ones(8))
    method = IASelect(k=4, relevance="none")
    order = method.order(data, rng.random(8), aspects=aspects, aspect_weight=[weight])
    best = max(satisfaction(aspects[list(s)], weight)[-1] for s in combinations(range(8), 4))
    assert satisfaction(aspects[order[:4]], weight)[-1] == pytest.approx(best, abs=1e-12)


def test_satisfaction_is_a_probability_monotone_and_submodular():
    rng = np.random.default_rng(0)
    aspects, weight = rng.random((6, 3)), rng.dirichlet(np.ones(3))
    meant = rng.choice(3, 200_000, p=weight)
    pleased = (rng.random((200_000, 6)) < aspects[:, meant].T).any(axis=1).mean()
    assert satisfaction(aspects, weight)[-1] == pytest.approx(pleased, abs=0.005)

    def value(members):
        return satisfaction(aspects[list(members)], weight)[-1] if members else 0.0

    for _ in range(100):
        small = set(rng.permutation(6)[: rng.integers(0, 4)].tolist())
        large = small | set(rng.permutation(6)[: rng.integers(0, 3)].tolist())
        added = int(rng.integers(6))
        if added not in large:
            gain_small = value(small | {added}) - value(small)
            gain_large = value(large | {added}) - value(large)
            assert gain_small >= gain_large - 1e-12 >= -2e-12


@pytest.mark.parametrize("by", ["vectors", "relation"])
def test_mmr_is_the_plain_loop(by):
    data, scores, _, _ = lists(1, size=12)
    near = similarities(data)
    same_query = data.query_of_row[:, None] == data.query_of_row
    similarity = None if by == "vectors" else Relation.from_matrix(near * same_query)
    order = MMR(trade_off=0.4, **ONE).order(data, scores, similarity=similarity)
    expected = []
    for rows in blocks(data):
        pool, chosen = rows.tolist(), []
        while pool:
            novelty = {row: max((near[row, s] for s in chosen), default=0.0) for row in pool}
            chosen.append(max(pool, key=lambda row: 0.4 * scores[row] - 0.6 * novelty[row]))
            pool.remove(chosen[-1])
        expected += chosen
    assert order.tolist() == expected


def test_neutral_settings_keep_the_order_of_the_scores():
    data, scores, _, _ = lists(2)
    plain = np.lexsort((-scores, data.query_of_row))
    for method in (
        MMR(trade_off=1.0, **ONE),
        MonoObjective(trade_off=1.0, **ONE),
        MaxSum(trade_off=1.0, **ONE | {"k": 3}),
        MaxMin(trade_off=1.0, **ONE),
        Repulsion(strength=0.0, **ONE),
    ):
        np.testing.assert_array_equal(method.order(data, scores), plain, err_msg=type(method).__name__)


def test_trade_off_is_the_weight_of_relevance_in_every_method():
    """λ f and (1 − λ) d, as in MMR: the objectives are linear in it, and 0 looks at distances alone."""
    rng = np.random.default_rng(0)
    f, d = rng.random(4), rng.random((4, 4))
    for value in (MaxSum.value, MaxMin.value, MaxMin.surrogate):
        if value is not MaxMin.surrogate:
            assert value(f, d, 1.0) == value(f, 0 * d, 1.0) == pytest.approx(value(f, 0 * d, 0.5) * 2)
            assert value(f, d, 0.25) == pytest.approx(0.25 * value(f, d, 1.0) + 0.75 * value(f, d, 0.0))
        assert value(f, d, 0.0) == value(0 * f, d, 0.0)
    data, scores, _, _ = lists(2, size=12)
    for method in (MonoObjective, MaxSum, MaxMin):
        by_distance = method(trade_off=0.0, **ONE | {"k": 2})
        one, other = (by_distance.order(data, each) for each in (scores, rng.random(data.n_rows)))
        assert all(set(one[rows[:2]]) == set(other[rows[:2]]) for rows in blocks(data))
    for method in (MMR, MonoObjective, MaxSum, MaxMin):
        with pytest.raises(DataError, match="trade_off=-0.1; give a number from 0"):
            method(trade_off=-0.1).order(data, scores)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_sets_are_near_the_optimum(k):
    rng = np.random.default_rng(k)
    for _ in range(20):
        # distances of the plane are a metric; they enter as a relation
        points, scores = rng.random((8, 2)), rng.random(8)
        d = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2)) / np.sqrt(2.0)
        data = RankingDataset.from_arrays(
            None, None, qid=np.ones(8), relations={"similarity": (1 - d) * (1 - np.eye(8))}
        )
        settings = {"k": k, "depth": None, "relevance": "none", "trade_off": 0.4}

        def best(value, k=k, scores=scores, d=d):
            return max(value(scores[list(s)], d[np.ix_(s, s)], 0.4) for s in combinations(range(8), k))

        chosen = MaxSum(**settings).order(data, scores)[:k]
        assert (np.diff(scores[chosen]) <= 0).all()  # the set is shown by relevance
        assert MaxSum.value(scores[chosen], d[np.ix_(chosen, chosen)], 0.4) >= 0.5 * best(MaxSum.value) - 1e-12
        chosen = MaxMin(**settings).order(data, scores)[:k]
        reached = MaxMin.surrogate(scores[chosen], d[np.ix_(chosen, chosen)], 0.4)
        assert reached >= 0.5 * best(MaxMin.surrogate) - 1e-12
        exact = MaxMin.best(scores, d, k, 0.4)
        assert MaxMin.value(scores[exact], d[np.ix_(exact, exact)], 0.4) == pytest.approx(best(MaxMin.value))
        value = 0.4 * scores + 0.6 * d.sum(axis=1) / 7
        assert MonoObjective(**settings).order(data, scores)[:k].tolist() == np.argsort(-value)[:k].tolist()


def test_max_sum_is_a_sum_over_pairs():
    rng = np.random.default_rng(0)
    f, d = rng.random(5), rng.random((5, 5))
    d = d + d.T
    pairs = sum(0.3 * (f[u] + f[v]) + 2 * 0.7 * d[u, v] for u, v in combinations(range(5), 2))
    assert MaxSum.value(f, d, 0.3) == pytest.approx(pairs, rel=1e-12)


def test_repulsion_solves_its_equation():
    data, scores, _, _ = lists(4, n_queries=1, size=12)
    n = data.n_rows
    near = similarities(data) * (1 - np.eye(n))
    laplacian = np.diag(near.sum(axis=1)) - near
    beta = 0.6 / np.linalg.eigvalsh(laplacian)[-1]
    z = np.linalg.inv(np.eye(n) - beta * laplacian) @ scores
    assert Repulsion(strength=0.6, **ONE).order(data, scores).tolist() == np.argsort(-z).tolist()
    with pytest.raises(DataError, match="strength=1.0; give a number from 0 to below 1"):
        Repulsion(strength=1.0).order(data, scores)


def test_candidates_choices_and_scores():
    data, scores, _, _ = lists(5, size=12)
    plain = np.lexsort((-scores, data.query_of_row))
    order = MMR(k=2, depth=4, trade_off=0.1).order(data, scores)
    for rows, old in ((order[b], plain[b]) for b in blocks(data)):
        assert sorted(rows[:4]) == sorted(old[:4])  # only the candidates move
        assert rows[0] == old[0]
        assert rows[4:].tolist() == old[4:].tolist()
        left = [row for row in old[:4] if row not in rows[:2]]
        assert rows[2:4].tolist() == left
    new = MMR(k=2, depth=4, trade_off=0.1).rerank(data, scores)
    np.testing.assert_array_equal(np.lexsort((-new, data.query_of_row)), order)
    # queries do not depend on each other, nor on threads
    alone = MMR(k=2, depth=4, trade_off=0.1).rerank(data.select([1]), scores[blocks(data)[1]], n_jobs=2)
    np.testing.assert_array_equal(alone, new[blocks(data)[1]])


def test_diversity_rises_where_there_is_something_to_gain():
    """Half of the documents serve the first aspect and score higher: diversified lists serve both."""
    rng = np.random.default_rng(0)
    first = np.tile([1, 0], 600)
    data = RankingDataset.from_arrays(
        np.stack([first, 1 - first], axis=1) + 0.05 * rng.random((1200, 2)),
        np.ones(1200),
        np.repeat(np.arange(20), 60),
        subtopics=np.stack([first, 1 - first], axis=1),
    )
    scores = 0.5 * first + 0.5 * rng.random(1200)
    before = pk.evaluate(data, scores, "alpha_nDCG@10").mean["alpha_nDCG@10"]
    for method in (MMR(trade_off=0.3), MaxSum(k=10, trade_off=0.2), MaxMin(k=10, trade_off=0.2), IASelect()):
        given = {"aspects": data.X[:, :2].clip(0, 1)} if method.needs_aspects else {}
        after = pk.evaluate(data, method.rerank(data, scores, **given), "alpha_nDCG@10").mean["alpha_nDCG@10"]
        assert after > before + 0.1, type(method).__name__


@pytest.mark.parametrize(
    ("method", "given", "message"),
    [
        (MMR(), {"scores": [1.0]}, "scores have shape"),
        (MMR(), {"scores": [np.nan] * 3}, "is NaN"),
        (MMR(), {"scores": [0.0, np.inf, 1.0]}, "scores must be finite"),
        (MMR(k=0), {}, "k=0; give a whole number of 1 or more, or None"),
        (MMR(depth=-1), {}, "depth=-1"),
        (MMR(trade_off=1.5), {}, "trade_off=1.5"),
        (MMR(relevance="rank"), {}, "relevance='rank'; give one of 'minmax'"),
        (MMR(), {"similarity": "cosine"}, "'cosine': the dataset has no such relation; it has no relations"),
        (MMR(), {"similarity": np.ones((2, 1))}, "similarity has shape"),
        (MMR(), {"similarity": Relation([0], [1], [3.0])}, "similarities must be from 0 to 1"),
        (MMR(), {"aspects": [[1.0]]}, "MMR does not use aspects"),
        (IASelect(), {}, "aspects are needed"),
        (IASelect(), {"aspects": np.full((3, 2), 2.0)}, "aspects must be from 0 to 1"),
        (IASelect(), {"aspects": np.ones((3, 2)), "aspect_weight": [[1.0]]}, "aspect_weight has 1 aspects"),
        (IASelect(), {"aspects": np.ones((3, 2)), "similarity": "x"}, "IASelect does not use a similarity"),
    ],
)
def test_bad_input_is_refused(method, given, message):
    data = RankingDataset.from_arrays([[1.0], [2.0], [3.0]], None, qid=[1, 1, 1])
    with pytest.raises(DataError, match=message):
        method.order(data, given.pop("scores", [1.0, 2.0, 3.0]), **given)


def test_names():
    assert find_reranker("ia-select", k=3) == IASelect(k=3)
    assert set(pk.diversity()) >= {"MMR", "IASelect", "MaxSum", "MaxMin", "MonoObjective", "Repulsion"}
    with pytest.raises(DataError, match="MMR has no parameter 'tradeoff'; did you mean trade_off"):
        find_reranker("MMR", tradeoff=0.5)


def test_one_direction_of_a_similarity_is_enough():
    for pair in ((0, 1), (1, 0)):
        data = RankingDataset.from_arrays(
            None, None, qid=[1, 1, 1], relations={"similarity": Relation.from_pairs([pair])}
        )
        for method in (MMR(trade_off=0.5), MaxSum(k=2), MaxMin(k=2), Repulsion(strength=0.95)):
            assert method.order(data, [3.0, 2.9, 2.0]).tolist() == [0, 2, 1], (pair, method.name)
