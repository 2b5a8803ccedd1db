"""Hedge, and features as experts."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett.aggregation.orderings import GreedyOrder
from plackett.rankers.pairwise._experts import expert_losses
from plackett.rankers.pairwise.hedge_ranker import HedgeRanker
from plackett.scorers.comparators.experts import ExpertsComparator
from plackett.solvers.hedge import hedge, hedge_beta, hedge_bound
from plackett.testing import checks
from plackett.testing.rankers import easy_task

#: A greedy order alone does not show that the weights changed a little, which `check_sample_weight` looks for.
RULES = ("learns", "order_of_input", "nothing_to_learn")
SOME = [check for check in checks(HedgeRanker(passes=2, n_jobs=1)) if check.name in RULES]


@pytest.mark.parametrize("check", SOME, ids=str)
def test_battery_with_the_greedy_order(check):
    check()


@pytest.mark.parametrize("beta", [0.05, 0.5, 0.9, 0.99])
def test_loss_of_hedge_is_near_that_of_the_best_expert(beta):
    rng = np.random.default_rng(0)
    for losses in (
        rng.random((200, 10)),
        (rng.random((200, 10)) < np.linspace(0.1, 0.9, 10)).astype(float),
        np.eye(10)[np.arange(200) % 10],  # nobody is better
        np.repeat(np.eye(2)[:, ::-1], 100, axis=0),  # first one is right, then the other
    ):
        run = hedge(losses, beta)
        best = losses.sum(axis=0).min()
        assert run.losses.sum() <= hedge_bound(best, losses.shape[1], beta) + 1e-9
        np.testing.assert_allclose(run.weights.sum(axis=1), 1.0)


def test_weights_are_products_of_powers():
    rng = np.random.default_rng(1)
    losses, w = rng.random((5, 3)), np.full(3, 1 / 3)
    run = hedge(losses, 0.4)
    for t, loss in enumerate(losses):
        np.testing.assert_allclose(run.weights[t], w)
        np.testing.assert_allclose(run.losses[t], w @ loss)
        w = w * 0.4**loss / (w * 0.4**loss).sum()
    np.testing.assert_allclose(run.weights[-1], w)
    # an expert without loss gets all the weight, after any number of rounds without overflow
    assert hedge(np.tile([0.0, 0.5, 1.0], (100_000, 1)), 0.5).weights[-1].tolist() == [1.0, 0.0, 0.0]
    # the β of the bound: no other of a fine grid promises much less, where the best loss may be anything
    n, t = 400, 20
    chosen = hedge_bound(n / 4, t, hedge_beta(n, t))
    assert chosen < 1.1 * min(hedge_bound(n / 4, t, b) for b in np.linspace(0.01, 0.99, 99))
    for bad in (0.0, 1.0):
        with pytest.raises(DataError, match="beta"):
            hedge(losses, bad)
    with pytest.raises(DataError, match="rounds by experts"):
        hedge([1.0], 0.5)


def test_losses_of_experts_against_the_double_loop():
    X, y, qid = easy_task(n_queries=6)
    X = np.round(X)  # with ties
    X[::7, 1] = np.nan
    y[::8] = -1
    weight = np.random.default_rng(0).uniform(0.5, 2, y.size)
    data = pk.RankingDataset.from_arrays(X, y, qid, sample_weight=weight)
    lost, total = expert_losses(data)
    for q in range(6):
        rows = np.flatnonzero(qid == q)
        pairs = [(u, v) for u in rows for v in rows if y[u] > y[v] >= 0]
        weights = np.array([weight[u] * weight[v] for u, v in pairs])
        assert total[q] == pytest.approx(weights.sum())
        for j in range(X.shape[1]):
            signs = [np.nan_to_num(np.sign(float(X[u, j]) - float(X[v, j]))) for u, v in pairs]
            assert lost[q, j] == pytest.approx((weights * (1 - np.array(signs)) / 2).sum())


@pytest.mark.parametrize("parameters", [{}, {"beta": 0.3, "passes": 3}])
def test_regret_bound_on_a_ranking_task(parameters):
    X, y, qid = easy_task(n_queries=40)
    ranker = HedgeRanker(**parameters).fit(X, y, qid=qid)
    best, loss = ranker.expert_losses_.min(), ranker.losses_.sum()
    assert ranker.expert_losses_.size == 8 and ranker.losses_.size == 40 * parameters.get("passes", 1)
    assert loss <= hedge_bound(best, 8, ranker.beta_)
    # a feature and its opposite share each pair between them
    np.testing.assert_allclose(ranker.expert_losses_[:4] + ranker.expert_losses_[4:], ranker.losses_.size)


def test_a_perfect_expert_gets_the_weight():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(600, 5))
    qid, y = np.repeat(np.arange(60), 10), -X[:, 3]
    ranker = HedgeRanker(beta=0.2, average=False).fit(X, y, qid=qid)
    weights = ranker.scorer_.comparator.weights
    assert weights[3] < -0.999 and np.abs(np.delete(weights, 3)).max() < 1e-3
    assert ranker.score(X, y - y.min(), qid=qid) == pytest.approx(1.0)


def test_votes_are_antisymmetric_and_missing_values_abstain():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 4)).astype(np.float32)
    X[::5, 2] = np.nan
    weights = np.array([0.4, -0.3, 0.2, 0.0])
    h = ExpertsComparator(weights).bind(X, 1)
    u, v = rng.integers(0, 30, (2, 100))
    np.testing.assert_allclose(h(u, v) + h(v, u), 1.0, rtol=1e-15)
    signs = np.nan_to_num(np.sign(X[u].astype(float) - X[v]))
    np.testing.assert_allclose(h(u, v), 0.5 + 0.5 * signs @ weights, rtol=1e-12)
    ranker = HedgeRanker().fit(X, -X[:, 0], qid=np.repeat([0, 1, 2], 10))
    assert isinstance(ranker.scorer_.ordering, GreedyOrder)
    with pytest.raises(DataError, match="passes"):
        HedgeRanker(passes=0).fit(X, X[:, 0], qid=np.zeros(30))
