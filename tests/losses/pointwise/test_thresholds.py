"""Threshold losses: grades by counting thresholds, special cases, and thresholds that are learned along."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from plackett import RankingDataset
from plackett._base.errors import LossError
from plackett.losses.pointwise.all_threshold import AllThresholdLoss
from plackett.losses.pointwise.binary_hinge import BinaryHinge
from plackett.losses.pointwise.binary_logistic import BinaryLogistic
from plackett.losses.pointwise.immediate_threshold import ImmediateThresholdLoss
from plackett.losses.pointwise.penalties import PENALTIES

BOTH = pytest.mark.parametrize("cls", [ImmediateThresholdLoss, AllThresholdLoss])


def graded(rng, n=40, grades=4):
    return RankingDataset.from_arrays(None, rng.integers(0, grades, n) * 1.0, np.zeros(n, int))


@BOTH
@pytest.mark.parametrize("penalty", PENALTIES)
def test_gradient_and_curvature(cls, penalty):
    rng = np.random.default_rng(0)
    data, scores = graded(rng, 15), rng.normal(0, 1.3, 15)
    loss = cls(penalty=penalty)
    gradient, curvature = loss.gradient(scores, data)
    for i in range(15):
        step = 1e-5 * np.eye(15)[i]
        np.testing.assert_allclose(
            gradient[i], (loss(scores + step, data) - loss(scores - step, data)) / 2e-5, rtol=1e-6, atol=1e-7
        )
        if loss.curvature == "exact":
            change = loss.gradient(scores + step, data)[0][i] - loss.gradient(scores - step, data)[0][i]
            np.testing.assert_allclose(curvature[i], change / 2e-5, rtol=1e-6, atol=1e-7)


def test_two_grades_are_one_threshold():
    rng = np.random.default_rng(1)
    data, scores = graded(rng, grades=2), rng.normal(size=40)
    for penalty, binary in (("logistic", BinaryLogistic()), ("hinge", BinaryHinge())):
        values = [cls(penalty=penalty)(scores, data) for cls in (ImmediateThresholdLoss, AllThresholdLoss)]
        np.testing.assert_allclose(values, binary(scores - 0.5, data))


def test_crossed_thresholds():
    """With a hinge, the slope is the number of thresholds crossed or nearer than 1; all-threshold counts |ŷ − y|."""
    labels = np.array([0.0, 1, 2, 3])
    data = RankingDataset.from_arrays(None, labels, [1] * 4)
    loss = AllThresholdLoss(penalty="hinge", thresholds=(10.0, 20.0, 30.0))
    for position, predicted in ((5.0, 0), (15.0, 1), (25.0, 2), (35.0, 3)):
        gradient, _ = loss.gradient(np.full(4, position), data)
        np.testing.assert_array_equal(gradient, predicted - labels)
    immediate = ImmediateThresholdLoss(penalty="hinge", thresholds=(10.0, 20.0, 30.0))
    assert immediate.gradient(np.full(4, 35.0), data)[0].tolist() == [1.0, 1.0, 1.0, 0.0]


@BOTH
@pytest.mark.parametrize("penalty", ["logistic", "squared_hinge", "square", "exponential"])
def test_learned_thresholds_are_the_best(cls, penalty):
    rng = np.random.default_rng(2)
    data, scores = graded(rng), rng.normal(0, 2, 40)
    learned = cls(penalty=penalty, thresholds="learned")
    result = minimize(lambda b: cls(penalty=penalty, thresholds=b)(scores, data), [0.0, 0.0, 0.0], tol=1e-12)
    np.testing.assert_allclose(learned(scores, data), result.fun, rtol=1e-9)
    np.testing.assert_allclose(learned.best_thresholds(scores, data), result.x, atol=1e-4)
    if cls is AllThresholdLoss:
        assert (np.diff(learned.best_thresholds(scores, data)) >= 0).all()
    # the gradient of the least value, and not that at fixed thresholds only
    gradient, _ = learned.gradient(scores, data)
    for i in range(0, 40, 5):
        step = 1e-4 * np.eye(40)[i]
        difference = (learned(scores + step, data) - learned(scores - step, data)) / 2e-4
        np.testing.assert_allclose(gradient[i], difference, rtol=1e-5, atol=1e-6)
    # thresholds follow the scores
    np.testing.assert_allclose(learned(scores + 7.0, data), learned(scores, data), rtol=1e-9)


def test_learned_thresholds_of_a_hinge():
    rng = np.random.default_rng(3)
    data, scores = graded(rng), rng.normal(0, 2, 40)
    for cls in (ImmediateThresholdLoss, AllThresholdLoss):
        least = cls(penalty="hinge", thresholds="learned")(scores, data)
        breakpoints = np.concatenate([scores - 1, scores + 1])
        best = cls(penalty="hinge").best_thresholds(scores, data)
        for k in range(3):  # piecewise linear: the least value is at a breakpoint
            values = [
                cls(penalty="hinge", thresholds=[*best[:k], b, *best[k + 1 :]])(scores, data) for b in breakpoints
            ]
            np.testing.assert_allclose(least, min(values), rtol=1e-9)


def test_a_grade_without_documents_has_no_threshold():
    data = RankingDataset.from_arrays(None, [0.0, 1, 1], [1] * 3)
    loss = AllThresholdLoss(cuts=(0.5, 1.5), thresholds="learned")
    assert np.isnan(loss.best_thresholds([0.0, 1.0, 2.0], data)[1])
    assert np.isfinite(loss([0.0, 1.0, 2.0], data))


def test_refusals():
    data = RankingDataset.from_arrays(None, np.arange(300.0), np.zeros(300, int))
    for match, make in (
        ("penalty='ramp'", lambda: AllThresholdLoss(penalty="ramp")),
        ("cuts", lambda: AllThresholdLoss(cuts=(2.0, 1.0))),
        ("thresholds='best'", lambda: AllThresholdLoss(thresholds="best")),
        ("300 different labels", lambda: AllThresholdLoss().bind(data)),
        ("1 thresholds for 2 cuts", lambda: AllThresholdLoss(cuts=(0.5, 1.5), thresholds=(0.0,)).bind(data)),
    ):
        with pytest.raises(LossError, match=match):
            make()
