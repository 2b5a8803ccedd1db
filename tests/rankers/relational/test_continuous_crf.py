"""Continuous conditional random fields: the density, its gradient, its mode, and what they learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

import plackett as pk
from plackett import DataError, RankingDataset, Relation
from plackett.rankers.relational.continuous_crf import Likelihood
from plackett.testing.rankers import ranker_checks, small

from .planted import planted, sites


def lists(seed=0):
    rng = np.random.default_rng(seed)
    data = RankingDataset.from_arrays(
        None, rng.integers(0, 3, 9), np.repeat([0, 1, 2], [5, 1, 3]), query_weight=[1.0, 0.5, 2.0]
    )
    similar = Relation.from_pairs([(0, 3), (1, 2), (3, 4), (6, 8)], weight=[0.5, 1.0, 0.8, 0.3])
    other = Relation.from_pairs([(0, 1), (6, 7), (7, 8)])
    parents = Relation.from_pairs([(1, 0), (2, 0), (7, 6)])
    return data, rng.normal(size=(9, 2)), similar, other, parents


CASES = {
    "similar": lambda s, o, p: ([s], []),
    "parents": lambda s, o, p: ([], [p]),
    "both": lambda s, o, p: ([s], [p]),
    "several": lambda s, o, p: ([s, o], [p]),
}


def energy(y, x, alpha, beta, gamma, similar, parents, weight):
    """The exponent, as plain sums, by query weight."""
    total = 0.0
    for j in range(y.size):
        total -= weight[j] * sum(alpha[k] * (y[j] - x[j, k]) ** 2 for k in range(alpha.size))
    for b, relation in zip(beta, similar, strict=True):
        for u, v, s in zip(relation.row, relation.other, relation.weights, strict=True):
            # given once: half in both directions
            total -= weight[u] * b / 2 * s * (y[u] - y[v]) ** 2
    for g, relation in zip(gamma, parents, strict=True):
        for c, p, s in zip(relation.row, relation.other, relation.weights, strict=True):
            total += weight[c] * g * s * (y[p] - y[c])
    return total


@pytest.mark.parametrize("case", CASES)
def test_mean_density_and_gradient(case):
    data, x, *relations = lists()
    similar, parents = CASES[case](*relations)
    function = Likelihood(data, x, similar, parents)
    rng = np.random.default_rng(1)
    log = rng.normal(scale=0.5, size=2 + len(similar) + len(parents))
    alpha, beta, gamma = function.split(np.exp(log))
    mu = function.mean(x @ alpha, alpha, beta, gamma)
    ones = np.ones(9)
    mode = minimize(
        lambda y: -energy(y, x, alpha, beta, gamma, similar, parents, ones), np.zeros(9), options={"gtol": 1e-9}
    ).x
    np.testing.assert_allclose(mu, mode, atol=1e-5)
    # the density of each query is Gaussian with this mean and the precision 2A
    A = alpha.sum() * np.eye(9)
    for b, relation in zip(beta, similar, strict=True):
        w = relation.matrix(9).toarray()
        w = 0.5 * (w + w.T)
        A += b * (np.diag(w.sum(axis=1)) - w)
    expected = 0.0
    for q, weight in enumerate(data.query_weight):
        rows = slice(*data.offsets[q : q + 2])
        covariance = np.linalg.inv(2 * A[rows, rows])
        expected += weight * multivariate_normal(mu[rows], covariance).logpdf(data.y[rows])
    value, gradient = function.evaluate(log)
    assert value == pytest.approx(expected, rel=1e-10)
    step = 1e-6
    numeric = [
        (function.evaluate(log + step * e)[0] - function.evaluate(log - step * e)[0]) / (2 * step)
        for e in np.eye(log.size)
    ]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-6)


def test_eigenvalues_and_factors_agree():
    data, x, similar, _, _ = lists()
    function = Likelihood(data, x, [similar], [])
    for fast, slow in zip(
        function._traces(1.3, np.array([0.7])), function.dense_traces(1.3, np.array([0.7])), strict=True
    ):
        np.testing.assert_allclose(fast, slow, rtol=1e-10)


def test_weights_are_recovered_from_the_model():
    rng = np.random.default_rng(0)
    n_queries, m = 300, 8
    x = rng.normal(size=(n_queries * m, 2))
    row = np.arange(n_queries * m)
    relation = Relation(row, row // m * m + (row + 1) % m)
    data = RankingDataset.from_arrays(None, np.zeros(row.size), row // m)
    model = Likelihood(data, x, [relation], [])
    alpha, beta = np.array([1.0, 0.5]), 2.0
    mu = model.mean(x @ alpha, alpha, np.array([beta]), np.empty(0))
    ring = relation.matrix(row.size)[:m, :m].toarray()
    ring = 0.5 * (ring + ring.T)
    A = alpha.sum() * np.eye(m) + beta * (np.diag(ring.sum(axis=1)) - ring)
    noise = rng.multivariate_normal(np.zeros(m), np.linalg.inv(2 * A), n_queries)
    model.y = mu + noise.ravel()
    result = minimize(lambda log: tuple(-part for part in model.evaluate(log)), np.zeros(3), jac=True).x
    np.testing.assert_allclose(np.exp(result), [1.0, 0.5, 2.0], rtol=0.15)


def test_ranking_is_that_of_the_relational_function():
    data = planted(n_queries=12)
    crf = pk.ContinuousCRF(base="LinearRegression").fit(data)
    f = crf.scorer_.members[0].predict(data)
    ratio = float(crf.beta_[0] / crf.alpha_.sum())
    related = pk.RelationalFeedback(beta=ratio)._maker(ratio)(data).scores(f)
    np.testing.assert_allclose(crf.predict(data), related, rtol=1e-9)


def test_without_relations_it_is_the_ranker_inside():
    data = planted(n_queries=12)
    alone = pk.LinearRegression().fit(data)
    result = pk.ContinuousCRF(base="LinearRegression", similar=()).fit(data)
    np.testing.assert_array_equal(result.rank(data), alone.rank(data))


def test_the_default_learns_what_the_model_is_made_for():
    """Labels drawn from the density: as good as its true mean, which a regression without relations is not."""
    n_queries, m, alpha, beta = 60, 12, np.array([1.0, 0.6, 0.3]), 2.0
    row = np.arange(n_queries * m)
    relation = Relation(row, row // m * m + (row + 1) % m)
    ring = relation.matrix(row.size)[:m, :m].toarray()
    ring = 0.5 * (ring + ring.T)
    A = alpha.sum() * np.eye(m) + beta * (np.diag(ring.sum(axis=1)) - ring)

    def world(seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(row.size, 3))
        mu = np.linalg.solve(A, (X @ alpha).reshape(n_queries, m).T).T.ravel()
        y = mu + rng.multivariate_normal(np.zeros(m), np.linalg.inv(2 * A), n_queries).ravel()
        y -= y.min()  # labels below 0 are unjudged
        return RankingDataset.from_arrays(X, y, row // m, relations={"similarity": relation}), mu

    (train, _), (test, mu) = world(0), world(1)

    def tau(scores):
        return float(np.mean(pk.kendall_tau(scores, test.labels, test.query_of_row)))

    alone = tau(pk.LinearRegression().fit(train).predict(test))
    reached = tau(pk.ContinuousCRF().fit(train).predict(test))
    assert alone + 0.02 < reached
    assert reached > tau(mu) - 0.015


def test_it_gains_where_neighbours_carry_relevance():
    train, test = planted(0), planted(1)
    alone = pk.LinearRegression().fit(train).score(test)
    assert pk.ContinuousCRF().fit(train).score(test) > alone + 0.03
    train, test = sites(0), sites(1)
    alone = pk.LinearRegression().fit(train).score(test)
    assert pk.ContinuousCRF(similar=(), parents=("parent",)).fit(train).score(test) > alone + 0.05


def test_refusals_and_battery_with_trees():
    data = planted(n_queries=12)
    with pytest.raises(DataError, match="give a list of relations"):
        pk.ContinuousCRF(similar="similarity").fit(data)
    with pytest.raises(DataError, match="needs the relation 'similarity'"):
        pk.ContinuousCRF().fit(data.replace(relations=None))
    with pytest.raises(DataError, match="base="):
        pk.ContinuousCRF(base=[]).fit(data)


@pytest.mark.full
def test_battery_with_trees():
    trees = pk.MART(n_estimators=8, num_leaves=5, min_child_samples=1, n_jobs=1)
    for check in ranker_checks(small(pk.ContinuousCRF, base=trees)):
        if check.name != "query_weight":  # LightGBM bins features by counting rows
            check()
