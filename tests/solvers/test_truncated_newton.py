"""Truncated Newton against closed forms and a generic solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize as generic

from plackett.solvers.truncated_newton import minimise


class Table:
    """A loss of the scores A @ w."""

    def __init__(self, A):
        self.A = A

    def per_document(self):
        return np.zeros(len(self.A))

    def scores(self, weights, out):
        out[...] = self.A @ weights

    def pull_back(self, slopes):
        return self.A.T @ slopes


class Squares(Table):
    def __init__(self, A, target):
        super().__init__(A)
        self.target = target

    def evaluate(self, scores, slopes):
        slopes[...] = scores - self.target
        return 0.5 * slopes @ slopes

    def curvature(self, scores):
        return lambda direction, out: np.copyto(out, direction)


class SquaredHinges(Table):
    price = 10.0

    def evaluate(self, scores, slopes):
        miss = np.maximum(1 - scores, 0)
        slopes[...] = -2 * self.price * miss
        return self.price * miss @ miss

    def curvature(self, scores):
        return lambda direction, out: np.multiply(2 * self.price * (scores < 1), direction, out=out)


class Logistic(Table):
    def evaluate(self, scores, slopes):
        slopes[...] = -1 / (1 + np.exp(scores))
        return np.logaddexp(0, -scores).sum()

    def curvature(self, scores):
        p = 1 / (1 + np.exp(-scores))
        return lambda direction, out: np.multiply(p * (1 - p), direction, out=out)


def test_ridge_regression():
    rng = np.random.default_rng(0)
    A, target = rng.normal(size=(50, 6)), rng.normal(size=50)
    result = minimise(Squares(A, target), 6, tol=1e-12)
    np.testing.assert_allclose(result.coef, np.linalg.solve(A.T @ A + np.eye(6), A.T @ target), atol=1e-6)
    assert result.n_products <= result.n_iter * 10


@pytest.mark.parametrize("loss", [SquaredHinges, Logistic])
@pytest.mark.parametrize("seed", range(5))
def test_generic_solver_and_gap(loss, seed):
    rng = np.random.default_rng(seed)
    problem = loss(rng.normal(size=(80, 5)) * [1, 3, 0.1, 1, 10] + 0.3)

    def objective(w):
        scores, slopes = problem.per_document(), problem.per_document()
        problem.scores(w, scores)
        value = problem.evaluate(scores, slopes)
        return 0.5 * w @ w + value, w + problem.pull_back(slopes)

    best = generic(objective, np.zeros(5), jac=True, method="BFGS", options={"gtol": 1e-9}).fun
    rounds = []
    result = minimise(problem, 5, tol=1e-9, monitor_step=lambda w: rounds.append(objective(w)[0]))
    np.testing.assert_allclose(result.primal, best, rtol=1e-8)
    np.testing.assert_allclose(objective(result.coef)[0], result.primal, rtol=1e-12)
    assert result.gap <= 1e-9 and (np.diff(rounds) < 0).all() and len(rounds) == result.n_iter
    for tol in (0.9, 0.1, 1e-3):
        rough = minimise(problem, 5, tol=tol)
        assert rough.dual <= best * (1 + 1e-9) and rough.gap <= tol
        np.testing.assert_allclose(rough.gap, (rough.primal - rough.dual) / rough.primal)


def test_nothing_to_learn_and_early_end():
    nothing = minimise(Squares(np.zeros((3, 2)), np.zeros(3)), 2)
    assert nothing.primal == 0 and nothing.gap == 0 and not nothing.coef.any()
    rng = np.random.default_rng(0)
    problem = SquaredHinges(rng.normal(size=(80, 5)))
    ended = minimise(problem, 5, tol=1e-12, monitor_step=lambda w: True)
    assert ended.n_iter == 1 and ended.primal - ended.dual > 0
