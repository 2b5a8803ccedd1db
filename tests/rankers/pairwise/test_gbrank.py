"""GBRank: its targets by loops over pairs, its trees and its updates."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import LossError, RankingDataset
from plackett.losses import SquaredHinge
from plackett.rankers.pairwise.gbrank import GBRank, Targets
from plackett.testing.rankers import easy_task, ndcg


def naive_targets(f, y, qid, tau):
    """Number and mean of the targets of each document: f_v + τ for the better, f_u − τ for the worse."""
    count, total = np.zeros(f.size), np.zeros(f.size)
    for u in range(f.size):
        for v in range(f.size):
            if qid[u] == qid[v] and y[u] > y[v] and f[u] < f[v] + tau:
                count[[u, v]] += 1
                total[u] += f[v] + tau
                total[v] += f[u] - tau
    return count, np.divide(total, count, out=np.zeros(f.size), where=count > 0)


def targets_of(f, y, qid, tau):
    loss = Targets(hinge=SquaredHinge(margin=tau), update="average", learning_rate=0.1)
    _, gradient, weight = loss.bind(RankingDataset.from_arrays(None, y, qid)).evaluate(f)
    return weight / 2, np.divide(-gradient, weight, out=np.zeros(f.size), where=weight > 0)


def test_targets_by_loops_are_f_less_the_gradient():
    rng = np.random.default_rng(0)
    y, qid, f = rng.integers(0, 3, 20), np.repeat([0, 1], 10), rng.normal(size=20)
    for result, expected in zip(targets_of(f, y, qid, 0.7), naive_targets(f, y, qid, 0.7), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-9)
    # of ½ max(0, τ - Δ)², which is half the squared hinge
    gradient, curvature = SquaredHinge(margin=0.7).gradient(f, RankingDataset.from_arrays(None, y, qid))
    count, target = naive_targets(f, y, qid, 0.7)
    np.testing.assert_allclose(count * (target - f) * (count > 0), -gradient / 2, atol=1e-9)
    np.testing.assert_allclose(count, curvature / 2)


def test_what_is_violated():
    y, qid = np.array([2, 1, 0, 0]), np.zeros(4, int)
    assert targets_of(np.full(4, 3.0), y, qid, 0.5)[0].tolist() == [3, 3, 2, 2]  # a constant violates every pair
    separated = np.array([2.0, 1.0, 0.0, 0.3])
    assert targets_of(separated, y, qid, 0.7)[0].tolist() == [0, 0, 0, 0]
    with pytest.raises(LossError, match="tau=0"):
        GBRank(tau=0.0).fit([[0.0], [1.0]], [0, 1], qid=[0, 0])


@pytest.mark.parametrize("update", ["blend", "average"])
def test_every_tree_is_the_mean_of_the_targets_in_a_leaf(update):
    """The algorithm step by step, with the leaves of the trees that were grown."""
    X, y, qid = easy_task(n_queries=10)
    eta, tau = 0.4, 0.8
    ranker = GBRank(
        update=update, learning_rate=eta, tau=tau, n_estimators=6, num_leaves=4, min_child_samples=1, n_jobs=1
    )
    booster = ranker.fit(X, y, qid=qid).scorer_.booster
    leaves = booster.predict(X, pred_leaf=True)
    f = np.zeros(y.size)
    for t in range(6):
        count, target = naive_targets(f, y, qid, tau)
        mass = np.bincount(leaves[:, t], count, 4)[leaves[:, t]]
        g = np.bincount(leaves[:, t], count * target, 4)[leaves[:, t]] / mass
        f = (f + eta * g) / (1 + eta) if update == "blend" else ((t + 1) * f + eta * g) / (t + 2)
    np.testing.assert_allclose(ranker.predict(X, qid=qid), f, rtol=1e-4, atol=1e-5)


def test_stops_changing_up_to_scale_once_nothing_is_violated():
    X, y, qid = np.repeat([[0.0], [1.0]], 20, axis=0), np.repeat([0, 1], 20), np.tile(np.arange(20), 2)
    few, many = (
        GBRank(update="average", learning_rate=5.0, tau=0.5, n_estimators=n, min_child_samples=1).fit(X, y, qid=qid)
        for n in (1, 4)
    )
    assert few.predict(X[[0, -1]]) @ [-1, 1] >= 0.5  # separated by more than τ at once
    assert many.scorer_.booster.trees_to_dataframe()["tree_index"].nunique() <= 4
    ratio = many.predict(X[[0, -1]]) / few.predict(X[[0, -1]])
    assert ratio[0] == pytest.approx(ratio[1])


@pytest.mark.parametrize("update", ["newton", "blend", "average"])
def test_learns_and_goes_on(update):
    X, y, qid = easy_task()
    ranker = GBRank(update=update, n_estimators=10, num_leaves=5, min_child_samples=1, warm_start=True, n_jobs=1)
    whole = GBRank(update=update, n_estimators=20, num_leaves=5, min_child_samples=1, n_jobs=1).fit(X, y, qid=qid)
    twice = ranker.fit(X, y, qid=qid).fit(X, y, qid=qid)
    np.testing.assert_allclose(twice.predict(X, qid=qid), whole.predict(X, qid=qid), rtol=1e-5, atol=1e-7)
    assert ndcg(whole.predict(X, qid=qid), y, qid) > 0.95


def test_refusals():
    X, y, qid = easy_task(n_queries=3)
    for parameters, match in (
        ({"update": "other"}, "newton, blend, average"),
        ({"update": "blend", "boosting": "dart"}, "boosting='gbdt'"),
        ({"update": "blend", "n_estimators": 5000}, "fewer trees"),
    ):
        with pytest.raises(LossError, match=match):
            GBRank(**parameters).fit(X, y, qid=qid)
