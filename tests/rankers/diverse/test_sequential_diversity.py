"""The sequential model: its likelihood, its special cases, and what it learns."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett import DataError, RankingDataset, Relation
from plackett.data.some_rows import some_rows
from plackett.losses import ListMLE
from plackett.rankers.diverse.sequential_diversity import PrefixLikelihood, ideal_orders
from plackett.testing.rankers import ranker_checks, small


def planted(seed=0, n_queries=40, n_docs=16):
    """Relevant documents of three meanings, one of them preferred by the features; documents of a meaning are alike."""
    rng = np.random.default_rng(seed)
    n = n_queries * n_docs
    meaning, relevant = rng.integers(0, 3, n), rng.random(n) < 0.6
    subtopics = np.eye(3)[meaning] * relevant[:, None]
    X = np.stack([relevant + 0.6 * (meaning == 0) + 0.5 * rng.normal(size=n), rng.normal(size=n)], axis=1)
    qid = np.repeat(np.arange(n_queries), n_docs)
    row, other = np.nonzero((qid[:, None] == qid) & (meaning[:, None] == meaning) & ~np.eye(n, dtype=bool))
    alike = Relation(row, other, np.full(row.size, 0.8))
    return RankingDataset.from_arrays(
        X, relevant.astype(float), qid, subtopics=subtopics, relations={"similarity": alike}
    )


def test_the_ideal_order_gains_most():
    data = planted(n_queries=6)
    order, length = ideal_orders(data, None, 0.5)
    scores = np.empty(data.n_rows)
    for first, last, n in zip(data.offsets[:-1], data.offsets[1:], length, strict=True):
        rest = np.setdiff1d(np.arange(first, last), order[first : first + n])
        scores[np.concatenate([order[first : first + n], rest])] = np.arange(last - first, 0, -1)
        assert not data.subtopics[rest].any()
    assert pk.evaluate(data, scores, "alpha_nDCG").mean["alpha_nDCG"] == pytest.approx(1.0)


def naive(data, x, similar, order, length, weights):
    """Negative log likelihood by the formula."""
    own, novelty, total = weights[:-2], weights[-2:], 0.0
    for q in range(data.n_queries):
        first, last = data.offsets[q : q + 2]
        chosen, left = [], list(range(first, last))
        for position in range(length[q]):
            sims = [[similar[d, s] for s in chosen] or [0.0] for d in left]
            g = np.array(
                [x[d] @ own + novelty[0] * max(s) + novelty[1] * np.mean(s) for d, s in zip(left, sims, strict=True)]
            )
            at = left.index(order[first + position])
            total -= g[at] - np.log(np.exp(g).sum())
            chosen.append(left.pop(at))
    return total


def test_likelihood_and_gradient():
    data = planted(n_queries=4, n_docs=8)
    ranker = pk.SequentialDiversity()
    orders = ideal_orders(data, 5, 0.5)
    function = PrefixLikelihood(data, data.X.astype(float), ranker._near(data), *orders)
    weights = np.array([0.7, -0.3, -1.2, 0.4])
    value, gradient = function.evaluate(weights)
    similar = data.relations["similarity"].matrix(data.n_rows).toarray()
    assert value == pytest.approx(naive(data, data.X.astype(float), similar, *orders, weights))
    step = 1e-6
    numeric = [
        (function.evaluate(weights + step * e)[0] - function.evaluate(weights - step * e)[0]) / (2 * step)
        for e in np.eye(4)
    ]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-7)


def test_without_novelty_it_is_listmle():
    rng = np.random.default_rng(0)
    data = RankingDataset.from_arrays(rng.normal(size=(18, 2)), np.tile(rng.permutation(6), 3), np.repeat([0, 1, 2], 6))
    order, length = ideal_orders(data, None, 0.5)
    near = (np.zeros(19, np.int64), np.empty(0, np.int64), np.empty(0))
    weights = np.array([0.5, -1.0, 0.0, 0.0])
    value, _ = PrefixLikelihood(data, data.X.astype(float), near, order, length).evaluate(weights)
    assert value == pytest.approx(ListMLE()(data.X.astype(float) @ weights[:2], data))


@pytest.mark.parametrize("base", [None, "LambdaMART(n_estimators=10)"])
def test_it_learns_that_repetition_is_unwelcome(base):
    train, test = planted(0), planted(1)
    ranker = pk.SequentialDiversity(base=base, eval_measure="alpha_nDCG@10").fit(train)
    assert ranker.novelty_[0] < 0 or ranker.novelty_[1] < 0
    alone = pk.ListMLE(eval_measure="alpha_nDCG@10").fit(train)
    assert ranker.score(test) > alone.score(test) + 0.03


def test_decoding_is_greedy():
    data = planted(n_queries=3)
    ranker = pk.SequentialDiversity().fit(data)
    relevance = ranker.scorer_.members[0].predict(data)
    similar = data.relations["similarity"].matrix(data.n_rows).toarray()
    positions = ranker.rank(data)
    for first, last in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        chosen, left = [], list(range(first, last))
        while left:
            sims = [[similar[d, s] for s in chosen] or [0.0] for d in left]
            g = [relevance[d] + ranker.novelty_ @ [max(s), np.mean(s)] for d, s in zip(left, sims, strict=True)]
            chosen.append(left.pop(int(np.argmax(np.round(g, 9)))))
        assert positions[chosen].tolist() == list(range(1, last - first + 1))


def test_refusals():
    data = planted(n_queries=3)
    with pytest.raises(DataError, match="k=0"):
        pk.SequentialDiversity(k=0).fit(data)
    with pytest.raises(DataError, match="needs the relation 'similarity'"):
        pk.SequentialDiversity().fit(data.replace(relations=None))
    wide = data.replace(relations={"similarity": Relation.from_pairs([(0, 1)], weight=[2.0])})
    with pytest.raises(DataError, match="from 0 to 1"):
        pk.SequentialDiversity().fit(wide)


@pytest.mark.full
def test_battery_with_trees():
    trees = pk.MART(n_estimators=8, num_leaves=5, min_child_samples=1, n_jobs=1)
    for check in ranker_checks(small(pk.SequentialDiversity, base=trees)):
        # bins count rows; an interrupt ends the trees; trees tie, and validation data have their rows in another order
        if check.name not in ("query_weight", "interrupt", "eval_set", "parameters_count"):
            check()


def test_documents_of_weight_0_have_no_place_in_the_ideal_order():
    rng = np.random.default_rng(0)
    qid, table = np.repeat(np.arange(6), 7), rng.integers(0, 2, (42, 3))
    data = pk.RankingDataset.from_arrays(rng.normal(size=(42, 2)), table.max(axis=1), qid, subtopics=table)
    data = data.replace(relations={"similarity": pk.Neighbours(k=3, scale="none")(data, rng.random((42, 4)))})
    counted = np.arange(42) % 4 > 0
    weighted, fewer = data.replace(sample_weight=counted.astype(float)), some_rows(data, np.flatnonzero(counted))
    values = []
    for lists in (weighted, fewer):
        near = pk.SequentialDiversity()._near(lists)
        likelihood = PrefixLikelihood(lists, lists.X.astype(float), near, *ideal_orders(lists, None, 0.5))
        values.append(np.append(*likelihood.evaluate(np.array([0.3, -0.2, -0.5, 0.7]))))
    np.testing.assert_allclose(values[0], values[1], rtol=1e-12)


def test_a_fractional_number_of_places_is_refused():
    with pytest.raises(pk.DataError, match=r"k=2\.5"):
        pk.SequentialDiversity(relation=pk.Neighbours(k=1), k=2.5).fit([[0.0], [1.0]], [0, 1], qid=[1, 1])


def test_the_default_number_of_iterations_is_enough():
    """The likelihood is convex: a search ten times as long and as exact as it goes ends at the same weights."""
    data = planted()
    ranker, longer = (pk.SequentialDiversity(**more).fit(data) for more in ({}, {"max_iter": 2000, "tol": 1e-14}))
    np.testing.assert_allclose(ranker.novelty_, longer.novelty_, rtol=2e-3)
    assert ranker.rank(data).tolist() == longer.rank(data).tolist()
