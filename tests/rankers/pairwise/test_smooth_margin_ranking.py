"""Smooth-margin ranking: its objective rises, and it finds margins that RankBoost does not."""

from __future__ import annotations

import numpy as np

from plackett.rankers.pairwise.rank_boost import RankBoost
from plackett.rankers.pairwise.smooth_margin_ranking import SmoothMarginRanking
from plackett.theory.bounds.ranking_margin import ranking_margin, smooth_ranking_margin

from .margin_matrix import MATRIX, pairs_of


def weights(ranker, n=8):
    return np.bincount(ranker.rounds_["feature"], ranker.rounds_["alpha"], n)


def test_it_reaches_the_margin_that_rankboost_misses():
    data = pairs_of(MATRIX)
    result = weights(SmoothMarginRanking(n_estimators=3000).fit(data))
    assert 0.372 < ranking_margin(MATRIX, result) <= 0.375
    boosted = weights(RankBoost(n_estimators=100_000, step="closed").fit(data))
    assert 0.33 < ranking_margin(MATRIX, boosted) <= 1 / 3
    assert np.count_nonzero(boosted) == 3  # it cycles among three rankers


def test_the_smooth_margin_never_falls_and_bounds_the_margin():
    rounds = SmoothMarginRanking(n_estimators=200).fit(pairs_of(MATRIX)).rounds_
    alphas, before = np.zeros(8), -np.inf
    for row in rounds:
        alphas[row["feature"]] += row["alpha"]
        G, margin = smooth_ranking_margin(MATRIX, alphas), ranking_margin(MATRIX, alphas)
        assert G <= margin <= G + np.log(8) / np.abs(alphas).sum() + 1e-12
        np.testing.assert_allclose(row["loss"] * 8, np.exp(-MATRIX @ alphas).sum(), rtol=1e-9)
        if before > 0:
            assert before - 1e-12 <= G
        before = G
    assert before > 0.3


def test_each_step_is_the_best_along_its_ranker():
    rounds = SmoothMarginRanking(n_estimators=60).fit(pairs_of(MATRIX)).rounds_
    alphas, checked = np.zeros(8), 0
    for row in rounds:
        unit = np.eye(8)[row["feature"]]
        if (alphas > 0).any() and np.exp(-MATRIX @ alphas).sum() < 1:
            taken = smooth_ranking_margin(MATRIX, alphas + row["alpha"] * unit)
            around = [
                smooth_ranking_margin(MATRIX, alphas + f * row["alpha"] * unit) for f in (0.0, 0.5, 0.99, 1.01, 2.0)
            ]
            assert taken >= max(around)
            checked += 1
        alphas = alphas + row["alpha"] * unit
    assert checked > 30


def test_without_a_perfect_order_it_is_rankboost():
    rng = np.random.default_rng(0)
    matrix = np.vstack([MATRIX, -MATRIX[:3], rng.choice([-1, 1], (30, 8))])
    data = pairs_of(matrix)
    result = SmoothMarginRanking(n_estimators=15).fit(data).rounds_
    expected = RankBoost(n_estimators=15, step="closed").fit(data).rounds_
    np.testing.assert_allclose(result["alpha"], expected["alpha"], atol=1e-9)
    assert result["loss"][-1] * len(matrix) > 1
