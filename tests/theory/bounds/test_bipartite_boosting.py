"""Bipartite RankBoost and its link to AdaBoost."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from plackett.theory.bounds.bipartite_boosting import bipartite_rankboost, exponential_sums

POSITIVES = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1]])
NEGATIVES = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 0]])


def test_worked_numbers_of_both_steps():
    exact = bipartite_rankboost(POSITIVES, NEGATIVES, 4)
    figure = bipartite_rankboost(POSITIVES, NEGATIVES, 4, step="figure")
    np.testing.assert_allclose(exact.weights, [2.420865, 1.365508, 1.924099], atol=1e-6)
    np.testing.assert_allclose(exact.normalisers, [0.824915, 0.648910, 0.445021, 0.587258], atol=1e-6)
    np.testing.assert_allclose(figure.weights, [1.007836, 0.605634, 0.722454], atol=1e-6)
    np.testing.assert_allclose(figure.normalisers, [0.858936, 0.791287, 0.717225, 0.836796], atol=1e-6)
    assert (figure.normalisers > exact.normalisers).all()


def test_it_is_rankboost_on_the_pairs():
    differences = (POSITIVES[:, None, :] - NEGATIVES[None, :, :]).reshape(-1, 3).astype(float)
    D, weights = np.full(12, 1 / 12), np.zeros(3)
    result = bipartite_rankboost(POSITIVES, NEGATIVES, 6)
    for k, normaliser in zip(result.rankers, result.normalisers, strict=True):
        edges = D @ differences
        assert edges[k] == pytest.approx(edges.max(), abs=1e-12)
        plus, minus = D[differences[:, k] > 0].sum(), D[differences[:, k] < 0].sum()
        alpha = 0.5 * np.log(plus / minus)
        weights[k] += alpha
        D = D * np.exp(-alpha * differences[:, k])
        assert D.sum() == pytest.approx(normaliser, rel=1e-10)
        D /= D.sum()
    np.testing.assert_allclose(result.weights, weights, rtol=1e-9)


@pytest.mark.parametrize("constant", [True, False])
def test_a_minimum_of_adaboost_is_one_of_rankboost_if_a_constant_ranker_is_there(constant):
    rng = np.random.default_rng(0)
    high, low = rng.normal(0.5, 1.5, (12, 3)), rng.normal(-0.2, 1.5, (25, 3))
    if constant:
        high, low = (np.hstack([part, np.ones((len(part), 1))]) for part in (high, low))

    def parts(w):
        sums = exponential_sums(high @ w, low @ w)
        return sums, -np.exp(-high @ w) @ high, np.exp(low @ w) @ low

    def adaboost(w):
        sums, rise, fall = parts(w)
        return sums.adaboost, rise + fall

    result = minimize(adaboost, np.zeros(high.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-9}).x
    sums, rise, fall = parts(result)
    slope = sums.negative * rise + sums.positive * fall  # of F₊ F₋
    np.testing.assert_allclose(slope, sums.negative * (rise + fall) + (sums.positive - sums.negative) * fall, atol=1e-9)
    gap, steepness = abs(sums.positive - sums.negative), np.linalg.norm(slope)
    if constant:
        assert gap < 1e-5 and steepness < 1e-4
    else:
        assert gap > 0.1 and steepness > 0.1


@pytest.mark.parametrize(
    ("positives", "negatives", "step", "match"),
    [
        ([[1]], [[0]], "exact", "infinite"),
        ([[0.5]], [[0]], "exact", "0 or 1"),
        ([[1, 0]], [[0]], "exact", "same rankers"),
        ([[1]], [[0]], "large", "step='large'"),
    ],
)
def test_refusals(positives, negatives, step, match):
    with pytest.raises(ValueError, match=match):
        bipartite_rankboost(positives, negatives, 1, step)
