"""The margin bound of ensembles: its parts, what it does not depend on, and that it holds."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError
from plackett.theory.bounds.ensemble_margin_bound import ensemble_margin_bound


def stumps(x, thresholds):
    return (x[:, None] > thresholds).astype(float)


def test_parts_and_rounds():
    rng = np.random.default_rng(0)
    d = rng.integers(-1, 2, (400, 3)).astype(float)
    alphas = np.array([1.0, 0.5, 2.5])
    parameters = {"complexity": (0.01, 0.02), "delta": 0.1}
    result = ensemble_margin_bound(d, alphas, 0.25, **parameters)
    margins = d @ alphas / 4.0
    assert np.abs(margins).max() <= 1.0
    assert result.margin_loss == (margins <= 0.25).mean()
    assert result.complexity == pytest.approx(8 * 0.03)
    assert result.confidence == pytest.approx(np.sqrt(np.log(10) / 800))
    assert result.bound == pytest.approx(result.margin_loss + result.complexity + result.confidence)
    # weights split into repeated rounds, or all scaled: the number of rounds does not appear
    split = ensemble_margin_bound(
        np.repeat(d, 2, axis=1), np.repeat(alphas / 2, 2), 0.25, complexity=(0.01, 0.02), delta=0.1
    )
    scaled = ensemble_margin_bound(d, 7 * alphas, 0.25, **parameters)
    assert split == result == scaled
    of_sample = ensemble_margin_bound(d, alphas, 0.25, n_rankers=50, delta=0.1, empirical=True)
    assert of_sample.confidence == pytest.approx(3 * np.sqrt(np.log(20) / 800))
    assert of_sample.complexity == pytest.approx(8 * 2 * np.sqrt(2 * np.log(50) / 400))


def test_it_holds():
    """Ensembles chosen to fit noisy pairs: the risk on new pairs is below the bound."""
    rng = np.random.default_rng(1)
    thresholds = np.linspace(0.1, 0.9, 9)

    def pairs(m):
        u, v = rng.random(m), rng.random(m)
        first = (u > v) ^ (rng.random(m) < 0.1)
        return stumps(np.where(first, u, v), thresholds) - stumps(np.where(first, v, u), thresholds)

    for _ in range(20):
        d = pairs(4000)
        alphas = np.maximum(d.mean(axis=0), 0)  # the best single weights on these pairs
        result = ensemble_margin_bound(d, alphas, 0.2, n_rankers=9, empirical=True)
        assert (pairs(20_000) @ alphas <= 0).mean() <= result.bound < 1.6


def test_refusals():
    for parameters, match in (
        ({"rho": 0.0, "n_rankers": 5}, "rho=0.0; give a number above 0"),
        ({"rho": 0.5}, "n_rankers"),
        ({"rho": 0.5, "n_rankers": 5, "complexity": 0.1}, "n_rankers"),
    ):
        with pytest.raises(DataError, match=match):
            ensemble_margin_bound([[1.0]], [1.0], **parameters)
    with pytest.raises(DataError, match="not all be 0"):
        ensemble_margin_bound([[1.0]], [0.0], 0.5, n_rankers=5)
    with pytest.raises(DataError, match=r"differences\[0, 0\] is 2; give numbers of 1 or less"):
        ensemble_margin_bound([[2.0]], [1.0], 0.5, n_rankers=5)
