"""Ordinal support vector machines against a general solver, against the threshold losses, and by their properties."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import SVC

from plackett import RankingDataset
from plackett.losses.pointwise.all_threshold import AllThresholdLoss
from plackett.losses.pointwise.immediate_threshold import ImmediateThresholdLoss
from plackett.rankers.pointwise.fixed_margin_svm import FixedMarginSVM
from plackett.rankers.pointwise.sum_of_margins_svm import SumOfMarginsSVM
from plackett.rankers.pointwise.svor_explicit import SVORExplicit
from plackett.rankers.pointwise.svor_implicit import SVORImplicit

PLAIN = {"balance": False, "standardize": False, "n_jobs": 1}


def task(seed=0, n=24, n_features=2, cuts=(-0.6, 0.5), noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)).astype(np.float32)
    y = np.digitize(X[:, 0] - 0.5 * X[:, 1] + rng.normal(0, noise, n), cuts).astype(float)
    return X, y, np.repeat(np.arange(n // 6), 6)


def hinges(y, form):
    """Row, threshold and side of each term, by the definition."""
    for j, label in enumerate(y.astype(int)):
        for k in range(int(y.max())):
            if form is SVORImplicit or label in (k, k + 1):
                yield j, k, 1.0 if label > k else -1.0


def generic(X, y, C, form, ordered):
    """Optimum of the quadratic program with slack variables, by SciPy."""
    terms = list(hinges(y, form))
    d, p, n = X.shape[1], int(y.max()), len(terms)
    table = np.zeros((n, d + p + n))
    for t, (j, k, side) in enumerate(terms):
        table[t, :d], table[t, d + k], table[t, d + p + t] = side * X[j], -side, 1.0
    rows = [table, np.eye(d + p + n)[d + p :]]
    right = [np.ones(n), np.zeros(n)]
    if ordered and p > 1:
        rows.append(np.diff(np.eye(d + p + n), axis=0)[d : d + p - 1])
        right.append(np.zeros(p - 1))
    rows, right = np.vstack(rows), np.concatenate(right)
    linear = np.concatenate([np.zeros(d + p), np.full(n, C)])
    start = np.concatenate([np.zeros(d), np.arange(p), np.full(n, p + 2.0)])
    result = minimize(
        lambda v: 0.5 * v[:d] @ v[:d] + linear @ v,
        start,
        jac=lambda v: np.concatenate([v[:d], np.zeros(p + n)]) + linear,
        constraints={"type": "ineq", "fun": lambda v: rows @ v - right, "jac": lambda v: rows},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )  # where it stops short of the optimum the values differ
    return result.fun, result.x[:d], result.x[d : d + p]


@pytest.mark.parametrize("form", [FixedMarginSVM, SVORExplicit, SVORImplicit])
@pytest.mark.parametrize(("seed", "C"), [(0, 0.1), (1, 1.0), (2, 30.0)])
def test_against_a_general_solver(form, seed, C):
    X, y, qid = task(seed)
    ranker = form(C=C, tol=1e-10, **PLAIN).fit(X, y, qid=qid)
    value, weights, _ = generic(X.astype(float), y, C, form, ordered=form is SVORExplicit)
    assert 0 <= ranker.gap_ <= 1e-9
    np.testing.assert_allclose(ranker.objective_, value, rtol=1e-6)
    np.testing.assert_allclose(ranker.scorer_.weights[:, 0], weights, atol=1e-4)


@pytest.mark.parametrize(("form", "loss"), [(FixedMarginSVM, ImmediateThresholdLoss), (SVORImplicit, AllThresholdLoss)])
def test_the_objective_is_that_of_the_threshold_loss(form, loss):
    """½‖w‖² + C times the hinge loss of the scores with the best thresholds, and with those found."""
    X, y, qid = task(n=120, n_features=4, cuts=(-1.0, 0.3, 1.0))
    data = RankingDataset.from_arrays(X, y, qid)
    ranker = form(C=0.3, tol=1e-9, **PLAIN).fit(X, y, qid=qid)
    scores, weights = ranker.predict(data), ranker.scorer_.weights[:, 0]
    for thresholds in ("learned", tuple(ranker.thresholds_)):
        value = 0.5 * weights @ weights + 0.3 * loss(penalty="hinge", thresholds=thresholds)(scores, data)
        np.testing.assert_allclose(ranker.objective_, value, rtol=1e-7)


@pytest.mark.parametrize("seed", range(12))
def test_implicit_thresholds_are_in_order(seed):
    """With labels that have nothing to do with the features, unequal weights, and few documents of some grades."""
    rng = np.random.default_rng(seed)
    X, qid = rng.normal(size=(60, 3)), np.repeat(np.arange(6), 10)
    y = rng.choice(5, 60, p=[0.5, 0.05, 0.3, 0.05, 0.1])
    weight = rng.uniform(0.1, 3.0, 60)
    ranker = SVORImplicit(C=10.0 ** rng.uniform(-2, 1), tol=1e-9, **PLAIN).fit(X, y, qid=qid, sample_weight=weight)
    assert (np.diff(ranker.thresholds_) >= -1e-4).all()


@pytest.mark.parametrize("seed", range(4))
def test_thresholds_are_held_in_order_where_sides_are_balanced(seed):
    rng = np.random.default_rng(seed)
    X, qid = rng.normal(size=(60, 3)), np.repeat(np.arange(6), 10)
    y = rng.choice(5, 60, p=[0.5, 0.05, 0.3, 0.05, 0.1])
    for form in (SVORImplicit, SVORExplicit):
        assert (np.diff(form(C=1.0, n_jobs=1).fit(X, y, qid=qid).thresholds_) >= 0).all()


@pytest.mark.parametrize("form", [FixedMarginSVM, SVORExplicit, SVORImplicit, SumOfMarginsSVM])
def test_the_gap_is_honest_where_the_solver_ends_early(form):
    X, y, qid = task(n=90, noise=0.3)
    settings = PLAIN if form is not SumOfMarginsSVM else PLAIN | {"nu": 0.7}
    best = form(tol=1e-9, **settings).fit(X, y, qid=qid).objective_
    for tol in (0.3, 1e-2):
        early = form(tol=tol, **settings).fit(X, y, qid=qid)
        share = 1.0 if form is SumOfMarginsSVM else early.objective_
        assert early.objective_ - early.gap_ * share <= best + 1e-9 <= early.objective_ + 2e-9


def crossed():
    """Grades 0, 1, 2 of which the middle one contradicts the others: thresholds that cross fit it best."""
    X = np.array([[0.0]] * 10 + [[6.0]] * 1 + [[3.0]] * 10 + [[0.5]])
    y = np.array([0] * 10 + [1] * 1 + [2] * 10 + [1])
    return X, y, np.zeros(y.size, int)


def test_explicit_constraints_where_they_matter():
    X, y, qid = crossed()
    free = FixedMarginSVM(C=1.0, tol=1e-9, **PLAIN).fit(X, y, qid=qid)
    held = SVORExplicit(C=1.0, tol=1e-9, **PLAIN).fit(X, y, qid=qid)
    assert free.thresholds_[0] > free.thresholds_[1] + 0.1  # the data set does what it was made for
    assert held.thresholds_[0] <= held.thresholds_[1]
    assert held.objective_ > free.objective_ * (1 + 1e-4)
    value, weights, thresholds = generic(X, y.astype(float), 1.0, SVORExplicit, ordered=True)
    np.testing.assert_allclose(held.objective_, value, rtol=1e-6)
    np.testing.assert_allclose(held.scorer_.weights[:, 0], weights, atol=1e-4)
    np.testing.assert_allclose(held.thresholds_, thresholds, atol=1e-3)


def test_explicit_is_fixed_margin_where_thresholds_are_in_order():
    X, y, qid = task(n=90, noise=0.2)
    free, held = (form(C=1.0, tol=1e-10, **PLAIN).fit(X, y, qid=qid) for form in (FixedMarginSVM, SVORExplicit))
    assert free.thresholds_[1] - free.thresholds_[0] > 0.1
    np.testing.assert_allclose(held.scorer_.weights, free.scorer_.weights, atol=1e-4)


@pytest.mark.parametrize("form", [FixedMarginSVM, SVORExplicit, SVORImplicit])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_two_grades_are_the_binary_machine(form, kernel):
    """LIBSVM's, whose intercept is minus the threshold."""
    X, y, qid = task(n=60, cuts=(0.1,))
    settings = {"kernel": kernel, "C": 0.7, "gamma": 0.4, "coef0": 0.5, "degree": 2}
    ranker = form(tol=1e-9, **settings, **PLAIN).fit(X, y, qid=qid)
    machine = SVC(tol=1e-8, **settings).fit(X.astype(float), y)
    expected = machine.decision_function(X.astype(float))
    np.testing.assert_allclose(ranker.predict(X) - ranker.thresholds_[0], expected, atol=2e-4)


def test_a_linear_kernel_is_the_linear_machine():
    X, y, qid = task(n=60)
    linear = SVORImplicit(C=0.5, tol=1e-9, **PLAIN).fit(X, y, qid=qid)
    dual = SVORImplicit(C=0.5, kernel="poly", gamma=1.0, degree=1, tol=1e-9, **PLAIN).fit(X, y, qid=qid)
    np.testing.assert_allclose(dual.predict(X), linear.predict(X), atol=1e-4)


# ----------------------------------------------------------------------------------------------------- sum of margins


def generic_margins(X, y, prices):
    """Optimum of the quadratically constrained program, by SciPy."""
    d, p = X.shape[1], int(y.max())
    terms = [(j, 2 * k, -1.0) for j, k in enumerate(y.astype(int)) if k < p]
    terms += [(j, 2 * k - 1, 1.0) for j, k in enumerate(y.astype(int)) if k > 0]
    n = len(terms)
    size = d + 2 * p + n
    table = np.zeros((n, size))
    for t, (j, k, side) in enumerate(terms):
        table[t, :d], table[t, d + k], table[t, d + 2 * p + t] = side * X[j], -side, 1.0
    rows = np.vstack([table, np.eye(size)[d + 2 * p :], np.diff(np.eye(size), axis=0)[d : d + 2 * p - 1]])
    linear = np.concatenate([np.zeros(d), np.tile([1.0, -1.0], p), [prices[j] for j, _, _ in terms]])
    start = np.concatenate([np.full(d, 0.1), np.zeros(2 * p), np.full(n, 2.0)])
    result = minimize(
        lambda v: linear @ v,
        start,
        jac=lambda v: linear,
        constraints=[
            {"type": "ineq", "fun": lambda v: rows @ v, "jac": lambda v: rows},
            {
                "type": "ineq",
                "fun": lambda v: 1.0 - v[:d] @ v[:d],
                "jac": lambda v: np.append(-2.0 * v[:d], np.zeros(size - d)),
            },
        ],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )  # where it stops short of the optimum the values differ
    return result.fun, result.x[:d], result.x[d : d + 2 * p]


@pytest.mark.parametrize("seed", range(3))
def test_sum_of_margins_against_a_general_solver(seed):
    X, y, qid = task(seed, noise=0.05)
    for settings, prices in (
        ({"C": 0.4}, np.full(y.size, 0.4)),
        ({"nu": 0.7}, 1.0 / (0.7 * np.bincount(y.astype(int))[y.astype(int)])),
    ):
        ranker = SumOfMarginsSVM(tol=1e-10, **settings, **PLAIN).fit(X, y, qid=qid)
        value, weights, _ = generic_margins(X.astype(float), y, prices)
        assert value < -1e-3  # there is a margin
        assert 0 <= ranker.gap_ <= 1e-6
        np.testing.assert_allclose(ranker.objective_, value, rtol=1e-5)
        np.testing.assert_allclose(ranker.scorer_.weights[:, 0], weights, atol=1e-4)
        assert (np.diff(ranker.thresholds_) >= -1e-9).all()


@pytest.mark.parametrize("nu", [0.4, 0.7, 0.95])
def test_balanced_ends_of_a_margin_against_a_general_solver(nu):
    """With nu the ends weigh the same already; with C the mean of both, here of two grades of unequal size."""
    X, y, qid = task(1, noise=0.05)
    plain = PLAIN | {"balance": True, "tol": 1e-10}
    ranker = SumOfMarginsSVM(nu=nu, **plain).fit(X, y, qid=qid)
    value, _, _ = generic_margins(X.astype(float), y, 1.0 / (nu * np.bincount(y.astype(int))[y.astype(int)]))
    assert ranker.gap_ <= 1e-6
    np.testing.assert_allclose(ranker.objective_, value, rtol=1e-5, atol=1e-7)
    X, y, qid = task(2, n=30, cuts=(0.4,), noise=0.05)
    n = np.bincount(y.astype(int))
    assert n[0] != n[1]
    ranker = SumOfMarginsSVM(C=nu, **plain).fit(X, y, qid=qid)
    value, _, _ = generic_margins(X.astype(float), y, nu * 0.5 * n.sum() / n[y.astype(int)])
    assert value < -1e-3 and ranker.gap_ <= 1e-6
    np.testing.assert_allclose(ranker.objective_, value, rtol=1e-5)


def test_separable_grades_have_the_gaps_between_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.digitize(X[:, 0], [-0.4, 0.6])
    X[:, 0] += 1.5 * y
    ranker = SumOfMarginsSVM(C=100.0, tol=1e-10, **PLAIN).fit(X, y, qid=np.repeat(np.arange(6), 10))
    weights = ranker.scorer_.weights[:, 0]
    np.testing.assert_allclose(np.linalg.norm(weights), 1.0, rtol=1e-9)
    scores = X.astype(np.float32) @ weights
    expected = [f(scores[y == k]) for k in (0, 1) for k, f in ((k, np.max), (k + 1, np.min))]
    np.testing.assert_allclose(ranker.thresholds_, expected, atol=1e-5)
    np.testing.assert_allclose(ranker.objective_, expected[0] - expected[1] + expected[2] - expected[3], atol=1e-5)


@pytest.mark.filterwarnings("ignore:SumOfMarginsSVM learned nothing")
def test_grades_that_overlap_have_no_margin_at_a_high_price():
    rng = np.random.default_rng(0)
    X, y, qid = rng.normal(size=(200, 2)), np.arange(200) % 3, np.repeat(np.arange(20), 10)
    for C in (10.0, 1e3):
        ranker = SumOfMarginsSVM(C=C, **PLAIN).fit(X, y, qid=qid)
        assert (ranker.scorer_.weights == 0).all() and ranker.objective_ == 0
        assert ranker.gap_ < 1e-3  # no direction does better
    two = SumOfMarginsSVM(**PLAIN).fit(X, y > 0, qid=qid)
    assert two.objective_ < 0  # a price is found at which there is one


def test_almost_all_inside_the_margin_is_the_difference_of_means():
    X, y, qid = task(n=120, cuts=(0.1,))
    weights = SumOfMarginsSVM(nu=0.9999, **PLAIN).fit(X, y, qid=qid).scorer_.weights[:, 0]
    between = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    np.testing.assert_allclose(weights, between / np.linalg.norm(between), atol=1e-3)


# --------------------------------------------------------------------------------------------------- weights and rules


@pytest.mark.parametrize("form", [FixedMarginSVM, SVORExplicit, SVORImplicit, SumOfMarginsSVM])
def test_weights_are_copies(form):
    X, y, qid = task(n=60)
    weight = np.arange(y.size) % 3 + 1.0
    rows = np.repeat(np.arange(y.size), weight.astype(int))
    for balance in (False, True):
        settings = {"tol": 1e-9, "standardize": False, "balance": balance, "n_jobs": 1}
        if form is SumOfMarginsSVM:  # a share as near to 1 as the default is hard to solve to nine digits
            settings["nu"] = 0.6
        one = form(**settings).fit(X, y, qid=qid, sample_weight=weight).predict(X)
        two = form(**settings).fit(X[rows], y[rows], qid=qid[rows]).predict(X)
        np.testing.assert_allclose(one, two, atol=1e-4)


@pytest.mark.parametrize("form", [FixedMarginSVM, SVORExplicit, SVORImplicit, SumOfMarginsSVM])
def test_only_the_order_of_labels_counts(form):
    X, y, qid = task(n=60)
    expected = form(n_jobs=1).fit(X, y, qid=qid)
    ranker = form(n_jobs=1).fit(X, np.array([0.5, 0.7, 31.0])[y.astype(int)], qid=qid)
    np.testing.assert_allclose(ranker.predict(X), expected.predict(X), rtol=1e-9)
    assert ranker.grades_.tolist() == [0.5, 0.7, 31.0]
    one = form(n_jobs=1).fit(X, np.where(y > 0, -1.0, 0.0), qid=qid)  # one grade, the others unjudged
    assert (one.predict(X) == 0).all() and one.thresholds_.size == 0
    unjudged = form(n_jobs=1).fit(np.vstack([X, X[:6]]), np.append(y, [-1.0] * 6), qid=np.append(qid, [99] * 6))
    assert unjudged.thresholds_.size == expected.thresholds_.size


@pytest.mark.parametrize(
    ("ranker", "match"),
    [
        (SVORImplicit(kernel="cubic"), "kernel='cubic'"),
        (FixedMarginSVM(C=0.0), "C=0.0"),
        (SVORExplicit(tol=-1.0), "tol=-1.0"),
        (SumOfMarginsSVM(nu=1.0), "nu=1.0"),
        (SumOfMarginsSVM(nu=0.5, C=1.0), "nu=0.5, C=1.0"),
        (SumOfMarginsSVM(C=0.001), "lowest or highest label is not above 1"),
    ],
)
def test_refusals(ranker, match):
    X, y, qid = task()
    with pytest.raises(ValueError, match=match):
        ranker.fit(X, y, qid=qid)


def test_too_much_is_refused():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 1))
    with pytest.raises(ValueError, match="5000 different labels"):
        FixedMarginSVM().fit(X, np.arange(5000), qid=np.zeros(5000, int))
    with pytest.raises(ValueError, match="5000 are too many"):
        SVORImplicit(kernel="rbf").fit(X, np.arange(5000) % 2, qid=np.zeros(5000, int))
    with pytest.raises(ValueError, match="8193 columns"):
        SVORImplicit().fit(rng.normal(size=(4, 8193)), [0, 1, 0, 1], qid=[1, 1, 1, 1])


@pytest.mark.parametrize("form", [FixedMarginSVM, SVORExplicit, SVORImplicit, SumOfMarginsSVM])
def test_a_large_constant_feature_does_no_harm(form):
    """The thresholds take up any shift: the solution is that without the feature, on the shifted scale."""
    X, y, qid = task(n=90, noise=0.3)
    high = np.hstack([X + 100.0, np.full((90, 1), 3e6)])
    nu = {"nu": 0.75} if form is SumOfMarginsSVM else {}
    plain, moved = (form(tol=1e-9, n_jobs=1, **nu).fit(table, y, qid=qid) for table in (X, high))
    np.testing.assert_allclose(moved.objective_, plain.objective_, rtol=1e-4)
    np.testing.assert_allclose(moved.scorer_.weights[:-1], plain.scorer_.weights, atol=1e-3)
    shift = 100.0 * moved.scorer_.weights[:-1].sum() + 3e6 * moved.scorer_.weights[-1, 0]
    np.testing.assert_allclose(moved.thresholds_ - shift, plain.thresholds_, atol=1e-2)


@pytest.mark.parametrize("form", [FixedMarginSVM, SVORExplicit, SVORImplicit])
def test_prices_near_nothing(form):
    """At C → 0 the weights are C times a sum over documents, and both sides of a threshold lose all of their margin."""
    X, y, qid = task(n=90)
    small = form(C=1e-14, n_jobs=1).fit(X, y, qid=qid)
    assert small.gap_ <= small.tol
    larger = form(C=1e-10, n_jobs=1, tol=1e-9).fit(X, y, qid=qid)
    np.testing.assert_allclose(small.objective_, 1e-4 * larger.objective_, rtol=1e-5)
