"""Logistic regression in one and two stages, against scikit-learn and the conditions of the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as Reference

from plackett import RankingDataset
from plackett.losses.pointwise.binary_logistic import BinaryLogistic
from plackett.models.linear import Linear
from plackett.rankers.pointwise.logistic_regression import LogisticRegression
from plackett.rankers.pointwise.staged_logistic import StagedLogistic
from plackett.solvers.monitor import SilentMonitor

EXACT = {"tol": 1e-12, "max_iter": 2000, "n_jobs": 1}


def task(n=200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    X[:, 1] = X[:, 0] + 0.3 * X[:, 1]  # evidence that is counted twice
    y = (rng.random(n) < 1 / (1 + np.exp(-(X @ [1.0, 0.0, -1.0, 0.0] - 1)))).astype(float)
    return X, y, np.repeat(np.arange(n // 10), 10)


def test_the_same_as_scikit_learn():
    """With an L2 penalty, which is the maximum-entropy model; the loss is a mean over queries."""
    X, y, qid = task()
    for alpha in (1e-3, 0.1):
        ranker = LogisticRegression(alpha=alpha, standardize=False, **EXACT).fit(X, y, qid=qid)
        reference = Reference(C=1 / (alpha * 20), tol=1e-12, max_iter=5000).fit(X.astype(float), y)
        np.testing.assert_allclose(ranker.scorer_.weights[:, 0], reference.coef_[0], atol=1e-5)
        np.testing.assert_allclose(ranker.predict_proba(X), reference.predict_proba(X.astype(float)), atol=1e-5)


def test_conditions_of_the_optimum():
    """Xᵀ(p − y) = 0 without a penalty; so the mean probability is the base rate."""
    X, y, qid = task()
    ranker = LogisticRegression(alpha=0.0, **EXACT).fit(X, y, qid=qid)
    p = ranker.predict_proba(X)[:, 1]
    np.testing.assert_allclose(X.T @ (p - y), 0.0, atol=2e-4)
    np.testing.assert_allclose(p.mean(), y.mean(), atol=1e-6)


def test_separable_data_need_the_penalty():
    X, y, qid = np.arange(10.0)[:, None], np.arange(10) > 4.5, np.zeros(10)
    lengths = [
        abs(LogisticRegression(alpha=alpha, n_jobs=1).fit(X, y, qid=qid).scorer_.weights[0, 0])
        for alpha in (1.0, 1e-2, 1e-4)
    ]
    assert lengths[0] < lengths[1] < lengths[2] < np.inf


def test_one_group_is_one_stage():
    X, y, qid = task()
    staged = StagedLogistic(groups=[range(4)], alpha=0.0, **EXACT).fit(X, y, qid=qid)
    plain = LogisticRegression(alpha=0.0, **EXACT).fit(X, y, qid=qid)
    np.testing.assert_allclose(staged.predict(X), plain.predict(X), atol=1e-3)


def test_the_second_stage_improves_the_likelihood():
    X, y, qid = task()
    staged = StagedLogistic(alpha=0.0, **EXACT).fit(X, y, qid=qid)
    data = RankingDataset.from_arrays(X, y, qid)
    loss = BinaryLogistic()
    first = np.zeros(y.size)
    for j in range(4):
        part = RankingDataset.from_arrays(X[:, [j]], y, qid)
        scorer = Linear(alpha=0.0, **EXACT).train(loss, part, SilentMonitor())
        first += scorer.predict(part.X, part.offsets)
    second = staged.predict(data)
    assert loss(second, data) < loss(first, data) - 1.0
    # the same order, on another scale
    np.testing.assert_allclose(np.corrcoef(first, second)[0, 1], 1.0, atol=1e-9)
    slope = np.polyfit(first, second, 1)[0]
    assert 0 < slope < 0.9  # the evidence of the doubled feature counts less


def test_refusals():
    X, y, qid = task()
    for cls in (LogisticRegression, StagedLogistic):
        with pytest.raises(ValueError, match="every label is below rel=5"):
            cls(rel=5.0).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="groups contains feature 7"):
        StagedLogistic(groups=[[0, 7]]).fit(X, y, qid=qid)
