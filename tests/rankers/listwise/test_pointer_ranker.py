"""The policy that writes an order: probabilities, gradients, decoding, and data on which prefixes matter."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from plackett import DataError, PointerRanker, RankingDataset
from plackett.losses import ListMLE
from plackett.rankers.listwise.pointer_ranker import OrderLikelihood
from plackett.scorers.pointer import PointerScorer


def one_list(n=4, d=2, seed=0):
    rng = np.random.default_rng(seed)
    data = RankingDataset.from_arrays(rng.normal(size=(n, d)), rng.permutation(n), np.zeros(n))
    parameters = rng.normal(size=d + d * d)
    return data, OrderLikelihood(data, data.X.astype(float)), parameters


def test_probabilities_of_all_orders_sum_to_one():
    _, function, parameters = one_list(5)
    logs = [-function.evaluate(parameters, np.array(p), np.array([5]))[0] for p in permutations(range(5))]
    assert np.exp(logs).sum() == pytest.approx(1.0)


def test_gradient_of_the_likelihood():
    _, function, parameters = one_list(6, 3)
    order, length = np.array([2, 0, 5, 1, 4, 3]), np.array([4])
    _, gradient = function.evaluate(parameters, order, length)
    step = 1e-6
    numeric = [
        (
            function.evaluate(parameters + step * e, order, length)[0]
            - function.evaluate(parameters - step * e, order, length)[0]
        )
        / (2 * step)
        for e in np.eye(parameters.size)
    ]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-8)


def test_without_context_it_is_plackett_luce_and_sorting():
    data, function, parameters = one_list(6)
    parameters[2:] = 0.0
    order = np.argsort(-data.y)
    scores = data.X.astype(float) @ parameters[:2]
    assert function.evaluate(parameters, order, np.array([6]))[0] == pytest.approx(ListMLE()(scores, data))
    for beam in (1, 4):
        scorer = PointerScorer(parameters[:2], np.zeros((2, 2)), np.ones(2), beam)
        np.testing.assert_array_equal(np.argsort(-scorer.predict(data.X, data.offsets)), np.argsort(-scores))


def test_a_wide_beam_finds_the_most_probable_order():
    worse = 0
    for seed in range(30):
        data, function, parameters = one_list(4, seed=seed)
        parameters[2:] *= 3
        every = list(permutations(range(4)))
        logs = [-function.evaluate(parameters, np.array(p), np.array([4]))[0] for p in every]
        d = data.n_features

        def found(beam, parameters=parameters, data=data, d=d):
            scorer = PointerScorer(parameters[:d], parameters[d:].reshape(d, d), np.ones(d), beam)
            return tuple(np.argsort(-scorer.predict(data.X.astype(float), data.offsets)).tolist())

        assert logs[every.index(found(24))] == pytest.approx(max(logs))
        worse += logs[every.index(found(1))] < max(logs) - 1e-9
    assert worse > 0  # the greedy order is not always the most probable one


def test_policy_gradient_is_that_of_the_expected_measure():
    data, function, parameters = one_list(3)
    gains = 2.0**data.y - 1
    ideal = np.sort(gains)[::-1] @ (1 / np.log2([2, 3, 4]))

    def expected(parameters):
        total = 0.0
        for p in permutations(range(3)):
            log = -function.evaluate(parameters, np.array(p), np.array([3]))[0]
            total -= np.exp(log) * (gains[list(p)] @ (1 / np.log2([2, 3, 4]))) / ideal
        return total

    step = 1e-5
    exact = [(expected(parameters + step * e) - expected(parameters - step * e)) / (2 * step) for e in np.eye(6)]
    drawn = np.array([function.policy_gradient(parameters, gains, None, 50, 1000 * s) for s in range(60)])
    error = drawn.std(axis=0) / np.sqrt(60)
    assert (np.abs(drawn.mean(axis=0) - exact) < 4 * error + 1e-4).all()


def test_prefixes_matter_where_they_do():
    """Documents come in two kinds; after one kind the label order goes on with the other."""

    def alternating(seed, n_queries=60):
        rng = np.random.default_rng(seed)
        X, y = [], []
        for _ in range(n_queries):
            kinds, first = rng.permutation(np.repeat([1.0, -1.0], 4)), rng.choice([1.0, -1.0])
            lead = rng.integers(0, 8)
            kinds[lead], order = first, [lead]
            left = [i for i in range(8) if i != lead]
            while left:
                want = [i for i in left if kinds[i] != kinds[order[-1]]] or left
                order.append(want[0])
                left.remove(want[0])
            mark = np.zeros(8)
            mark[lead] = 1.0
            X.append(np.stack([kinds, mark], axis=1))
            label = np.empty(8)
            label[order] = np.arange(7, -1, -1)
            y.append(label)
        return RankingDataset.from_arrays(np.concatenate(X), np.concatenate(y), np.repeat(np.arange(n_queries), 8))

    train, test = alternating(0), alternating(1)
    pointer = PointerRanker(k=None, eval_measure="nDCG@3").fit(train)
    plain = PointerRanker(k=None, eval_measure="nDCG@3").fit(train)
    plain.scorer_ = PointerScorer(plain.scorer_.weights, np.zeros((2, 2)), plain.scorer_.scale, 1)
    assert pointer.score(test) > plain.score(test) + 0.02


def test_refusals():
    data, _, _ = one_list()
    for parameters, match in (
        ({"training": "reward"}, "training='reward'"),
        ({"beam": 0}, "beam=0"),
        ({"n_samples": 1}, "n_samples=1; give a whole number of 2 or more, or None"),
        ({"alpha": -1.0}, "alpha=-1"),
    ):
        with pytest.raises(DataError, match=match):
            PointerRanker(**parameters).fit(data)
