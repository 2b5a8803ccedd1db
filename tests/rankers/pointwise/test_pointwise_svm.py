"""The binary SVM: primal and dual meet, and the multipliers say which documents are inside the margin."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.svm import SVC, LinearSVC

from plackett import PlackettWarning
from plackett.rankers.pointwise.kernel_svm import KernelSVM
from plackett.rankers.pointwise.pointwise_svm import PointwiseSVM


def task(n=80):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)).astype(np.float32)
    y = (X @ [1.0, -1.0, 0.0] + rng.normal(0, 0.7, n) > 0.3).astype(float)
    return X, y, np.repeat(np.arange(n // 8), 8)


def dual(X, side, C):
    """Multipliers of the dual by projected coordinate ascent."""
    Z = X * side[:, None]
    alpha, v = np.zeros(side.size), np.zeros(X.shape[1])
    lengths = (Z**2).sum(axis=1)
    for _ in range(800):
        for i in range(side.size):
            new = np.clip(alpha[i] + (1 - Z[i] @ v) / lengths[i], 0, C)
            v += (new - alpha[i]) * Z[i]
            alpha[i] = new
    return alpha, v


def test_primal_and_dual_meet():
    X, y, qid = task()
    side = 2 * y - 1
    for C in (0.1, 2.0):
        ranker = PointwiseSVM(balance=False, C=C, fit_intercept=False, standardize=False, tol=1e-10, max_iter=1_000_000)
        v = ranker.fit(X, y, qid=qid).scorer_.weights[:, 0]
        slack = np.maximum(0, 1 - side * (X.astype(float) @ v))
        primal = 0.5 * v @ v + C * slack.sum()
        alpha, expected = dual(X.astype(float), side, C)
        assert 0 <= primal - (alpha.sum() - 0.5 * expected @ expected) < 1e-6
        np.testing.assert_allclose(v, expected, atol=1e-5)
        # complementary slackness: outside the margin nothing pulls, inside it everything at full price
        margin = side * (X @ v)
        assert (alpha[margin > 1 + 1e-4] == 0).all() and np.allclose(alpha[margin < 1 - 1e-4], C)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_same_weights_as_scikit_learn(sparse):
    X, y, qid = task(400)
    weight = np.random.default_rng(1).uniform(0.0, 2.0, y.size)
    table = csr_array(np.where(np.abs(X) > 0.5, X, 0.0)) if sparse else X
    ranker = PointwiseSVM(C=0.1, balance=False, standardize=False, tol=1e-8, max_iter=100_000)
    ranker.fit(table, y, qid=qid, sample_weight=weight)
    reference = LinearSVC(loss="hinge", C=0.1, tol=1e-8, max_iter=1_000_000).fit(table, y, sample_weight=weight)
    np.testing.assert_allclose(ranker.coef_, reference.coef_[0], atol=1e-6)
    np.testing.assert_allclose(ranker.scorer_.intercept, reference.intercept_, atol=1e-6)


def test_too_few_passes_are_reported():
    X, y, qid = task()
    with pytest.warns(PlackettWarning, match="max_iter=1 passes"):
        PointwiseSVM(C=100.0, max_iter=1).fit(X, y, qid=qid)


def test_weights_are_copies():
    X, y, qid = task()
    weight = np.arange(y.size) % 3 + 1.0
    rows = np.repeat(np.arange(y.size), weight.astype(int))
    exact = {"tol": 1e-9, "max_iter": 1_000_000, "standardize": False}
    one = PointwiseSVM(balance=False, **exact).fit(X, y, qid=qid, sample_weight=weight).predict(X)
    two = PointwiseSVM(balance=False, **exact).fit(X[rows], y[rows], qid=qid[rows]).predict(X)
    np.testing.assert_allclose(one, two, atol=1e-4)


def test_labels_on_one_side_are_refused():
    X, y, qid = task()
    with pytest.raises(ValueError, match="every label is at least rel=0"):
        PointwiseSVM(balance=False, rel=0.0).fit(X, y, qid=qid)


def test_a_linear_kernel_in_the_dual_is_the_primal():
    """Up to the intercept, which LIBLINEAR penalises and LIBSVM does not: with a huge constant it costs nothing."""
    X, y, qid = task()
    dual_scores = KernelSVM(balance=False, kernel="linear", tol=1e-8, standardize=False).fit(X, y, qid=qid).predict(X)
    wide = np.column_stack([X, np.full(y.size, 30.0)]).astype(np.float32)
    exact = {"C": 1.0, "tol": 1e-8, "max_iter": 2_000_000, "standardize": False, "fit_intercept": False}
    primal_scores = PointwiseSVM(balance=False, **exact).fit(wide, y, qid=qid).predict(wide)
    np.testing.assert_allclose(dual_scores, primal_scores, atol=2e-3)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_kernels_against_scikit_learn(kernel):
    X, y, qid = task()
    settings = {"kernel": kernel, "C": 0.5, "gamma": 0.3, "coef0": 0.2, "degree": 2}
    ranker = KernelSVM(balance=False, standardize=False, tol=1e-6, **settings).fit(X, y, qid=qid)
    reference = SVC(tol=1e-6, **settings).fit(X.astype(float), y)
    np.testing.assert_allclose(ranker.predict(X), reference.decision_function(X.astype(float)), atol=1e-4)
    assert (np.abs(ranker.scorer_.weights) <= 0.5 + 1e-12).all()  # 0 ≤ α ≤ C
    np.testing.assert_allclose(ranker.scorer_.weights.sum(), 0.0, atol=1e-9)


def test_unknown_kernel():
    X, y, qid = task()
    with pytest.raises(ValueError, match="kernel='cubic'"):
        KernelSVM(balance=False, kernel="cubic").fit(X, y, qid=qid)


@pytest.mark.filterwarnings("ignore:.*learned nothing")
def test_balance_keeps_the_hinge_from_giving_up():
    """Few relevant documents, not separable: unbalanced, the best hyperplane calls everything irrelevant."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = (X[:, 0] + 2.0 * rng.normal(size=2000) > 3.0).astype(int)
    qid = np.repeat(np.arange(100), 20)
    assert y.mean() < 0.12
    plain, even = (PointwiseSVM(balance=b).fit(X, y, qid=qid) for b in (False, True))
    assert np.abs(plain.scorer_.weights).max() < 0.1 * np.abs(even.scorer_.weights).max()
    assert even.score(X, y, qid=qid) > plain.score(X, y, qid=qid)
