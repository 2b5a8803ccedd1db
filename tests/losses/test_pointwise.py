"""Square loss and softmax cross entropy: worked examples and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import LossError, RankingDataset, evaluate
from plackett.losses import Softmax, Square


def test_a_lower_square_loss_can_be_a_worse_ranking():
    """The lecture's example: one relevant document among five, with and without the half of our definition."""
    data = RankingDataset.from_arrays(None, [1, 0, 0, 0, 0])
    good, bad = np.array([0.6, 0.5, 0.5, 0.5, 0.5]), np.array([0.1, 0.2, 0.2, 0.2, 0.2])
    assert 2 * Square()(good, data) == pytest.approx(1.16)  # 0.4² + 4 · 0.5²
    assert 2 * Square()(bad, data) == pytest.approx(0.97)  # 0.9² + 4 · 0.2²
    rr = evaluate(data, good, ["RR"]).mean["RR"], evaluate(data, bad, ["RR"]).mean["RR"]
    assert rr == (1.0, 1 / 5)


def test_softmax_against_its_formula():
    """−log of the probability of the label's class, softmax with inverse temperature γ over the classes."""
    data = RankingDataset.from_arrays(None, [2, 0])
    scores = np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]])
    powers = np.exp(0.5 * scores)
    expected = -np.log(powers[0, 2] / powers[0].sum()) - np.log(1 / 3)
    assert Softmax(gamma=0.5)(scores, data) == pytest.approx(expected)


def test_softmax_with_two_classes_is_the_logistic_loss():
    data = RankingDataset.from_arrays(None, [1, 0])
    scores = np.array([[0.0, 1.7], [0.0, -0.4]])
    assert Softmax()(scores, data) == pytest.approx(np.log1p(np.exp(-1.7)) + np.log1p(np.exp(-0.4)))


def test_softmax_wants_classes():
    with pytest.raises(LossError, match=r"label 1 is 0\.5"):
        Softmax().bind(RankingDataset.from_arrays(None, [1, 0.5]))
    with pytest.raises(LossError, match="n_classes=2"):
        Softmax(n_classes=2).bind(RankingDataset.from_arrays(None, [1, 2]))
    for wrong in ({"gamma": 0.0}, {"n_classes": 0}):
        with pytest.raises(LossError, match=next(iter(wrong))):
            Softmax(**wrong)


def test_softmax_settles_the_number_of_classes():
    data = RankingDataset.from_arrays(None, [0, 3, 1, 0], [1, 1, 2, 2])
    settled = Softmax().settle(data)
    assert settled.bind(data.select(np.array([1]))).n_outputs == 4


def test_expected_grade_orders_like_the_certain_classes():
    scores = 50.0 * np.eye(4)[[2, 0, 3]]
    np.testing.assert_allclose(Softmax().ranking_scores(scores), [2, 0, 3], atol=1e-12)
    np.testing.assert_allclose(Softmax(gain="exp2").ranking_scores(scores), [3, 0, 7], atol=1e-12)


def test_square_loss_of_a_linear_model_is_least_squares():
    """At the solution of lstsq the gradient for the weights vanishes; anywhere else the loss is larger."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 5, 40)
    data = RankingDataset.from_arrays(None, y, np.repeat(np.arange(8), 5))
    best = np.linalg.lstsq(X, y, rcond=None)[0]
    gradient, _ = Square().gradient(X @ best, data)
    np.testing.assert_allclose(X.T @ gradient, 0.0, atol=1e-10)
    assert Square()(X @ best, data) == pytest.approx(0.5 * ((X @ best - y) ** 2).sum())
    for _ in range(5):
        assert Square()(X @ (best + rng.normal(0, 0.1, 3)), data) > Square()(X @ best, data)


def test_no_loss_is_a_perfect_ranking_and_a_shift_is_a_loss_without_a_change():
    data = RankingDataset.from_arrays(None, [2, 0, 1, 4, 0])
    loss = Square(target="exp2")
    perfect = 2.0**data.y - 1.0
    assert loss(perfect, data) == 0.0
    assert evaluate(data, perfect, ["nDCG"]).mean["nDCG"] == 1.0
    assert loss(perfect + 3.0, data) == pytest.approx(0.5 * 5 * 9)
    assert evaluate(data, perfect + 3.0, ["nDCG"]).mean["nDCG"] == 1.0


def test_the_root_of_the_loss_on_gains_bounds_the_loss_of_ndcg():
    """Cossock and Zhang: 1 − nDCG ≤ √(2 Σ discount²) · √(Σ (f − gain)²) / Z."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        y = rng.integers(0, 4, 6)
        if not y.any():
            continue
        data = RankingDataset.from_arrays(None, y)
        scores = 2.0**y - 1.0 + rng.normal(0, rng.uniform(0.1, 4), 6)
        discount = 1 / np.log2(np.arange(2, 8))
        ideal = (np.sort(2.0**y - 1.0)[::-1] * discount).sum()
        bound = np.sqrt(2 * (discount**2).sum()) * np.sqrt(2 * Square(target="exp2")(scores, data)) / ideal
        assert 1 - evaluate(data, scores, ["nDCG"]).mean["nDCG"] <= bound + 1e-12


def test_gains_that_are_no_numbers_are_refused():
    with pytest.raises(LossError, match="labels up to 2000 are too large"):
        Square(target="exp2").bind(RankingDataset.from_arrays(None, [2000.0, 1.0]))
