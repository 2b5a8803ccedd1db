"""Tendency correlation: invariances, theorems 5.4 to 5.6."""

from __future__ import annotations

import math

import numpy as np
import pytest

import plackett as pk
from plackett.losses import ApproxNDCGLoss, SoftNDCG
from plackett.theory.consistency.svm_disagreement import structural_map_loss, svm_disagreement
from plackett.theory.consistency.tendency import approx_ndcg_tendency, soft_ndcg_tendency, tendency_correlation


def test_tendency_correlation_is_the_least_worst_disagreement():
    rng = np.random.default_rng(0)
    m, a = rng.random(40), rng.random(40)
    result = tendency_correlation(a, m)
    grid = [np.ptp(beta * a - m) for beta in np.linspace(0, 3, 3001)]
    assert result.epsilon == pytest.approx(min(grid), abs=1e-3)
    assert np.ptp(result.beta * a - m) == pytest.approx(result.epsilon, abs=1e-7)
    assert tendency_correlation(3 * m + 7, m).epsilon == pytest.approx(0, abs=1e-9)
    assert tendency_correlation(0.1 * a - 4, m).epsilon == pytest.approx(result.epsilon)
    assert result.epsilon <= np.ptp(m) and tendency_correlation(-m, m).epsilon == pytest.approx(np.ptp(m))
    assert tendency_correlation(np.ones(40), m) == (np.ptp(m), 0.0)


def gapped(n, m, gap, seed=0):
    """Lists whose scores are at least ``gap`` apart."""
    rng = np.random.default_rng(seed)
    steps = gap * (1 + rng.random((n, m)))
    s = np.cumsum(steps, axis=1)
    s = np.take_along_axis(s, rng.permuted(np.tile(np.arange(m), (n, 1)), axis=1), axis=1)
    y = rng.integers(0, 3, (n, m)).astype(float)
    y[:, 0] = 2
    return s.ravel(), pk.RankingDataset.from_arrays(None, y.ravel(), np.repeat(np.arange(n), m))


@pytest.mark.parametrize("sigma", [0.05, 0.1, 0.15])
def test_soft_ndcg_is_within_half_the_bound_of_ndcg(sigma):
    m, gap = 6, 0.5
    s, data = gapped(200, m, gap)
    exact = pk.evaluate(data, s, ["nDCG"]).values["nDCG"]
    soft = 1 - SoftNDCG(sigma=sigma).bind(data).evaluate(s)[0]
    bounds = [
        soft_ndcg_tendency(sigma, gap, m, top_label=2, ideal=z)
        for z in pk.evaluate(data, s, ["DCG"]).values["DCG"] / exact
    ]
    assert (2 * np.abs(soft - exact) <= bounds).all()
    assert soft_ndcg_tendency(0.01, gap, m, top_label=2, ideal=3.0) < 1e-100
    assert soft_ndcg_tendency(5.0, gap, m, top_label=2, ideal=3.0) == math.inf


@pytest.mark.parametrize("alpha", [6.0, 10.0, 20.0])
def test_approx_ndcg_is_within_half_the_bound_of_ndcg(alpha):
    m, gap = 6, 0.5
    s, data = gapped(200, m, gap)
    exact = pk.evaluate(data, s, ["nDCG"]).values["nDCG"]
    near = 1 - ApproxNDCGLoss(alpha=alpha).bind(data).evaluate(s)[0]
    bound = approx_ndcg_tendency(alpha, gap, m)
    assert (2 * np.abs(near - exact) <= bound).all()
    assert approx_ndcg_tendency(1.0, gap, m) == math.inf
    assert approx_ndcg_tendency(40.0, gap, m) < approx_ndcg_tendency(20.0, gap, m) < bound * 1.0001
    # over the lists as models of one and the same: ε is below the bound as well
    s, data = gapped(300, m, gap, seed=1)
    data = data.replace(y=np.tile(data.y[:m], 300))
    near = 1 - ApproxNDCGLoss(alpha=alpha).bind(data).evaluate(s)[0]
    assert tendency_correlation(near, pk.evaluate(data, s, ["nDCG"]).values["nDCG"]).epsilon <= bound


def test_svm_map_prefers_the_worse_model_on_a_list_made_for_it():
    result = svm_disagreement()
    assert result.precision == pytest.approx((0.005, 0.998), abs=6e-4)
    assert result.loss == pytest.approx((0.995, 5.1), abs=0.05)
    assert result.loss[0] < result.loss[1] and result.disagreement == pytest.approx(0.992, abs=1e-3)
    for n in (5, 50):  # as near to 1 as one likes
        assert svm_disagreement(n, 100 * n).disagreement > 1 - 1.0 / n


def test_structural_map_loss_is_the_one_by_enumeration():
    rng = np.random.default_rng(0)
    for _ in range(15):
        m = rng.integers(2, 7)
        y = rng.integers(0, 2, m).astype(float)
        y[0], y[-1] = 1, 0
        s = rng.standard_normal(m)
        brute = pk.theory.structured_bounds(s, y, "AP").margin
        assert structural_map_loss(s, pk.RankingDataset.from_arrays(None, y))[0] == pytest.approx(brute)
