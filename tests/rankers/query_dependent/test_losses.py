"""Losses that depend on the query: by hand, by enumeration, by finite differences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import approx_fprime, check_grad, minimize

import plackett as pk
from plackett import DataError
from plackett.losses import ListMLELoss, Logistic, Square
from plackett.rankers.query_dependent._losses import MixedLoss, TopLoss, in_the_top
from plackett.rankers.query_dependent.affine_regression import affine_step
from plackett.rankers.query_dependent.intent_ranker import gate_objective


def lists(seed=0, sizes=(5, 4, 6)):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    y = rng.integers(-1, 3, qid.size).astype(float)
    return pk.RankingDataset.from_arrays(rng.normal(size=(qid.size, 3)), y, qid), rng.normal(size=qid.size)


def test_mixture_is_linear_in_the_probabilities():
    data, scores = lists()
    shares = np.array([[0.3, 0.7], [1.0, 0.0], [0.0, 1.0]], np.float32)
    losses = Logistic(), ListMLELoss()
    mixed = MixedLoss(losses=losses)
    given = data.replace(query_features=shares)
    alone = [loss.bind(data).evaluate(scores)[0] for loss in losses]
    expected = (shares * np.stack(alone, axis=1)).sum()
    assert mixed(scores, given) == pytest.approx(expected, rel=1e-6)
    slope = approx_fprime(scores, lambda s: mixed(s, given), 1e-6)
    np.testing.assert_allclose(mixed.gradient(scores, given)[0], slope, atol=1e-4)


def test_one_loss_is_the_gradient_ranker_and_probabilities_are_checked():
    data, _ = lists()
    one = pk.CategoryMixture(losses=("Logistic",)).fit(data)
    np.testing.assert_array_equal(one.coef_, pk.GradientRanker(loss="Logistic").fit(data).coef_)
    first = data.replace(query_features=np.array([[1, 0]] * 3, np.float32))
    np.testing.assert_allclose(
        pk.CategoryMixture(losses=("Logistic", "ListNet")).fit(first).coef_, one.coef_, rtol=1e-6, atol=1e-9
    )
    with pytest.raises(DataError, match="3 columns, but there are 2 losses"):
        pk.CategoryMixture().fit(data.replace(query_features=np.ones((3, 3), np.float32)))
    with pytest.raises(DataError, match="not negative and sum to 1"):
        pk.CategoryMixture().fit(data.replace(query_features=np.ones((3, 2), np.float32)))


@pytest.mark.parametrize("k", [1, 2, 3, 10])
def test_documents_in_the_top_of_some_ideal_order(k):
    data, _ = lists(3)
    result = in_the_top(data, k)
    for q in range(data.n_queries):
        rows = np.arange(data.offsets[q], data.offsets[q + 1])
        judged = rows[data.y[rows] >= 0]
        reached = set()
        for order in itertools.permutations(judged):
            if (np.diff(data.y[list(order)]) <= 0).all():
                reached |= set(order[:k])
        assert set(rows[result[rows]]) == reached


@pytest.mark.parametrize("k", [1, 2, 4])
def test_top_losses_against_loops(k):
    data, scores = lists(1)
    top = in_the_top(data, k)
    expected_pairs = expected_graded = expected_documents = 0.0
    for q in range(data.n_queries):
        rows = range(data.offsets[q], data.offsets[q + 1])
        pairs = [(u, v) for u in rows for v in rows if data.y[u] > data.y[v] >= 0 and (top[u] or top[v])]
        terms = [np.log1p(np.exp(-(scores[u] - scores[v]))) for u, v in pairs]
        expected_pairs += np.mean(terms) if terms else 0.0
        expected_graded += np.average(terms, weights=[data.y[u] - data.y[v] for u, v in pairs]) if terms else 0.0
        errors = [0.5 * (scores[u] - data.y[u]) ** 2 for u in rows if top[u]]
        expected_documents += np.mean(errors) if errors else 0.0
    assert TopLoss(loss=Logistic(), k=k)(scores, data) == pytest.approx(expected_pairs)
    assert TopLoss(loss=Logistic(graded=True), k=k)(scores, data) == pytest.approx(expected_graded)
    assert TopLoss(loss=Square(), k=k)(scores, data) == pytest.approx(expected_documents)
    for loss in (Logistic(), Square(), ListMLELoss()):
        limited = TopLoss(loss=loss, k=k)
        slope = approx_fprime(scores, lambda s, limited=limited: limited(s, data), 1e-6)
        np.testing.assert_allclose(limited.gradient(scores, data)[0], slope, atol=1e-4)


def test_the_first_stage_and_the_whole_list():
    data = pk.RankingDataset.from_arrays(None, [0, 2, 1], qid=[1, 1, 1])
    scores = np.array([0.3, -0.1, 0.8])
    softmax = np.exp(scores) / np.exp(scores).sum()
    assert TopLoss(loss=ListMLELoss(), k=1)(scores, data) == pytest.approx(-np.log(softmax[1]))
    whole = TopLoss(loss=Logistic(), k=3)(scores, data)
    assert whole == pytest.approx(Logistic(normalize=True)(scores, data))
    data, _ = lists()
    base = pk.GradientRanker(loss=Logistic(normalize=True)).fit(data).coef_
    np.testing.assert_allclose(pk.IntentRanker(k=100, intent=1.0).fit(data).coef_, base, rtol=1e-3, atol=1e-5)


def test_gradient_of_the_gate_and_falling_objective():
    rng = np.random.default_rng(0)
    z, losses, weight = rng.normal(size=(9, 3)), rng.uniform(size=(9, 2)), rng.uniform(1, 2, 9)
    arguments = z, losses, weight, 0.3, 0.7
    for gate in rng.normal(size=(4, 3)):
        off = check_grad(lambda g: gate_objective(g, *arguments)[0], lambda g: gate_objective(g, *arguments)[1], gate)
        assert off < 1e-6
    held = minimize(gate_objective, np.zeros(3), args=(z, losses, weight, 0.3, 1e6), jac=True).x
    free = minimize(gate_objective, np.zeros(3), args=(z, losses, weight, 0.3, 1e-3), jac=True).x
    assert np.abs(free).max() > np.abs(held).max()


def test_learned_intents_follow_planted_ones():
    """Queries with one perfect document among noise are fitted at the first place; α follows their feature."""
    rng = np.random.default_rng(0)
    n, m = 80, 8
    kind = rng.integers(0, 2, n)
    X = rng.normal(size=(n * m, 2))
    rows = np.repeat(kind, m)
    y = np.where(rows == 1, np.digitize(X[:, 0], [-0.5, 0.5]), rng.integers(0, 2, n * m)).astype(float)
    best = np.arange(n) * m
    y[best[kind == 0]], X[best[kind == 0], 0] = 3.0, 4.0  # the homepage is easy, the rest of its list is noise
    z = (kind + 0.1 * rng.normal(size=n))[:, None]
    data = pk.RankingDataset.from_arrays(X, y, np.repeat(np.arange(n), m), query_features=z)
    ranker = pk.IntentRanker(k=8, prior_strength=0.2).fit(data)
    assert ranker.gate_[0] > 0.3  # informational where the feature is large
    assert ranker.losses_[-1] <= ranker.losses_[0] + 1e-6
    with pytest.raises(DataError, match="needs query_features"):
        pk.IntentRanker(intent="given").fit(data.replace(query_features=None))
    with pytest.raises(DataError, match="from 0 to 1"):
        pk.IntentRanker(intent=1.5).fit(data)


def test_scale_and_level_minimise_the_squares():
    data, f = lists(2)
    data = data.replace(sample_weight=np.random.default_rng(0).uniform(0.5, 2, data.n_rows))
    scale, level = affine_step(data, f, 0.7, 0.2)
    for q in range(data.n_queries):
        rows = slice(data.offsets[q], data.offsets[q + 1])
        y, s, w = data.y[rows], f[rows], data.sample_weight[rows] * (data.y[rows] >= 0)

        def value(v, y=y, s=s, w=w):
            return w @ (y - v[1] - v[0] * s) ** 2 + 0.2 * v[1] ** 2 + 0.7 * (v[0] - 1.0) ** 2

        best = minimize(value, [1.0, 0.0], tol=1e-12, bounds=[(1e-3, None), (None, None)]).x
        np.testing.assert_allclose([scale[q], level[q]], best, rtol=1e-3, atol=1e-4)


def test_recovers_the_order_under_scales_and_levels():
    rng = np.random.default_rng(0)
    n, m, w = 60, 10, np.array([1.0, -0.5, 0.3, 0.0])

    def draw(n, affine):
        X = rng.normal(size=(n * m, 4)) + rng.normal(size=(n, 4)).repeat(m, axis=0)
        s = X @ w
        a, b = rng.uniform(0.2, 3.0, n), rng.uniform(-8.0, 8.0, n)
        y = a.repeat(m) * s + b.repeat(m) if affine else s
        return pk.RankingDataset.from_arrays(X, y - y.min(), np.repeat(np.arange(n), m))

    train, test = draw(n, True), draw(n, False)
    ranker = pk.AffineRegression(alpha_penalty=1.0, beta_penalty=0.01).fit(train)
    assert (np.diff(ranker.losses_) < 0).all()

    def cosine(result):
        return result.coef_ @ w / np.linalg.norm(result.coef_) / np.linalg.norm(w)

    plain = pk.LinearRegression().fit(train)
    assert cosine(ranker.member_) > 0.995 > cosine(plain)
    for neutral in ({"n_sweeps": 0}, {"alpha_penalty": np.inf, "beta_penalty": np.inf}):
        same = pk.AffineRegression(**neutral).fit(train)
        np.testing.assert_array_equal(same.predict(test), plain.predict(test))
    with pytest.raises(DataError, match="is not a regression"):
        pk.AffineRegression(base="RankSVM").fit(train)
