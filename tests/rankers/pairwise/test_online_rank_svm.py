"""OnlineRankSVM against the batch optimum; pairs drawn as often as they weigh."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from plackett import RankingDataset, load
from plackett.data.preferences import Preferences
from plackett.losses.pairwise._drawn_pairs import DrawnPairs
from plackett.rankers.pairwise.online_rank_svm import OnlineRankSVM
from plackett.rankers.pairwise.rank_svm import RankSVM

from .explicit_pairs import label_pairs, random_lists


@pytest.mark.parametrize("margin", [1.0, 0.25, "label"])
def test_comes_near_the_batch_optimum(margin):
    """λ/2‖w‖² + mean hinge is RankSVM's objective for C = 1/(λN), divided by CN = 1/λ; the excess falls like 1/(λT)."""
    X, y, qid = random_lists(0, n_queries=20)
    pairs = label_pairs(y, qid)
    D = X[pairs[:, 0]].astype(float) - X[pairs[:, 1]]
    apart = y[pairs[:, 0]] - y[pairs[:, 1]] if margin == "label" else margin
    lam, N = 0.05, len(pairs)
    batch = RankSVM(C=1 / (lam * N), loss="hinge", margin=margin, standardize=False, tol=1e-6, max_iter=20_000)
    best = lam * batch.fit(X, y, qid=qid).objective_

    def excess(n_steps):
        values = []
        for seed in range(5):
            ranker = OnlineRankSVM(alpha=lam, n_steps=n_steps, margin=margin, standardize=False, random_state=seed).fit(
                X, y, qid=qid
            )
            w = ranker.scorer_.weights[:, 0]
            values.append(0.5 * lam * w @ w + np.maximum(apart - D @ w, 0).mean() - best)
        return np.mean(values)

    short, long = excess(1000), excess(30_000)
    largest = np.abs(D).sum(axis=1).max() ** 2
    assert -1e-6 <= long < short
    # 2 G² / (λ (T + 1)) for subgradients of length at most G ≤ √(λm) + R
    bound = 2 * (np.sqrt(lam * np.max(apart)) + np.sqrt(largest)) ** 2 / lam
    assert short <= bound / 1001 and long <= bound / 30_001
    assert long <= 0.01 * best


def test_kernel_of_degree_one_is_linear():
    X, y, qid = random_lists(1)
    settings = {"alpha": 0.1, "n_steps": 3000, "standardize": False}
    linear = OnlineRankSVM(**settings)
    as_kernel = OnlineRankSVM(kernel="poly", degree=1, gamma=1.0, **settings)
    for half in (qid < 3, qid >= 3):  # the second call starts with a support
        for ranker in (linear, as_kernel):
            ranker.partial_fit(X[half], y[half], qid=qid[half], n_steps=500)
        np.testing.assert_allclose(as_kernel.predict(X, qid=qid), linear.predict(X, qid=qid), atol=1e-9)
    np.testing.assert_allclose(
        as_kernel.fit(X, y, qid=qid).predict(X, qid=qid), linear.fit(X, y, qid=qid).predict(X, qid=qid), atol=1e-9
    )


def test_one_step_by_hand():
    """w₂ = (x_u − x_v) / λ, here 2 / 0.5 = 4, and back into the ball of radius √(1 / 0.5)."""
    ranker = OnlineRankSVM(alpha=0.5, standardize=False).partial_fit([[1.0], [3.0]], [0, 1], qid=[1, 1], n_steps=1)
    np.testing.assert_allclose(ranker.scorer_.weights, [[np.sqrt(2)]], rtol=1e-12)
    # a second step finds the pair apart by 2√2 > 1: w₃ = w₂ / 2, and the mean is (1·√2 + 2·√2/2) / 3
    ranker.partial_fit([[1.0], [3.0]], [0, 1], qid=[1, 1], n_steps=1)
    np.testing.assert_allclose(ranker.scorer_.weights, [[2 * np.sqrt(2) / 3]], rtol=1e-12)


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("normalize", [False, True])
def test_pairs_are_drawn_as_often_as_they_weigh(given, normalize):
    X, y, qid = random_lists(2, n_queries=4)
    rng = np.random.default_rng(0)
    document, query = rng.integers(0, 3, y.size).astype(float), rng.uniform(0.5, 2, 4)
    pairs = label_pairs(y, qid)
    data = RankingDataset.from_arrays(
        X,
        y,
        qid,
        sample_weight=document,
        query_weight=query,
        preferences=Preferences.from_pairs(pairs) if given else None,
    )
    weight = document[pairs[:, 0]] * document[pairs[:, 1]]
    per_query = np.bincount(qid[pairs[:, 0]], weight, 4)[qid[pairs[:, 0]]]
    if normalize:
        weight = np.divide(weight, per_query, out=np.zeros(len(pairs)), where=per_query > 0)
    weight = weight * query[qid[pairs[:, 0]]]
    n = 200_000
    winner, loser, margin = DrawnPairs(data, 1.0, normalize).draw(n, rng)
    counts = np.zeros((y.size, y.size))
    np.add.at(counts, (winner, loser), 1)
    expected = np.zeros_like(counts)
    expected[pairs[:, 0], pairs[:, 1]] = n * weight / weight.sum()
    assert (margin == 1).all() and not counts[expected == 0].any()
    np.testing.assert_array_less(np.abs(counts - expected), 5 * np.sqrt(expected) + 1e-9 + (expected == 0))


def test_goes_on_after_pickling_not_after_loading(tmp_path):
    X, y, qid = random_lists(3)
    ranker = OnlineRankSVM(n_steps=200).fit(X, y, qid=qid)
    copy = pickle.loads(pickle.dumps(ranker))
    for one in (ranker, copy):
        one.partial_fit(X, y, qid=qid)
    np.testing.assert_array_equal(copy.predict(X, qid=qid), ranker.predict(X, qid=qid))
    ranker.save(tmp_path / "model")
    with pytest.raises(ValueError, match="cannot continue"):
        load(tmp_path / "model").partial_fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="features"):
        ranker.partial_fit(X[:, :2], y, qid=qid)


def test_refusals():
    X, y, qid = random_lists(0)
    for parameters, match in (({"kernel": "k"}, "rbf"), ({"alpha": 0.0}, "alpha=0"), ({"n_steps": 0}, "n_steps=0")):
        with pytest.raises(ValueError, match=match):
            OnlineRankSVM(**parameters).fit(X, y, qid=qid)
