"""Weighted and polynomial regression against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from plackett.rankers.pointwise.linear_regression import LinearRegression
from plackett.rankers.pointwise.polynomial_regression import PolynomialRegression
from plackett.rankers.pointwise.weighted_regression import WeightedRegression


def task(n=120, d=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)).astype(np.float32)
    return X, rng.integers(0, 4, n).astype(float), np.repeat(np.arange(n // 10), 10)


EXACT = {"tol": 1e-12, "max_iter": 2000, "standardize": False, "n_jobs": 1}


def test_ridge_in_closed_form():
    """(XᵀΩX + ρI)⁻¹ XᵀΩy, the intercept not penalised; ‖v‖ falls with ρ."""
    X, y, qid = task()
    omega = 1 + 2.0 * y
    A = np.column_stack([X.astype(float), np.ones(y.size)])
    lengths = []
    for alpha in (0.0, 0.1, 1.0, 10.0):
        ranker = WeightedRegression(strength=2.0, alpha=alpha, **EXACT).fit(X, y, qid=qid)
        rho = np.diag([alpha * (qid.max() + 1)] * 3 + [0.0])  # the loss is a mean over queries
        expected = np.linalg.solve(A.T @ (omega[:, None] * A) + rho, A.T @ (omega * y))
        result = np.append(ranker.scorer_.weights[:, 0], ranker.scorer_.intercept)
        np.testing.assert_allclose(result, expected, atol=2e-5)
        lengths.append(np.linalg.norm(result[:3]))
    assert lengths == sorted(lengths, reverse=True)


def test_without_importance_it_is_plain_regression():
    X, y, qid = task()
    one, two = (
        cls(**EXACT, **extra).fit(X, y, qid=qid).predict(X)
        for cls, extra in ((WeightedRegression, {"strength": 0.0}), (LinearRegression, {}))
    )
    np.testing.assert_array_equal(one, two)


def test_degree_one_is_linear_regression():
    X, y, qid = task()
    one, two = (
        cls(**EXACT, **extra).fit(X, y, qid=qid).predict(X)
        for cls, extra in ((PolynomialRegression, {"degree": 1, "alpha": 0.1}), (LinearRegression, {"alpha": 0.1}))
    )
    np.testing.assert_array_equal(one, two)


def test_a_quadratic_is_recovered():
    X, _, qid = task()
    y = np.round(8 + X[:, 0] ** 2 + X[:, 0] * X[:, 1] - X[:, 2], 3).astype(float)
    ranker = PolynomialRegression(alpha=0.0, tol=1e-12, max_iter=2000, n_jobs=1).fit(X, y, qid=qid)
    np.testing.assert_allclose(ranker.predict(X), y, atol=2e-3)
    # products of different features alone cannot make the square
    crossed = PolynomialRegression(interaction_only=True, alpha=0.0, n_jobs=1).fit(X, y, qid=qid)
    assert np.abs(crossed.predict(X) - y).max() > 0.5


def test_degree_is_checked():
    X, y, qid = task()
    with pytest.raises(ValueError, match="degree=0"):
        PolynomialRegression(degree=0).fit(X, y, qid=qid)
