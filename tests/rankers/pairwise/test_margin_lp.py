"""MarginLP against the full linear program, its dual and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import plackett.rankers.pairwise.margin_lp as module
from plackett import PlackettWarning, RankingDataset
from plackett.data.preferences import Preferences
from plackett.rankers.pairwise.margin_lp import MarginLP

from .boosting_reference import explicit_pairs
from .margin_matrix import MATRIX, pairs_of

#: A share of pairs that may be left out entirely leaves nothing to learn.
pytestmark = pytest.mark.filterwarnings("ignore:MarginLP learned nothing")


def noisy_data(seed, noise=1.0, n_queries=8):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rng.integers(4, 9, n_queries))
    X = rng.normal(size=(qid.size, 3)).astype(np.float32)
    y = np.digitize(X[:, 0] - 0.5 * X[:, 1] + noise * rng.normal(size=qid.size), [-0.5, 0.7]) * 1.0
    return RankingDataset.from_arrays(
        X, y, qid, sample_weight=rng.uniform(0.5, 2, qid.size), query_weight=rng.uniform(0.5, 2, n_queries)
    )


def game_value(differences, price):
    """The dual, by itself: the least edge over the best feature that a (bounded) distribution over pairs allows."""
    m, d = differences.shape
    rows = np.vstack([np.hstack([differences.T, -np.ones((d, 1))]), np.hstack([-differences.T, -np.ones((d, 1))])])
    result = linprog(
        np.append(np.zeros(m), 1.0),
        rows,
        np.zeros(2 * d),
        np.append(np.ones(m), 0.0)[None, :],
        [1.0],
        bounds=[*((0.0, p) for p in price), (None, None)],
    )
    assert result.status == 0
    return result.fun


@pytest.mark.parametrize("nu", [0.0, 0.05, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_is_the_value_of_the_game(seed, nu, monkeypatch):
    monkeypatch.setattr(module, "_PAIRS_AT_A_TIME", 3)  # so that pairs are added again and again
    data = noisy_data(seed, noise=0.0 if nu == 0 else 1.0)
    ranker = MarginLP(nu=nu, standardize=False, tol=1e-9).fit(data)
    u, v, weight = explicit_pairs(data)
    X = data.X.astype(float)
    differences = X[u] - X[v]
    w = ranker.scorer_.weights[:, 0]
    assert np.abs(w).sum() <= 1 + 1e-9
    short = np.maximum(ranker.margin_ - differences @ w, 0.0)
    price = np.full(u.size, 1.0) if nu == 0 else weight / (nu * weight.sum())
    if nu == 0:
        assert short.max() < 1e-7 and ranker.margin_ > 0  # labels without noise: some weights order all pairs rightly
    else:
        assert weight[short > 1e-9].sum() <= nu * weight.sum() + 1e-9
    best = game_value(differences, price)
    np.testing.assert_allclose([ranker.objective_, ranker.margin_ - price @ short], best, atol=1e-7)
    assert best - ranker.objective_ + 1e-8 >= 0 and best <= ranker.objective_ + ranker.gap_ + 1e-8


def test_known_margins():
    data = pairs_of(MATRIX)
    ranker = MarginLP(nu=0.0, standardize=False, tol=1e-9).fit(data)
    np.testing.assert_allclose(ranker.margin_, 0.375, atol=1e-9)
    scores = ranker.predict(data)
    np.testing.assert_allclose((scores[::2] - scores[1::2]).min(), 0.375, atol=1e-9)


def test_the_hard_margin_is_positive_only_for_pairs_that_can_be_ordered():
    data = noisy_data(0, noise=3.0)
    ranker = MarginLP(nu=0.0).fit(data)
    assert ranker.margin_ == ranker.objective_ == 0 and not ranker.scorer_.weights.any()
    assert MarginLP(nu=0.0).fit(noisy_data(0, noise=0.0)).margin_ > 1e-4


def test_preferences_take_the_place_of_labels():
    X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0]])
    pairs = Preferences.from_pairs([(0, 1), (0, 2)])
    data = RankingDataset.from_arrays(X, [0, 1, 2], [0, 0, 0], preferences=pairs)
    assert MarginLP().fit(data).rank(data).tolist()[0] == 1


def test_refusals():
    data = noisy_data(0)
    with pytest.raises(ValueError, match="nu=1"):
        MarginLP(nu=1.0).fit(data)
    u, _, _ = explicit_pairs(data)
    with pytest.raises(ValueError, match=f"{u.size:,} pairs"):
        MarginLP(max_pairs=u.size - 1).fit(data)
    MarginLP(max_pairs=u.size).fit(data)


def test_stopping_early_says_how_far_it_may_be():
    data = noisy_data(1, noise=0.5)
    with pytest.warns(PlackettWarning, match="max_iter=1 programs"):
        ranker = MarginLP(nu=0.5, max_iter=1, tol=1e-9).fit(data)
    best = MarginLP(nu=0.5, tol=1e-9).fit(data).objective_
    assert ranker.objective_ < best <= ranker.objective_ + ranker.gap_
