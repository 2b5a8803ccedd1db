"""Lambda gradients: every measure with a swap delta, the relation to RankNet, LightGBM's numbers."""

from __future__ import annotations

import numpy as np
import pytest

import plackett
from plackett import LossError, RankingDataset
from plackett.losses import Lambda, Logistic
from plackett.measures import parse
from plackett.measures.ranking import Scored

WITH_SWAPS = [name for name, measure in plackett.measures().items() if measure.swaps]


@pytest.mark.parametrize("name", WITH_SWAPS)
def test_every_measure_by_measuring_again_after_each_swap(name):
    rng = np.random.default_rng(0)
    for _ in range(3):
        n = 7
        y = rng.integers(0, 4, n).astype(float)
        y[0], y[1] = 3, 0
        scores = rng.permutation(n) * 0.7
        data = RankingDataset.from_arrays(None, y)
        measure = parse(name)(empty=0.0)

        def at(s, data=data, measure=measure):
            return measure.per_query(Scored(data, s))[0]

        expected = np.zeros(n)
        for u in range(n):
            for v in range(n):
                if y[u] > y[v]:
                    swapped = scores.copy()
                    swapped[[u, v]] = swapped[[v, u]]
                    force = abs(at(swapped) - at(scores)) / (1 + np.exp(scores[u] - scores[v]))
                    expected[u] -= force
                    expected[v] += force
        loss = Lambda(measure=name, normalize=False, truncation=None)
        np.testing.assert_allclose(loss.gradient(scores, data)[0], expected, rtol=1e-4, atol=1e-6)


def test_arp_makes_neighbours_count_as_in_ranknet():
    """Exchanging two neighbours of a two-grade list moves one relevant document by one rank, wherever they stand.

    A list of two has no other pairs, so there the gradient is RankNet's divided by the number of relevant documents.
    """
    deltas = parse("ARP").swap_deltas([1, 0, 1, 0, 0, 1, 0])
    np.testing.assert_allclose(np.diag(deltas, 1), [1 / 3, 1 / 3, 1 / 3, 0, 1 / 3, 1 / 3])
    data = RankingDataset.from_arrays(None, [1, 0, 0, 1], [1, 1, 2, 2])
    scores = np.array([0.3, 1.0, -2.0, 0.5])
    arp = Lambda(measure="ARP", normalize=False).gradient(scores, data)
    for result, ranknet in zip(arp, Logistic().gradient(scores, data), strict=True):
        np.testing.assert_allclose(result, ranknet, rtol=1e-5)


def test_ranknet_minimises_arp():
    """The ranks of the R relevant documents sum to R(R+1)/2 and one for each misordered pair, which RankNet bounds."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        y, scores = rng.integers(0, 2, 12), rng.normal(size=12)
        y[0] = 1
        R = y.sum()
        data = RankingDataset.from_arrays(None, y)
        arp = parse("ARP").per_query(Scored(data, scores))[0]
        wrong = sum(scores[u] < scores[v] for u in range(12) for v in range(12) if y[u] > y[v])
        assert R * arp == pytest.approx(R * (R + 1) / 2 + wrong)
        assert R * arp <= R * (R + 1) / 2 + Logistic()(scores, data) / np.log(2)


def test_as_lightgbm_has_it():
    """One leaf and one round of LightGBM's own lambdarank: its sums of gradients and Hessians against ours.

    A tree that isolates one document in a leaf has the leaf value −gradient / Hessian of that document.
    """
    import lightgbm as lgb

    rng = np.random.default_rng(2)
    n = 12
    y, init = rng.integers(0, 4, n), rng.normal(size=n)
    X = np.eye(n)
    train = lgb.Dataset(X, y, group=[n], init_score=init, params={"min_data_in_bin": 1, "feature_pre_filter": False})
    parameters = {
        "objective": "lambdarank",
        "num_leaves": 2 * n,
        "min_data_in_leaf": 1,
        "min_sum_hessian_in_leaf": 0,
        "learning_rate": 1.0,
        "verbosity": -1,
        "lambdarank_truncation_level": 5,
        "min_gain_to_split": 0,
    }
    booster = lgb.train(parameters, train, num_boost_round=1)
    leaves = booster.predict(X, raw_score=True)
    gradient, curvature = Lambda(truncation=5).gradient(init, RankingDataset.from_arrays(None, y))
    # LightGBM stops splitting where nothing is gained: compare the documents that are alone in their leaf
    alone = np.unique(booster.predict(X, pred_leaf=True).ravel(), return_counts=True)
    single = np.isin(booster.predict(X, pred_leaf=True).ravel(), alone[0][alone[1] == 1])
    assert single.sum() >= 5
    np.testing.assert_allclose(leaves[single], -(gradient / curvature)[single], rtol=2e-3)


def test_only_measures_with_a_swap_delta():
    without = next(name for name, measure in plackett.measures().items() if not measure.swaps)
    with pytest.raises(LossError, match="no swap delta"):
        Lambda(measure=without)


@pytest.mark.parametrize("wrong", [{"truncation": 0}, {"sigma": 0.0}])
def test_parameters(wrong):
    with pytest.raises(LossError, match=next(iter(wrong))):
        Lambda(**wrong)


def test_gains_beyond_float32_are_refused():
    data = RankingDataset.from_arrays(None, [200.0, 0.0])
    assert np.isfinite(Lambda().gradient(np.zeros(2), data)).all()  # relative to the ideal
    with pytest.raises(LossError, match="up to 200"):
        Lambda(measure="DCG").bind(data)


def test_close_labels_are_unequal():
    data = RankingDataset.from_arrays(None, [0.5 + 1e-12, 0.5, 1e9 + 1, 1e9], [1, 1, 2, 2])
    gradient, _ = Lambda(measure="P(rel=0.500000000001)@1").gradient(np.array([0.0, 1.0, 0.0, 1.0]), data)
    assert gradient[0] < 0 < gradient[1]
    assert gradient[2] == gradient[3] == 0.0  # both are relevant
