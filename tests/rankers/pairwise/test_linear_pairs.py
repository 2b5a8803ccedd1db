"""MPRank, OWPC and the P-norm push: against closed forms, a grid and another loss."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import RankingDataset
from plackett.losses import OWA, Exponential, MagnitudePreserving
from plackett.models.linear import Linear
from plackett.rankers import OWPC, GradientRanker, MPRank, PNormPush
from plackett.testing.rankers import easy_task

EXACT = {"standardize": False, "tol": 1e-12, "max_iter": 2000, "n_jobs": 1}


def test_mprank_is_ridge_regression_on_centred_queries():
    X, y, qid = easy_task()
    alpha, d = 0.3, X.shape[1]
    left, right = alpha * np.eye(d), np.zeros(d)
    for q in np.unique(qid):
        A, b = X[qid == q] - X[qid == q].mean(axis=0), y[qid == q] - y[qid == q].mean()
        left += 2 * b.size / 24 * A.T @ A  # m Σ (r - r̄)² per query, mean over 24 queries
        right += 2 * b.size / 24 * A.T @ b
    ranker = MPRank(alpha=alpha, normalize=False, **EXACT).fit(X, y, qid=qid)
    np.testing.assert_allclose(ranker.scorer_.weights[:, 0], np.linalg.solve(left, right), rtol=1e-4)


def test_mprank_of_another_power_is_nearer_in_that_power():
    X, y, qid = easy_task()
    data = RankingDataset.from_arrays(X, y, qid)
    square, fourth = (MPRank(beta=b, alpha=1e-9, **EXACT).fit(data).predict(data) for b in (2.0, 4.0))
    for beta, best, other in ((2.0, square, fourth), (4.0, fourth, square)):
        loss = MagnitudePreserving(beta=beta, normalize=True)
        assert loss(best, data) < loss(other, data)


@pytest.mark.parametrize("weights", ["harmonic", (1,)])
def test_owpc_comes_near_the_minimum(weights):
    X, y, qid = easy_task(n_features=2)
    data = RankingDataset.from_arrays(X, y, qid)
    alpha, loss = 0.05, OWA(weights=weights, normalize=True)

    def objective(w):
        return loss(X.astype(float) @ w, data) / 24 + 0.5 * alpha * (w**2).sum()

    grid = min(objective(np.array([a, b])) for a in np.linspace(0, 3, 31) for b in np.linspace(0, 2, 21))
    ranker = OWPC(weights=weights, alpha=alpha, standardize=False, max_iter=200, n_jobs=1).fit(data)
    assert objective(ranker.scorer_.weights[:, 0]) < 1.02 * grid


def test_pnorm_push_with_p_1_is_the_objective_of_rankboost():
    X, y, qid = easy_task()
    push = PNormPush(p=1.0, alpha=0.1, normalize=False, **EXACT).fit(X, y, qid=qid)
    other = GradientRanker(loss=Exponential(), model=Linear(alpha=0.1, **EXACT)).fit(X, y, qid=qid)
    np.testing.assert_allclose(push.scorer_.weights, other.scorer_.weights, rtol=1e-4)


def test_pnorm_push_keeps_the_worst_from_the_top():
    """Two kinds of mistakes, of which no linear ranker avoids both: p decides which."""
    # the second feature sees the many bad documents, the first the one bad document that is worse than all
    X = np.array([[1.0, 1.0]] * 4 + [[0.0, 2.0]] + [[1.0, 0.0]] * 10)
    y, qid = np.array([1] * 4 + [0] * 11), np.zeros(15, int)
    worst, bad = X[4] - X[0], X[5] - X[0]
    gentle, hard = (
        PNormPush(p=p, alpha=0.01, standardize=False).fit(X, y, qid=qid).scorer_.weights[:, 0] for p in (1.0, 16.0)
    )
    assert worst @ hard - bad @ hard < worst @ gentle - bad @ gentle
