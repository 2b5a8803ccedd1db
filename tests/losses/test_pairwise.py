"""Pair losses: values by hand, RankNet's identities, the factorised gradient, kinks."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from plackett import LossError, Preferences, RankingDataset
from plackett.losses import Exponential, Hinge, Logistic, SquaredHinge

PAIR = RankingDataset.from_arrays(None, [1, 0])
LOSSES = [Logistic(), Exponential(), Hinge(), SquaredHinge()]


@pytest.mark.parametrize("z", [-2.0, 0.0, 0.5, 1.0, 3.0])
def test_one_pair_by_the_formula(z):
    scores = np.array([z, 0.0])
    assert Hinge()(scores, PAIR) == pytest.approx(max(0.0, 1.0 - z))
    assert SquaredHinge()(scores, PAIR) == pytest.approx(max(0.0, 1.0 - z) ** 2)
    assert Exponential()(scores, PAIR) == pytest.approx(np.exp(-z))
    assert Logistic()(scores, PAIR) == pytest.approx(np.log(1.0 + np.exp(-z)))
    assert Logistic(margin=0.5)(scores, PAIR) == pytest.approx(np.log(1.0 + np.exp(0.5 - z)))


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_one_number_per_document_is_the_whole_gradient(loss):
    """Σ over pairs of φ'(Δ)(x_u − x_v) is Xᵀ times the gradient for the scores: back-propagation once per document."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9, 4)), rng.integers(0, 3, 9)
    data = RankingDataset.from_arrays(None, y)
    scores = X @ rng.normal(size=4)
    slope = {
        "Logistic": lambda z: -1 / (1 + np.exp(z)),
        "Exponential": lambda z: -np.exp(-z),
        "Hinge": lambda z: -float(z < 1),
        "SquaredHinge": lambda z: -2 * max(0.0, 1 - z),
    }[loss.name]
    expected = sum(slope(scores[u] - scores[v]) * (X[u] - X[v]) for u in range(9) for v in range(9) if y[u] > y[v])
    np.testing.assert_allclose(X.T @ loss.gradient(scores, data)[0], expected, rtol=1e-10)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_gradients_of_a_query_sum_to_nothing(loss):
    rng = np.random.default_rng(1)
    data = RankingDataset.from_arrays(None, rng.integers(-1, 4, 60), np.repeat(np.arange(6), 10))
    gradient, _ = loss.gradient(rng.normal(0, 2, 60), data)
    assert np.abs(gradient).max() > 0.1
    np.testing.assert_allclose(np.add.reduceat(gradient, data.offsets[:-1]), 0.0, atol=1e-10 * np.abs(gradient).max())


@pytest.mark.parametrize("settings", [{}, {"normalize": True}, {"margin": 0.5, "normalize": True}], ids=str)
@pytest.mark.parametrize("spread", [1.0, 1000.0])
def test_graded_pairs_weigh_the_difference_of_labels(settings, spread):
    """The same pairs as explicit preferences, each with its weight."""
    rng = np.random.default_rng(2)
    y, query = rng.choice([-1.0, 0.0, 1.0, 2.5, 4.0], 40), np.repeat(np.arange(4), 10)
    weights = {"sample_weight": rng.random(40) + 0.1, "query_weight": rng.random(4)}
    pairs = [(u, v) for u in range(40) for v in range(40) if query[u] == query[v] and y[u] > y[v] >= 0]
    preferences = Preferences.from_pairs(pairs, weight=[y[u] - y[v] for u, v in pairs])
    scores = spread * rng.normal(size=40)
    result = Logistic(graded=True, **settings).bind(RankingDataset.from_arrays(None, y, query, **weights))
    expected = Logistic(**settings).bind(RankingDataset.from_arrays(None, y, query, **weights, preferences=preferences))
    for ours, theirs in zip(result.evaluate(scores), expected.evaluate(scores), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def test_ranknet_with_a_target_probability():
    """Target P̄ = 0.7 as two preferences: the minimum is at logit(0.7), and there the loss is the entropy, 0.6109."""
    both = Preferences.from_pairs([(0, 1), (1, 0)], weight=[0.7, 0.3])
    data = RankingDataset.from_arrays(None, None, [1, 1], preferences=both)
    best = np.array([np.log(0.7 / 0.3), 0.0])
    assert Logistic()(best, data) == pytest.approx(-0.7 * np.log(0.7) - 0.3 * np.log(0.3))
    assert Logistic()(best, data) == pytest.approx(0.6109, abs=5e-5)
    np.testing.assert_allclose(Logistic().gradient(best, data)[0], 0.0, atol=1e-15)
    for away in (-0.1, 0.1):
        assert Logistic()(best + np.array([away, 0.0]), data) > Logistic()(best, data)


def test_ranknet_slope_is_probability_minus_target():
    for z in (-3.0, 0.0, 0.4):
        gradient, curvature = Logistic().gradient(np.array([z, 0.0]), PAIR)
        p = 1 / (1 + np.exp(-z))
        np.testing.assert_allclose(gradient, [p - 1, 1 - p])
        np.testing.assert_allclose(curvature, p * (1 - p))


@pytest.mark.parametrize("gap", [700.0, 710.0, 1500.0, 1e6])
def test_ranknet_far_out(gap):
    """log(1 + e^|Δ|) is |Δ| to all digits there, and the slope is 1; on the other side both vanish."""
    wrong, right = np.array([0.0, gap]), np.array([gap, 0.0])
    assert Logistic()(wrong, PAIR) == gap
    np.testing.assert_array_equal(Logistic().gradient(wrong, PAIR)[0], [-1.0, 1.0])
    assert Logistic()(right, PAIR) < 1e-300
    np.testing.assert_allclose(Logistic().gradient(right, PAIR)[0], 0.0, atol=1e-300)


@pytest.mark.parametrize("gap", [5.0, 40.0, 100.0, 500.0])
def test_small_gradients_keep_their_digits(gap):
    """The slope of a pair that is right by far is e^−gap, and not the rounding error of 1 − 1."""
    gradient, _ = Logistic().gradient(np.array([gap, 0.0]), PAIR)
    np.testing.assert_allclose(gradient, np.array([-1, 1]) / (1 + np.exp(gap)), rtol=1e-13)


def test_logistic_bounds_the_misordered_pairs():
    rng = np.random.default_rng(2)
    y, scores = rng.integers(0, 3, 30), rng.normal(size=30)
    wrong = sum(scores[u] < scores[v] for u in range(30) for v in range(30) if y[u] > y[v])
    assert Logistic()(scores, RankingDataset.from_arrays(None, y)) / np.log(2) >= wrong


@pytest.mark.parametrize("n", [3, 7, 11])
def test_hinge_at_the_kink(n):
    """Whole-number scores meet the margin exactly: the slope there is 0, whatever the mean of the scores rounds to."""
    scores = np.arange(n, dtype=float)[::-1]  # neighbours are apart by the margin
    data = RankingDataset.from_arrays(None, np.arange(n)[::-1])
    for shift in (0.0, 1 / 3, 1e6):
        assert Hinge()(scores, data) == 0.0
        gradient, curvature = Hinge().gradient(np.floor(scores + shift), data)
        np.testing.assert_array_equal(gradient, 0.0)
        np.testing.assert_array_equal(curvature, 0.0)


def test_hinge_is_not_smooth_and_the_squared_hinge_is():
    def jump(loss):
        return np.abs(np.diff([loss.gradient(np.array([1 + e, 0.0]), PAIR)[0] for e in (-1e-9, 1e-9)], axis=0)).max()

    assert jump(Hinge()) == 1.0
    assert jump(SquaredHinge()) < 1e-8


def test_hinge_with_a_grade_for_each_document():
    """As many grades as documents, several hundred: the sorted sweep against all pairs at once."""
    rng = np.random.default_rng(3)
    n = 400
    y, scores = rng.permutation(n).astype(float), rng.normal(size=n)
    data = RankingDataset.from_arrays(None, y)
    miss = np.maximum(0.0, 1.0 - (scores[:, None] - scores[None, :])) * (y[:, None] > y[None, :])
    assert Hinge()(scores, data) == pytest.approx(miss.sum(), rel=1e-12)
    assert SquaredHinge()(scores, data) == pytest.approx((miss**2).sum(), rel=1e-12)
    np.testing.assert_array_equal(Hinge().gradient(scores, data)[0], (miss > 0).sum(axis=0) - (miss > 0).sum(axis=1))


def test_exponential_counts_far_scores_as_300_away():
    data = RankingDataset.from_arrays(None, [1, 0])
    assert Exponential()(np.array([-5e3, 5e3]), data) == pytest.approx(np.exp(600.0))


def test_labels_or_preferences():
    with pytest.raises(LossError, match="neither"):
        Logistic().bind(RankingDataset.from_arrays(None, None, [1, 1]))


def test_preferences_count_instead_of_labels():
    labelled = RankingDataset.from_arrays(None, [1, 0, 2])
    turned = dataclasses.replace(labelled, preferences=Preferences.from_pairs([(1, 0)]))
    scores = np.array([3.0, 1.0, 0.0])
    assert Hinge()(scores, turned) == pytest.approx(1 + 2)
    np.testing.assert_array_equal(Hinge().gradient(scores, turned)[0], [1, -1, 0])
