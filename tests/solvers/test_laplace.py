"""Laplace's approximation: derivatives by differences, the mode by a general solver, the evidence by integration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.stats import norm

from plackett.solvers.intervals import Intervals, interval_terms
from plackett.solvers.laplace import LaplaceProcess


def process(kind, n_points, ard, seed=0, n=25):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.digitize(X[:, 0] + rng.normal(0, 0.3, n), [-0.5, 0.7])
    if kind == "grades":
        return LaplaceProcess(X, X[:n_points], None, Intervals(y, y + 1, rng.uniform(0.5, 2, n), 2), ard)
    pairs = np.array([(i, j) for i in range(n) for j in range(n) if y[i] > y[j]])[:60]
    values = np.tile([np.sqrt(0.5), -np.sqrt(0.5)], len(pairs))
    table = csr_matrix((values, pairs.ravel(), 2 * np.arange(len(pairs) + 1)), (len(pairs), n))
    one = np.ones(len(pairs), int)
    return LaplaceProcess(X, X[:n_points], table, Intervals(one, 2 * one, 1.0 * one, 1, np.zeros(1)), ard)


def difference(function, x, h):
    return np.array([(function(x + h * e) - function(x - h * e)) / (2 * h) for e in np.eye(x.size)])


@pytest.mark.parametrize(
    ("lower", "upper"), [(-np.inf, 0.3), (-0.4, 0.9), (1.2, np.inf), (2.0, 2.1), (-np.inf, np.inf)]
)
def test_derivatives_of_an_interval(lower, upper):
    """For the latent value up to the third, for the ends and for log σ, by central differences; value by SciPy."""
    sigma, h = 0.7, 1e-5
    log_of_sigma = np.log(sigma)

    def at(f=0.2, low=lower, up=upper, log_sigma=log_of_sigma):
        return interval_terms(np.array([low - f]), np.array([up - f]), np.exp(log_sigma))

    terms, upper_end, lower_end, noise = at()
    mass = norm.cdf((upper - 0.2) / sigma) - norm.cdf((lower - 0.2) / sigma)
    np.testing.assert_allclose(terms.value, -np.log(mass), rtol=1e-9, atol=1e-14)
    close = {"rtol": 1e-6, "atol": 1e-8}
    for i in range(3):
        change = (at(f=0.2 + h)[0][i] - at(f=0.2 - h)[0][i]) / (2 * h)
        np.testing.assert_allclose(terms[i + 1], change, **close)
        change = (at(log_sigma=np.log(sigma) + h)[0][i] - at(log_sigma=np.log(sigma) - h)[0][i]) / (2 * h)
        np.testing.assert_allclose(noise[i], change, **close)
        if np.isfinite(upper):
            change = (at(up=upper + h)[0][i] - at(up=upper - h)[0][i]) / (2 * h)
            np.testing.assert_allclose(upper_end[i], change, **close)
        if np.isfinite(lower):
            change = (at(low=lower + h)[0][i] - at(low=lower - h)[0][i]) / (2 * h)
            np.testing.assert_allclose(lower_end[i], change, **close)


def test_intervals_far_away_have_finite_terms():
    f = np.array([-1e3, -60.0, 60.0, 1e3])
    terms, *others = interval_terms(0.0 - f, 1.0 - f, 1.0)
    for part in (*terms, *(p for other in others for p in other)):
        assert np.isfinite(part).all()
    # beyond, the likelihood is that of the nearer end: about a parabola
    np.testing.assert_allclose(terms.value[[0, 3]], [0.5e6, 0.5 * 999.0**2], rtol=1e-4)
    np.testing.assert_allclose(terms.bend, 1.0, rtol=1e-2)


@pytest.mark.parametrize("kind", ["grades", "pairs"])
@pytest.mark.parametrize("n_points", [25, 7])
@pytest.mark.parametrize("ard", [False, True])
def test_gradient_of_the_evidence(kind, n_points, ard):
    laplace = process(kind, n_points, ard)
    parameters = laplace.start(1.3)
    parameters += np.random.default_rng(1).normal(0, 0.1, parameters.size)
    expected = difference(lambda p: laplace.fit(p).value, parameters, 1e-5)
    np.testing.assert_allclose(laplace.fit(parameters).gradient, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("kind", ["grades", "pairs"])
def test_mode_by_a_general_solver(kind):
    """The mode of the exact process in the latent values, where nothing of the points appears."""
    laplace = process(kind, 25, ard=False)
    parameters = laplace.start(1.3)
    far = ((laplace.X[:, None] - laplace.X) ** 2).sum(axis=2)
    K = np.exp(-0.5 * far / 1.3**2) + 1e-6 * np.eye(25)
    inverse = np.linalg.inv(K)
    ends = np.concatenate([[-np.inf], laplace.intervals.bounds(parameters[1:]), [np.inf]])
    sigma = np.exp(parameters[1])

    def objective(f):
        seen = f if laplace.observed is None else laplace.observed @ f
        mass = norm.cdf((ends[laplace.intervals.upper] - seen) / sigma)
        mass -= norm.cdf((ends[laplace.intervals.lower] - seen) / sigma)
        return -laplace.intervals.weight @ np.log(mass) + 0.5 * f @ inverse @ f

    best = minimize(lambda a: objective(K @ a), np.zeros(25), method="BFGS", options={"gtol": 1e-7, "maxiter": 5000})
    fit = laplace.fit(parameters)
    result = (K - 1e-6 * np.eye(25)) @ fit.heights
    np.testing.assert_allclose(result, K @ best.x, atol=2e-4)
    slope = difference(lambda a: objective(K @ a), fit.heights, 1e-5)
    assert np.abs(slope).max() < 1e-4  # gradient 0 at the mode, up to the jitter


def test_one_document_by_integration():
    """With one document Laplace's evidence and posterior come near the integrals."""
    X = np.zeros((1, 1))
    laplace = LaplaceProcess(X, X, None, Intervals(np.array([1]), np.array([2]), np.ones(1), 2), ard=False)
    parameters = np.array([0.0, np.log(0.8), -0.5, np.log(1.7)])
    fit = laplace.fit(parameters)

    def joint(f):
        return norm.pdf(f) * (norm.cdf((1.2 - f) / 0.8) - norm.cdf((-0.5 - f) / 0.8))

    evidence = quad(joint, -10, 10)[0]
    mean = quad(lambda f: f * joint(f), -10, 10)[0] / evidence
    variance = quad(lambda f: (f - mean) ** 2 * joint(f), -10, 10)[0] / evidence
    np.testing.assert_allclose(-fit.value, np.log(evidence), atol=0.03)
    np.testing.assert_allclose(fit.heights[0], mean, atol=0.03)
    np.testing.assert_allclose(1.0 - fit.shrink[0, 0], variance, atol=0.05)
