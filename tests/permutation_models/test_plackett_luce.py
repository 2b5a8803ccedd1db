"""Plackett–Luce: against enumeration of all orders, closed forms, and a general optimiser."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import logsumexp

from plackett._base.errors import DataError
from plackett.permutation_models._orders import as_orders
from plackett.permutation_models.plackett_luce import PlackettLuce, _Likelihood


def naive_log_prob(log_v, order, among):
    rest = list(among)
    total = 0.0
    for item in order:
        total += log_v[item] - logsumexp([log_v[j] for j in rest])
        rest.remove(item)
    return total


@pytest.mark.parametrize("transform", ["exp", "linear", "sigmoid"])
def test_probabilities(transform):
    rng = np.random.default_rng(0)
    scores = rng.uniform(0.1, 3, 6)
    model = PlackettLuce(scores, transform=transform)
    orders = np.array(list(permutations(range(6))))
    result = model.log_prob(orders)
    np.testing.assert_allclose(np.exp(result).sum(), 1.0)
    strength = {"exp": np.exp(scores), "linear": scores, "sigmoid": 1 / (1 + np.exp(-scores))}[transform]
    for t in (0, 100, 719):
        np.testing.assert_allclose(result[t], naive_log_prob(np.log(strength), orders[t], range(6)))
    assert orders[result.argmax()].tolist() == model.mode().tolist()
    p = np.exp(result)
    for item in range(6):
        np.testing.assert_allclose(p[orders[:, 0] == item].sum(), strength[item] / strength.sum())
        np.testing.assert_allclose(model.top_one()[item], strength[item] / strength.sum())
    above = np.argsort(orders, axis=1)
    np.testing.assert_allclose(p[above[:, 2] < above[:, 4]].sum(), strength[2] / (strength[2] + strength[4]))
    np.testing.assert_allclose(model.pair_probability(2, 4), strength[2] / (strength[2] + strength[4]))
    top = [list(order) for order in permutations(range(6), 2)]
    np.testing.assert_allclose(np.exp(model.log_prob(top)).sum(), 1.0)
    np.testing.assert_allclose(
        np.exp(model.log_prob([[3, 1]])), p[(orders[:, 0] == 3) & (orders[:, 1] == 1)].sum(), rtol=1e-12
    )
    listed = model.log_prob([[3, 1, 5]], among="listed")
    np.testing.assert_allclose(listed, naive_log_prob(np.log(strength), [3, 1, 5], [1, 3, 5]))


def test_invariance():
    scores = np.array([0.5, 2.0, 1.0, 0.1])
    order = [[2, 0, 3, 1]]
    exp, linear = PlackettLuce(scores), PlackettLuce(scores, transform="linear")
    np.testing.assert_allclose(PlackettLuce(scores + 700).log_prob(order), exp.log_prob(order))
    np.testing.assert_allclose(PlackettLuce(scores * 3, transform="linear").log_prob(order), linear.log_prob(order))
    assert abs(PlackettLuce(scores * 3).log_prob(order) - exp.log_prob(order)) > 0.1
    assert abs(PlackettLuce(scores + 3, transform="linear").log_prob(order) - linear.log_prob(order)) > 0.1


def test_sampling():
    model = PlackettLuce([1.0, 0.0, -0.5, 0.3])
    drawn = model.sample(40_000, random_state=1)
    np.testing.assert_array_equal(drawn, model.sample(40_000, random_state=1))
    orders = np.array(list(permutations(range(4))))
    shares = [(drawn == order).all(axis=1).mean() for order in orders]
    np.testing.assert_allclose(shares, np.exp(model.log_prob(orders)), atol=0.01)
    assert model.sample(5, k=2, random_state=0).shape == (5, 2)


def objective(orders, among, weights, prior=(1.0, 0.0)):
    def f(s):
        value = -sum(
            w * naive_log_prob(s, o, range(s.size) if among == "all" else o)
            for o, w in zip(orders, weights, strict=True)
        )
        return value - ((prior[0] - 1) * s - prior[1] * np.exp(s)).sum()

    return f


@pytest.mark.parametrize("among", ["all", "listed"])
def test_fit_is_the_maximum(among):
    rng = np.random.default_rng(3)
    orders = [rng.permutation(5)[: rng.integers(2, 6)].tolist() for _ in range(30)]
    weights = rng.uniform(0.5, 2, 30)
    result = PlackettLuce.fit(orders, n_items=5, among=among, weights=weights)
    best = minimize(objective(orders, among, weights), np.zeros(5), tol=1e-10).x
    np.testing.assert_allclose(result.scores, best - best.mean(), atol=1e-4)
    assert abs(result.scores.mean()) < 1e-12


def test_gamma_prior():
    """Maximum a posteriori, finite where an item never wins; each step of the algorithm is no worse than the last."""
    orders = [[0, 1, 2], [0, 2, 1], [0, 1, 2]]
    result = PlackettLuce.fit(orders, prior=(2.0, 1.0))
    value = objective(orders, "all", np.ones(3), (2.0, 1.0))
    best = minimize(value, np.zeros(3), tol=1e-10).x
    np.testing.assert_allclose(result.scores, best, atol=1e-4)
    with pytest.warns(UserWarning, match="not converged"):
        steps = [PlackettLuce.fit(orders, prior=(2.0, 1.0), max_iter=n).scores for n in range(1, 6)]
    assert (np.diff([value(s) for s in steps]) <= 1e-12).all()
    strong = [[0, 1], [1, 0], [0, 1], [1, 2], [2, 1], [2, 0]]
    plain = PlackettLuce.fit(strong, among="listed")
    flat = PlackettLuce.fit(strong, among="listed", prior=(1.0001, 0.0001))
    np.testing.assert_allclose(flat.scores - flat.scores.mean(), plain.scores, atol=1e-3)
    for prior in ((2.0, 0.0), (1.0, 1.0), (0.5, 1.0)):  # no maximum: the level of the strengths would run away
        with pytest.raises(DataError, match="prior"):
            PlackettLuce.fit(strong, among="listed", prior=prior)


def test_no_estimate():
    with pytest.raises(DataError, match="prior"):
        PlackettLuce.fit([[0, 1, 2], [0, 2, 1]])
    PlackettLuce.fit([[0], [1], [2]])  # first places alone: everybody won once
    with pytest.raises(DataError, match="prior"):
        PlackettLuce.fit([[0], [1]], n_items=3)


def test_recovers_strengths():
    truth = PlackettLuce([1.0, 0.5, 0.0, -0.5, -1.0])
    result = PlackettLuce.fit(truth.sample(4000, random_state=0))
    np.testing.assert_allclose(result.scores, truth.scores, atol=0.08)
    top = PlackettLuce.fit(truth.sample(8000, k=2, random_state=0))
    np.testing.assert_allclose(top.scores, truth.scores, atol=0.1)


@pytest.mark.parametrize(
    ("orders", "message"),
    [([[0, 0]], "twice"), ([[0, 7]], "item 7"), ([[0.5, 1.0]], "item numbers"), ("abc", "list of lists")],
)
def test_refusals(orders, message):
    with pytest.raises(DataError, match=message):
        PlackettLuce([0.0, 1.0]).log_prob(orders)


# ------------------------------------------------------------------------------------------------------ Newton's method


@pytest.mark.parametrize("n", [200, 800])
def test_a_long_chain_is_fitted_to_the_end(n):
    """Neighbours beat each other 3 to 2: every step of the chain is log 3/2, which small steps take ages to reach."""
    up = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    model = PlackettLuce(among="listed").fit(
        np.concatenate([up, up[:, ::-1]]), sample_weight=[3] * (n - 1) + [2] * (n - 1)
    )
    np.testing.assert_allclose(np.diff(model.scores_), -np.log(1.5), rtol=1e-7)
    assert model.n_iter_ < 20


@pytest.mark.parametrize(("among", "prior"), [("all", (1.0, 0.0)), ("listed", (1.0, 0.0)), ("all", (3.0, 0.5))])
def test_gradient_and_curvature_are_those_of_the_likelihood(among, prior):
    rng = np.random.default_rng(7)
    orders, _ = as_orders([rng.permutation(6)[: rng.integers(0, 7)].tolist() for _ in range(12)], 6)
    weight = rng.uniform(0.5, 2, 12)
    likelihood = _Likelihood(orders, weight, 6, among == "all", prior[0] - 1, prior[1])
    scores = rng.normal(size=6) * 3
    gradient, curvature = likelihood.slope(scores)
    expected = approx_fprime(scores, likelihood.value, 1e-6)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-4)
    table = np.stack([curvature.times(unit) for unit in np.eye(6)])
    differences = [(likelihood.slope(scores + 1e-6 * u)[0] - gradient) / 1e-6 for u in np.eye(6)]
    np.testing.assert_allclose(table, -np.array(differences), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(np.diagonal(table), curvature.diagonal, rtol=1e-10)


def test_scores_far_apart_do_not_overflow():
    """2,000 items in a chain are 800 apart: e^800 is no number."""
    n = 2000
    up = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    orders, _ = as_orders(np.concatenate([up, up[:, ::-1]]))
    likelihood = _Likelihood(orders, np.repeat([3.0, 2.0], n - 1), n, False, 0.0, 0.0)
    best = -np.log(1.5) * np.arange(n)
    gradient, curvature = likelihood.slope(best)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-10)
    assert np.isfinite(curvature.times(best)).all()
