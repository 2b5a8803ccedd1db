"""Cutting planes against explicit quadratic programs, a peer's SVM and what a certificate promises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize
from sklearn.svm import LinearSVC

from plackett.solvers.cutting_plane import _Bundle, minimise


def hinge(X, y):
    def risk(w):
        margin = 1 - y * (X @ w)
        wrong = margin > 0
        return float(margin[wrong].sum() / y.size), -(y[wrong] @ X[wrong]) / y.size

    return risk


def classes(n, d, seed=0, noise=2.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sign(X @ rng.normal(size=d) + noise * rng.normal(size=n))


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_hinge_svm_is_that_of_liblinear(C):
    X, y = classes(120, 5)
    peer = LinearSVC(loss="hinge", C=C / y.size, fit_intercept=False, tol=1e-8, max_iter=1_000_000).fit(X, y).coef_[0]
    result = minimise(hinge(X, y), 5, C=C, tol=1e-7, max_iter=5000)
    best = 0.5 * peer @ peer + C * hinge(X, y)(peer)[0]
    assert result.gap <= 1e-7
    assert result.dual <= best * (1 + 1e-12)
    assert result.primal <= best * (1 + 1e-6)
    # P is strongly convex: ½‖w − w*‖² ≤ P(w) − P(w*)
    assert np.sum((result.coef - peer) ** 2) <= 4e-5 * best


def test_multiclass_is_that_of_crammer_and_singer():
    """max over classes of [wrong + w_class·x] − w_right·x: the structural SVM whose answers are single classes."""
    rng = np.random.default_rng(3)
    X, y, C = rng.normal(size=(90, 4)), rng.integers(0, 3, 90), 30.0
    X[np.arange(90), y] += 1.0
    rows = np.arange(90)

    def risk(flat):
        scores = X @ flat.reshape(3, 4).T
        violated = scores + (np.arange(3) != y[:, None])
        worst = violated.argmax(axis=1)
        slope = np.zeros((3, 4))
        np.add.at(slope, worst, X / 90)
        np.add.at(slope, y, -X / 90)
        return float((violated[rows, worst] - scores[rows, y]).mean()), slope.ravel()

    peer = LinearSVC(multi_class="crammer_singer", C=C / 90, fit_intercept=False, tol=1e-8, max_iter=1_000_000).fit(
        X, y
    )
    result = minimise(risk, 12, C=C, tol=1e-6)
    best = 0.5 * np.sum(peer.coef_**2) + C * risk(peer.coef_.ravel())[0]
    assert result.dual <= best * (1 + 1e-9)
    np.testing.assert_allclose(result.primal, best, rtol=1e-5)
    np.testing.assert_allclose(result.coef.reshape(3, 4), peer.coef_, atol=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_maximum_of_planes_is_the_quadratic_program(seed):
    """R = max(0, Aw + b) written out: minimise ½‖w‖² + Cξ under ξ ≥ 0, ξ ≥ Aw + b."""
    rng = np.random.default_rng(seed)
    A, b, C, d = rng.normal(size=(12, 4)), rng.normal(size=12), 3.0, 4

    def risk(w):
        height = A @ w + b
        top = np.argmax(height)
        return (float(height[top]), A[top]) if height[top] > 0 else (0.0, np.zeros(d))

    constraints = LinearConstraint(np.hstack([-A, np.ones((12, 1))]), b, np.inf)
    program = minimize(
        lambda z: 0.5 * z[:d] @ z[:d] + C * z[d],
        np.append(np.zeros(d), max(b.max(), 0.0)),
        jac=lambda z: np.append(z[:d], C),
        constraints=[constraints, LinearConstraint(np.eye(d + 1)[d:], 0, np.inf)],
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    result = minimise(risk, d, C=C, tol=1e-9)
    np.testing.assert_allclose(result.primal, program.fun, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(result.coef, program.x[:d], atol=1e-4)


@pytest.mark.parametrize("seed", range(8))
def test_dual_is_solved_to_the_accuracy_asked_for(seed):
    """Against a general solver; with more planes than features, and one twice, the products are singular."""
    rng = np.random.default_rng(seed)
    C, n, d = 5.0, 14, 3
    slopes, heights = rng.normal(size=(n, d)), rng.uniform(-1, 2, n)
    slopes[-1], heights[-1] = slopes[0], heights[0]
    bundle = _Bundle(d, C)
    for slope, height in zip(slopes, heights, strict=True):
        bundle.add(slope, height)
        value = bundle.solve(1e-10)
    general = minimize(
        lambda a: 0.5 * np.sum((a @ slopes) ** 2) - heights @ a,
        np.full(n, C / n),
        jac=lambda a: slopes @ (a @ slopes) - heights,
        bounds=[(0, C)] * n,
        constraints=LinearConstraint(np.ones(n), -np.inf, C),
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    np.testing.assert_allclose(value, -general.fun, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(bundle.weights(), -(general.x @ slopes), atol=1e-4)
    used = bundle.alpha[: bundle.size]
    assert (used >= 0).all()
    np.testing.assert_allclose(used.sum(), C, rtol=1e-12)


def test_gap_only_falls_and_is_honest():
    """Both bounds close on the optimum, round by round, while planes come and go."""
    X, y = classes(400, 20)
    C, objectives, limits = 300.0, [], []
    best = minimise(hinge(X, y), 20, C=C, tol=1e-9, max_iter=3000)
    for rounds in (1, 2, 5, 10, 20, 40, 80):
        result = minimise(hinge(X, y), 20, C=C, tol=0.0, max_iter=rounds)
        assert result.n_iter == rounds
        assert result.n_planes <= rounds + 1
        objectives.append(result.primal)
        limits.append(result.dual)
        np.testing.assert_allclose(result.primal, 0.5 * result.coef @ result.coef + C * hinge(X, y)(result.coef)[0])
        np.testing.assert_allclose(result.gap, 1 - result.dual / result.primal)
    assert (np.diff(objectives) <= 0).all()
    assert (np.diff(limits) >= 0).all()
    assert limits[-1] <= best.primal * (1 + 1e-12)
    assert best.dual <= objectives[-1]
    assert best.n_planes < best.n_iter  # some were dropped


def test_monitor_ends_it_and_sees_the_best_weights():
    X, y = classes(100, 4)
    seen = []

    def step(w):
        seen.append(0.5 * w @ w + 50 * hinge(X, y)(w)[0])
        return len(seen) == 4

    result = minimise(hinge(X, y), 4, C=50.0, tol=0.0, monitor_step=step)
    assert result.n_iter == len(seen) == 4
    assert (np.diff(seen) <= 0).all()
    np.testing.assert_allclose(result.primal, seen[-1])


def test_no_risk_no_weights():
    result = minimise(lambda w: (0.0, np.zeros(2)), 2, C=1.0)
    assert (result.primal, result.gap, result.n_iter) == (0.0, 0.0, 1)
    np.testing.assert_array_equal(result.coef, 0)


def test_refuses_a_bad_C():
    with pytest.raises(ValueError, match="C=-1"):
        minimise(lambda w: (0.0, np.zeros(2)), 2, C=-1)
