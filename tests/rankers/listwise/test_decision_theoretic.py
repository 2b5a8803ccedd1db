"""Decision-theoretic ranking: moments by quadrature, utilities by enumeration, recovery of the generating weights."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom, norm

from plackett.rankers.listwise.decision_theoretic import DecisionTheoretic
from plackett.scorers.expected_utility import ExpectedUtilityScorer
from plackett.solvers.moment_matching import probit_moments, probit_posterior_steps


@pytest.mark.parametrize(
    ("mean", "variance", "sign", "scale"), [(0.0, 1.0, 1, 1.0), (2.0, 0.3, -1, 0.5), (-1, 4, 1, 2)]
)
def test_moments(mean, variance, sign, scale):
    def density(f):
        return norm.pdf(f, mean, np.sqrt(variance)) * norm.cdf(sign * f / scale)

    total, first, second = (quad(lambda f, n=n: f**n * density(f), -20, 20, points=[mean])[0] for n in range(3))
    result = probit_moments(np.array([mean]), np.array([variance]), sign, scale)
    np.testing.assert_allclose(result[0], first / total, rtol=1e-7)
    np.testing.assert_allclose(result[1], second / total - (first / total) ** 2, rtol=1e-6)


def test_one_observation_is_exact():
    """One success: the posterior is normal with the moments of prior times likelihood."""
    steps = probit_posterior_steps(np.ones((1, 1)), np.ones(1), np.zeros(1), 3.0, 1.0)
    mean, factor = [next(steps) for _ in range(60)][-1]
    expected = probit_moments(np.zeros(1), np.full(1, 3.0), 1.0, 1.0)
    np.testing.assert_allclose(mean, expected[0], rtol=1e-6)
    np.testing.assert_allclose(factor**2, expected[1][:, None], rtol=1e-6)


def test_expected_gain():
    """E[2^s − 1] = (1 + p)^n − 1 for a certain weight, and quadrature for an uncertain one."""
    for spread in (0.0, 0.8):
        gains = 2.0 ** np.arange(5) - 1
        scorer = ExpectedUtilityScorer(np.array([[1.0, spread]]), np.zeros(2), gains, np.ones(1))
        x = np.array([[-1.0], [0.2], [1.5]], np.float32)
        expected = [
            quad(lambda f, m=m, v=v: ((1 + norm.cdf(f)) ** 4 - 1) * norm.pdf(f, m, v), m - 9 * v, m + 9 * v)[0]
            if (v := abs(spread * m)) > 0
            else (1 + norm.cdf(m)) ** 4 - 1
            for m in x[:, 0].astype(float)
        ]
        np.testing.assert_allclose(scorer.predict(x, np.array([0, 3])), expected, rtol=1e-6)


def test_sorting_by_expected_gain_is_optimal():
    """Expected DCG of every order of five documents, by summing over all their labels."""
    rng = np.random.default_rng(0)
    p = rng.random(5)
    gains, discounts = 2.0 ** np.arange(3) - 1, 1 / np.log2(np.arange(2, 7))
    chances = np.array([binom.pmf(np.arange(3), 2, q) for q in p])
    orders = list(permutations(range(5)))
    values = np.zeros(len(orders))
    for labels in np.ndindex(*[3] * 5):
        weight = np.prod([chances[j, label] for j, label in enumerate(labels)])
        values += weight * (gains[list(labels)][np.array(orders)] @ discounts)
    assert list(orders[values.argmax()]) == np.argsort(-(chances @ gains)).tolist()


def test_recovers_the_weights():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 3)).astype(np.float32)
    truth = np.array([1.0, -0.5, 0.0])
    y = rng.binomial(4, norm.cdf(X @ truth + 0.3))
    ranker = DecisionTheoretic().fit(X, y, qid=np.arange(3000) // 20)
    np.testing.assert_allclose(ranker.scorer_.weights[:, 0], truth, atol=0.05)
    np.testing.assert_allclose(ranker.scorer_.intercept[0], 0.3, atol=0.05)
    assert np.sqrt((ranker.scorer_.weights[:, 1:] ** 2).sum(axis=1)).max() < 0.05  # and it knows that it knows


@pytest.mark.parametrize(
    ("y", "parameters", "message"), [([0.5, 1], {}, "whole"), ([0, 3], {"n_trials": 2}, "n_trials")]
)
def test_refusals(y, parameters, message):
    with pytest.raises(ValueError, match=message):
        DecisionTheoretic(**parameters).fit([[0.0], [1.0]], y, qid=[1, 1])
