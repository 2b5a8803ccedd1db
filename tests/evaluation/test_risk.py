from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from plackett.evaluation.risk import geo_risk, reward_risk, trisk, urisk, zrisk
from plackett.evaluation.significance import student


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    return rng.random(40), rng.random(40)


def test_urisk_by_loop(pair):
    system, baseline = pair
    for alpha in (0.0, 1.0, 5.0):
        total = 0.0
        for s, b in zip(system, baseline, strict=True):
            total += s - b if s > b else (1 + alpha) * (s - b)
        assert urisk(system, baseline, alpha=alpha) == pytest.approx(total / 40)


def test_relations(pair):
    reward, risk = reward_risk(*pair)
    assert reward - risk == pytest.approx(pair[0].mean() - pair[1].mean())
    assert urisk(*pair, alpha=3) == pytest.approx(reward - 4 * risk)
    assert trisk(*pair, alpha=0) == pytest.approx(student(*pair).statistic)
    assert trisk(*pair, alpha=10) < trisk(*pair, alpha=1) < trisk(*pair, alpha=0)


def test_trisk_by_hand():
    # δ = 1, 2, −1; with α = 1 x = 1, 2, −2: mean 1/3, variance (4/9 + 25/9 + 49/9) / 2 = 13/3
    assert trisk([2, 3, 0], [1, 1, 1]) == pytest.approx((1 / 3) / np.sqrt(13 / 3 / 3))
    assert np.isnan(trisk([1], [0]))


def test_zrisk_by_hand():
    """Totals 1 and 1 of systems and 1.2 and 0.8 of queries: expected 0.6 and 0.4 for both."""
    x = np.array([[0.7, 0.5], [0.3, 0.5]])
    up, down = 0.1 / np.sqrt(0.6), 0.1 / np.sqrt(0.4)
    np.testing.assert_allclose(zrisk(x, alpha=3), [up - 4 * down, down - 4 * up])
    np.testing.assert_allclose(zrisk(x, alpha=0), [up - down, down - up])
    with pytest.raises(ValueError, match="alpha"):
        zrisk(x, alpha=-1)


def test_geo_risk_by_loops():
    x = np.random.default_rng(1).random((7, 3))
    x[3] = 0.0  # a query on which every system fails
    alpha = 2.0
    for i in range(3):
        z_sum = 0.0
        for q in range(7):
            e = sum(x[:, i]) * sum(x[q]) / x.sum()
            if e > 0:
                z = (x[q, i] - e) / np.sqrt(e)
                z_sum += z if z > 0 else (1 + alpha) * z
        expected = np.sqrt(x[:, i].mean() * norm.cdf(z_sum / 7))
        assert geo_risk(x, alpha=alpha)[i] == pytest.approx(expected)
        assert zrisk(x, alpha=alpha)[i] == pytest.approx(z_sum)


def test_geo_risk_prefers_the_even_system():
    even, uneven = np.full(10, 0.5), np.tile([0.9, 0.1], 5)
    field = np.column_stack([even, uneven, np.full(10, 0.5)])
    result = geo_risk(field)
    assert result[0] > result[1] and result[0] == result[2]


def test_limits():
    assert geo_risk(np.zeros((3, 2))).tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="0 or more"):
        geo_risk([[-0.1, 0.2]])
    with pytest.raises(ValueError, match="alpha"):
        urisk([1], [0], alpha=-1)
