"""Mallows: against enumeration of all orders."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from plackett.permutation_models.mallows import Mallows

ORDERS = np.array(list(permutations(range(5))))
CENTER = np.array([3, 0, 4, 1, 2])


def kendall(order, center):
    rank = np.argsort(center)
    return sum(rank[a] > rank[b] for a, b in combinations(order, 2))


@pytest.mark.parametrize("theta", [0.0, 1e-9, 0.3, 2.0, 30.0])
def test_probabilities(theta):
    model = Mallows(CENTER, theta)
    distances = np.array([kendall(order, CENTER) for order in ORDERS])
    np.testing.assert_array_equal(model.distance(ORDERS), distances)
    z = np.exp(-theta * distances).sum()
    np.testing.assert_allclose(model.log_normaliser(), np.log(z), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.log_prob(ORDERS), -theta * distances - np.log(z), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(model.mean_distance(), np.exp(-theta * distances) @ distances / z, rtol=1e-6, atol=1e-12)
    first = np.exp(model.log_prob(ORDERS))
    for top in ([4], [1, 3], [2, 1, 0]):
        same = (ORDERS[:, : len(top)] == top).all(axis=1)
        np.testing.assert_allclose(np.exp(model.log_prob([top]))[0], first[same].sum(), rtol=1e-8)


@pytest.mark.parametrize("theta", [0.0, 0.7])
def test_sampling(theta):
    model = Mallows(CENTER, theta)
    drawn = model.sample(60_000, random_state=0)
    shares = np.array([(drawn == order).all(axis=1).mean() for order in ORDERS])
    np.testing.assert_allclose(shares, np.exp(model.log_prob(ORDERS)), atol=0.004)
    np.testing.assert_allclose(model.distance(drawn).mean(), model.mean_distance(), atol=0.03)
    top = model.sample(60_000, k=2, random_state=0)
    np.testing.assert_allclose(model.distance(top).mean(), model.mean_distance(2), atol=0.03)


@pytest.mark.parametrize("k", [None, 2])
def test_fit(k):
    """Centre by enumeration, θ by a general optimiser."""
    drawn = Mallows(CENTER, 0.8).sample(150, k=k, random_state=1)
    result = Mallows.fit(drawn, n_items=5)
    totals = [Mallows(center, 1.0).distance(drawn).sum() for center in ORDERS]
    np.testing.assert_array_equal(result.center, ORDERS[np.argmin(totals)])
    best = minimize_scalar(lambda t: -Mallows(result.center, t).log_prob(drawn).sum(), bounds=(0, 10), method="bounded")
    np.testing.assert_allclose(result.theta, best.x, atol=1e-4)
    weighted = Mallows.fit(drawn[:3], n_items=5, weights=[2, 1, 1])
    repeated = Mallows.fit(drawn[[0, 0, 1, 2]], n_items=5)
    assert weighted.theta == pytest.approx(repeated.theta)


def test_extremes():
    assert Mallows.fit([[0, 1], [1, 0]]).theta == 0.0
    assert Mallows.fit([[0, 1, 2]] * 3).theta == 40.0
    with pytest.raises(ValueError, match="theta"):
        Mallows([0, 1], -1.0)
    with pytest.raises(ValueError, match="center"):
        Mallows([0, 2], 1.0)
