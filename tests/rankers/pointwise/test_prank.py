"""PRank, its average and the Bayes point machine: plain loops, the mistake bound, the inherent loss."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from plackett import RankingDataset
from plackett.data.canonical import canonical_order
from plackett.losses.pointwise.prank_loss import PRankLoss
from plackett.rankers.pointwise._perceptrons import _shuffle, step
from plackett.rankers.pointwise.averaged_prank import AveragedPRank
from plackett.rankers.pointwise.bayes_point_machine import BayesPointMachine
from plackett.rankers.pointwise.prank import PRank


def separable(seed=0, n=120, n_features=3, gap=0.15):
    """Grades cut out of a line; nothing within ``gap`` of a cut. The unit vector (w, b) and its margin come along."""
    rng = np.random.default_rng(seed)
    w, b = np.array([2.0, -1.0, 0.5][:n_features]), np.array([-1.0, 0.5, 2.0])
    X = rng.normal(size=(4 * n, n_features)).astype(np.float32)
    X = X[np.abs((X @ w)[:, None] - b).min(axis=1) > gap][:n]
    length = np.sqrt(w @ w + b @ b)
    margin = np.abs((X.astype(float) @ w)[:, None] - b).min() / length
    return X, np.searchsorted(b, X @ w).astype(float), np.repeat(np.arange(n // 8), 8), margin


def prank(X, grades, n_grades, w=None, b=None):
    """The algorithm as printed, corrected: one pass, one document after another; grades count from 0."""
    w = np.zeros(X.shape[1]) if w is None else w
    b = np.zeros(n_grades - 1) if b is None else b
    missed = 0
    for x, grade in zip(X, grades, strict=True):
        z = w @ x
        result = next((k for k in range(n_grades - 1) if z - b[k] < 0), n_grades - 1)
        missed += abs(result - grade)
        if result != grade:
            sides = np.where(grade > np.arange(n_grades - 1), 1.0, -1.0)
            tau = np.where(sides * (z - b) <= 0, sides, 0.0)
            w, b = w + tau.sum() * x, b - tau
    return w, b, missed


def orders(data, ranker, n_passes):
    """The order of the documents in each pass, as the seed decides it."""
    from plackett._kernels.randomness import mix

    seed = np.random.default_rng(ranker.random_state).integers(2**63, size=1).astype(np.uint64)[0]
    for turn in range(n_passes):
        order = np.empty(data.n_rows, np.int64)
        _shuffle(order, np.uint64(mix(seed ^ np.uint64(mix(np.uint64(turn))))))
        assert sorted(order) == list(range(data.n_rows))
        yield order


@pytest.mark.parametrize("sparse", [False, True])
def test_passes_against_a_plain_loop(sparse):
    X, y, qid, _ = separable(gap=0.0)
    y = np.where(np.arange(y.size) % 7 == 0, 3 - y, y)  # not separable
    data = canonical_order(RankingDataset.from_arrays(csr_matrix(X) if sparse else X, y, qid))
    ranker = PRank(max_iter=3, standardize=False).fit(data)
    rows = data.X.toarray() if sparse else data.X
    w, b, total = None, None, 0
    for order in orders(data, ranker, 3):
        w, b, missed = prank(rows[order].astype(float), data.y[order], 4, w, b)
        total += missed
    np.testing.assert_allclose(ranker.scorer_.weights, w, rtol=1e-10)
    np.testing.assert_array_equal(ranker.thresholds_, b)
    assert ranker.rank_loss_ == total


@pytest.mark.parametrize("sparse", [False, True])
def test_standardised_passes_are_those_over_centred_features(sparse):
    """A plain loop over features of mean 0 and deviation 1; the thresholds are for the features as they are."""
    X, y, qid, _ = separable(gap=0.0)
    y = np.where(np.arange(y.size) % 7 == 0, 3 - y, y)
    X = (X * [1.0, 5.0, 0.2] + [100.0, 0.0, -3.0]).astype(np.float32)
    data = canonical_order(RankingDataset.from_arrays(csr_matrix(X) if sparse else X, y, qid))
    ranker = PRank(max_iter=3).fit(data)
    rows = (data.X.toarray() if sparse else data.X).astype(float)
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    w, b = None, None
    for order in orders(data, ranker, 3):
        w, b, _ = prank((rows[order] - mean) / deviation, data.y[order], 4, w, b)
    np.testing.assert_allclose(ranker.scorer_.weights, w / deviation, rtol=1e-8)
    np.testing.assert_allclose(ranker.thresholds_, b + mean @ (w / deviation), rtol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_mistake_bound(seed):
    """Ranks missed over all passes, until there are none: at most (K − 1)(R² + 1)/γ²."""
    X, y, qid, margin = separable(seed)
    ranker = PRank(max_iter=10_000, standardize=False).fit(X, y, qid=qid)
    assert ranker.mistakes_[-1] == 0
    np.testing.assert_array_equal(ranker.predict_label(X), y)
    longest = (X.astype(float) ** 2).sum(axis=1).max()
    assert 0 < ranker.rank_loss_ <= 3 * (longest + 1) / margin**2


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(-30, 30)), max_size=80), st.sampled_from([0.0, 0.5, 7.0]))
def test_thresholds_stay_in_order(stream, margin):
    """Whatever scores and grades come; with a margin too."""
    b = np.zeros(4)
    for grade, score in stream:
        step(grade, score, margin, b)
        assert (np.diff(b) >= 0).all()


def test_two_grades_are_the_perceptron_with_a_bias():
    X, y, qid, _ = separable(gap=0.0)
    data = canonical_order(RankingDataset.from_arrays(X, (y > 1).astype(float), qid))
    ranker = PRank(max_iter=1, standardize=False).fit(data)
    v = np.zeros(4)
    for row in next(orders(data, ranker, 1)):
        x, side = np.append(data.X[row].astype(float), -1.0), 2 * data.y[row] - 1
        if (v @ x >= 0) != (side > 0):
            v += side * x
    np.testing.assert_allclose(np.append(ranker.scorer_.weights, ranker.thresholds_), v, rtol=1e-12)


@given(st.integers(0, 3), st.floats(-5, 5), st.lists(st.floats(-4, 4), min_size=3, max_size=3))
def test_a_step_is_minus_the_subgradient_of_the_loss(grade, score, thresholds):
    """Exercise 2.6: for the score from the loss's own gradient, for thresholds from its values."""
    b = np.sort(thresholds)
    if np.abs(score - b).min() < 1e-3:
        return  # at a kink there are many subgradients
    data = RankingDataset.from_arrays(None, [grade], [1])

    def loss(b, s=score):
        return PRankLoss(cuts=(0.5, 1.5, 2.5), thresholds=tuple(b))([s], data)

    moved = b.copy()
    add, _, _ = step(grade, score, 0.0, moved)
    gradient, _ = PRankLoss(cuts=(0.5, 1.5, 2.5), thresholds=tuple(b)).gradient([score], data)
    assert add == -gradient[0]
    eps = 1e-4
    slope = [(loss(b + eps * e) - loss(b - eps * e)) / (2 * eps) for e in np.eye(3)]
    np.testing.assert_allclose(moved - b, -np.array(slope), atol=1e-6)


def test_the_subgradient_at_a_kink():
    """At a threshold the loss gives −y_r: what PRank takes there, once the grade was missed."""
    data = RankingDataset.from_arrays(None, [2], [1])
    gradient, _ = PRankLoss(cuts=(0.5, 1.5), thresholds=(0.0, 0.0)).gradient([0.0], data)
    assert gradient[0] == -2.0


def test_margin():
    """A document that is right, but not by the margin, moves the threshold; without a margin it does not."""
    b = np.zeros(1)
    assert step(1, 0.5, 0.0, b) == (0.0, 0, 0) and b[0] == 0.0
    assert step(1, 0.5, 1.0, b) == (1.0, 0, 1) and b[0] == -1.0


# ------------------------------------------------------------------------------------------------------------ average


def test_one_model_that_sees_everything_is_prank():
    X, y, qid, _ = separable(gap=0.0)
    one = PRank(max_iter=4).fit(X, y, qid=qid)
    two = AveragedPRank(n_models=1, sampling_rate=1.0, max_iter=4, margin=0.0).fit(X, y, qid=qid)
    np.testing.assert_array_equal(one.scorer_.weights, two.scorer_.weights)
    np.testing.assert_array_equal(one.thresholds_, two.thresholds_)


def noisy(seed=0):
    X, y, qid, _ = separable(seed, n=400, gap=0.0)
    rng = np.random.default_rng(seed)
    return X, np.clip(y + rng.integers(-1, 2, y.size), 0, 3), qid


def test_the_average_varies_less_and_stays_in_order():
    X, y, qid = noisy()
    truth = np.array([2.0, -1.0, 0.5])

    def spread_of(make):
        result = []
        for seed in range(12):
            ranker = make(random_state=seed).fit(X, y, qid=qid)
            assert (np.diff(ranker.thresholds_) >= 0).all()
            w = ranker.scorer_.weights
            result.append(w @ truth / np.linalg.norm(w) / np.linalg.norm(truth))
        return np.std(result), np.mean(result)

    single = spread_of(lambda **k: PRank(max_iter=5, **k))
    average = spread_of(lambda **k: AveragedPRank(max_iter=5, **k))
    assert average[0] < 0.5 * single[0] and average[1] > single[1]


def test_sampling_rate_is_how_much_a_model_sees():
    """Labels that no order agrees with are missed about as often as they are seen."""
    X, y, qid = noisy()
    settings = {"n_models": 20, "max_iter": 1}
    seen = [AveragedPRank(sampling_rate=r, **settings).fit(X, y, qid=qid).mistakes_[0] for r in (0.25, 1.0)]
    assert 0.2 < seen[0] / seen[1] < 0.35


def test_weights_are_how_often_a_document_comes():
    X, y, qid, _ = separable()
    wrong = np.arange(y.size) % 5 == 0
    ranker = PRank(max_iter=1000).fit(X, np.where(wrong, 3 - y, y), qid=qid, sample_weight=np.where(wrong, 0.0, 2.5))
    np.testing.assert_array_equal(ranker.predict_label(X[~wrong]), y[~wrong])


# --------------------------------------------------------------------------------------------------------- Bayes point


def test_the_bayes_point_lies_in_version_space():
    X, y, qid, _ = separable()
    ranker = BayesPointMachine(max_iter=3000, n_models=12).fit(X, y, qid=qid)
    assert ranker.mistakes_[-1] == 0  # every perceptron is in it
    np.testing.assert_array_equal(ranker.predict_label(X), y)


def test_the_bayes_point_is_nearer_to_the_truth_than_a_perceptron():
    truth = np.array([2.0, -1.0, 0.5])
    angles = {PRank: [], BayesPointMachine: []}
    for seed in range(6):
        X, y, qid, _ = separable(seed, n=64)
        for make, result in angles.items():
            w = make(max_iter=3000, standardize=False).fit(X, y, qid=qid).scorer_.weights
            result.append(1 - w @ truth / np.linalg.norm(w) / np.linalg.norm(truth))
    assert np.mean(angles[BayesPointMachine]) < np.mean(angles[PRank])


@pytest.mark.parametrize("make", [PRank, AveragedPRank, BayesPointMachine])
def test_refusals(make):
    X = np.arange(300.0)[:, None]
    with pytest.raises(ValueError, match="300 different labels"):
        make().fit(X, np.arange(300.0), qid=np.zeros(300))
    with pytest.raises(ValueError, match="margin=-1.0; give a number of 0 or more"):
        make(margin=-1.0).fit(X[:4], [0, 1, 2, 1], qid=np.zeros(4))
