"""FRank against the algorithm written out pair by pair."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from plackett import LossError, RankingDataset
from plackett.data.preferences import Preferences
from plackett.losses import Fidelity
from plackett.rankers.pairwise._fidelity_slopes import right_and_wrong_slope
from plackett.rankers.pairwise.frank import FRank
from plackett.testing.rankers import easy_task


def pairs_of(y, qid):
    """Each pair with its weight 1/(pairs of its query)."""
    result = [(u, v) for u in range(y.size) for v in range(y.size) if qid[u] == qid[v] and y[u] > y[v] >= 0]
    number = np.bincount([qid[u] for u, _ in result])
    return [(u, v, 1.0 / number[qid[u]]) for u, v in result]


def loss_of(scores, pairs):
    return sum(w * (1.0 - (1.0 + math.exp(scores[v] - scores[u])) ** -0.5) for u, v, w in pairs)


def naive_frank(X, y, qid, rounds):
    """(feature, threshold, α) of each round: the steepest stump, ½ log(W₊/W₋), halved until the loss falls."""
    pairs, F, path = pairs_of(y, qid), np.zeros(y.size), []
    paired = np.unique([row for u, v, _ in pairs for row in (u, v)])
    stumps = []
    for j in range(X.shape[1]):
        values = np.unique(X[paired, j])
        stumps += [(j, 0.5 * (a + b)) for a, b in pairwise(values)]
    for _ in range(rounds):
        e = [math.exp(F[v] - F[u]) for u, v, _ in pairs]
        slope = [w * 0.5 * x * (1.0 + x) ** -1.5 for x, (_, _, w) in zip(e, pairs, strict=True)]
        best = None
        for j, threshold in stumps:
            h = X[:, j] > threshold
            plus = sum(s for s, (u, v, _) in zip(slope, pairs, strict=True) if h[u] and not h[v])
            minus = sum(s for s, (u, v, _) in zip(slope, pairs, strict=True) if h[v] and not h[u])
            if best is None or abs(plus - minus) > best[0]:
                best = abs(plus - minus), j, threshold, plus, minus
        _, j, threshold, plus, minus = best
        little = 1e-6 * (plus + minus)
        alpha = 0.5 * math.log((plus + little) / (minus + little))
        before = loss_of(F, pairs)
        while loss_of(F + alpha * (X[:, j] > threshold), pairs) > before:
            alpha /= 2
        F = F + alpha * (X[:, j] > threshold)
        path.append((j, threshold, alpha))
    return path, F, loss_of(F, pairs) / loss_of(np.zeros(y.size), pairs)


def test_against_the_algorithm_pair_by_pair():
    for seed in range(3):
        X, y, qid = easy_task(seed, n_queries=5, n_features=3)
        y[::7] = -1
        path, F, loss = naive_frank(X.astype(float), y, qid, 6)
        ranker = FRank(n_estimators=6, tol=0.0, n_jobs=1).fit(X, y, qid=qid)
        assert ranker.rounds_["feature"].tolist() == [j for j, *_ in path]
        np.testing.assert_allclose(ranker.rounds_["threshold"], [t for _, t, _ in path], rtol=1e-5)
        np.testing.assert_allclose(ranker.rounds_["alpha"], [a for *_, a in path], rtol=1e-6)
        np.testing.assert_allclose(ranker.rounds_["loss"][-1], loss, rtol=1e-6)
        np.testing.assert_allclose(ranker.predict(X, qid=qid), F, rtol=1e-6, atol=1e-6)


def test_the_loss_falls_in_every_round_and_the_edge_is_a_share():
    X, y, qid = easy_task()
    rng = np.random.default_rng(0)
    y = np.where(rng.random(y.size) < 0.3, rng.integers(0, 3, y.size), y).astype(float)
    for n_candidates in (1, 4):
        rounds = FRank(n_estimators=60, n_candidates=n_candidates, n_jobs=1).fit(X, y, qid=qid).rounds_
        assert (np.diff(np.append(1.0, rounds["loss"])) < 0).all()
        assert (np.abs(rounds["edge"]) <= 1.0).all()


def test_the_first_of_several_candidates_is_the_one_that_lowers_the_loss_most():
    """Against all features' steepest stumps, tried one by one."""
    X, y, qid = easy_task(2)
    losses = [FRank(n_estimators=1, n_jobs=1).fit(X[:, [j]], y, qid=qid).rounds_["loss"][0] for j in range(X.shape[1])]
    result = FRank(n_estimators=1, n_candidates=4, n_jobs=1).fit(X, y, qid=qid).rounds_
    assert result["feature"][0] == np.argmin(losses)
    np.testing.assert_allclose(result["loss"][0], min(losses), rtol=1e-9)


def test_sides_are_the_gradient_taken_apart():
    """W₊ − W₋ is the slope along h; label pairs and the same pairs listed agree."""
    rng = np.random.default_rng(0)
    X, y, qid = easy_task(n_queries=4)
    scores, h = rng.normal(size=y.size), rng.integers(0, 2, y.size).astype(float)
    labelled = Fidelity(normalize=True).bind(RankingDataset.from_arrays(X, y, qid))
    pairs = Preferences.from_pairs([(u, v) for u, v, _ in pairs_of(y, qid)])
    listed = Fidelity(normalize=True).bind(RankingDataset.from_arrays(X, None, qid, preferences=pairs))
    right, wrong = right_and_wrong_slope(labelled, scores, h)
    np.testing.assert_allclose(right - wrong, -labelled.evaluate(scores)[1] @ h, rtol=1e-9)
    np.testing.assert_allclose(right_and_wrong_slope(listed, scores, h), (right, wrong), rtol=1e-9)
    expected = sum(
        w * 0.5 * math.exp(scores[v] - scores[u]) * (1 + math.exp(scores[v] - scores[u])) ** -1.5
        for u, v, w in pairs_of(y, qid)
        if h[u] > h[v]
    )
    np.testing.assert_allclose(right, expected, rtol=1e-9)


def test_parameters_are_checked():
    X, y, qid = easy_task(n_queries=3)
    with pytest.raises(LossError, match="n_candidates=0"):
        FRank(n_candidates=0).fit(X, y, qid=qid)
