"""P-norm push by boosting: its first power is RankBoost, its steps are minima, its weights those of the paper."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from plackett import LossError, RankingDataset
from plackett.data.preferences import Preferences
from plackett.rankers.pairwise.pnorm_push_boost import PNormPushBoost
from plackett.rankers.pairwise.rank_boost import RankBoost
from plackett.testing.rankers import easy_task


def noisy(n_queries=8):
    X, y, qid = easy_task(n_queries=n_queries)
    rng = np.random.default_rng(0)
    return X, np.where(rng.random(y.size) < 0.4, rng.integers(0, 3, y.size), y).astype(float), qid


def objective(scores, y, qid, p):
    """Σ_v (Σ_u e^-(s_u - s_v))^p over the pairs of a query in which u has the larger label."""
    total = 0.0
    for v in range(y.size):
        better = [u for u in range(y.size) if qid[u] == qid[v] and y[u] > y[v]]
        total += sum(np.exp(scores[v] - scores[u]) for u in better) ** p
    return total


def test_the_first_power_is_rankboost():
    X, y, qid = noisy()
    result = PNormPushBoost(p=1, normalize=False, n_estimators=10, n_jobs=1).fit(X, y, qid=qid).rounds_
    expected = RankBoost(step="search", n_estimators=10, n_jobs=1).fit(X, y, qid=qid).rounds_
    for name in ("feature", "threshold"):
        np.testing.assert_array_equal(result[name], expected[name])
    for name in ("alpha", "edge", "loss"):
        np.testing.assert_allclose(result[name], expected[name], rtol=1e-5)


def test_weights_edges_and_steps_by_loops():
    X, y, qid = noisy(4)
    p, scores = 3.0, np.zeros(y.size)
    rounds = PNormPushBoost(p=p, normalize=False, n_estimators=4, n_jobs=1).fit(X, y, qid=qid).rounds_
    for row in rounds:
        weight = np.zeros((y.size, y.size))  # of the pair u before v: e^-(s_u - s_v) · (Σ_u e^-(s_u - s_v))^(p-1)
        for v in range(y.size):
            better = [u for u in range(y.size) if qid[u] == qid[v] and y[u] > y[v]]
            e = np.exp(scores[v] - scores[better])
            weight[better, v] = e * e.sum() ** (p - 1)
        weight /= weight.sum()
        potential = weight.sum(axis=1) - weight.sum(axis=0)
        edges = [abs(potential[X[:, j] > t].sum()) for j in range(X.shape[1]) for t in np.unique(X[:, j])]
        h = (X[:, row["feature"]] > row["threshold"]).astype(float)
        np.testing.assert_allclose(row["edge"], potential @ h, rtol=1e-6)
        np.testing.assert_allclose(abs(row["edge"]), max(edges), rtol=1e-6)
        best = minimize_scalar(lambda a: np.log(objective(scores + a * h, y, qid, p)), bounds=(-5, 5), method="bounded")  # noqa: B023
        np.testing.assert_allclose(row["alpha"], best.x, atol=1e-3)
        scores = scores + row["alpha"] * h
    np.testing.assert_allclose(
        rounds["loss"][-1], objective(scores, y, qid, p) / objective(0 * scores, y, qid, p), rtol=1e-6
    )


def test_preferences_are_refused():
    X, y, qid = noisy(2)
    data = RankingDataset.from_arrays(X, y, qid, preferences=Preferences.from_pairs([(0, 1)]))
    with pytest.raises(LossError, match="preferences"):
        PNormPushBoost().fit(data)
