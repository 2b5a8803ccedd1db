"""Linear weights and the cost of features."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett.feature_selection import efficiency_tradeoff
from plackett.scorers.linear import LinearScorer


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(200, 3))
    y = np.digitize(z @ [1.0, 0.6, 0.1], [0.3, 1.2]).astype(float)
    X = np.column_stack([z, z[:, 0] + 0.1 * rng.normal(size=200)])
    data = pk.RankingDataset.from_arrays(X, y, np.repeat(np.arange(20), 10))
    return pk.LinearRegression(n_jobs=1, max_iter=30).fit(data), data


def _value(ranker, data, weights, costs, rate, beta):
    scores = data.X.astype(float) @ weights
    quality = pk.evaluate(data, scores, ["nDCG@10"]).values["nDCG@10"]
    return efficiency_tradeoff(quality, costs[weights != 0].sum(), rate=rate, beta=beta).mean()


def test_it_never_falls_and_is_at_least_the_best_subset(case):
    ranker, data = case
    costs = np.array([6.0, 2.0, 1.0, 1.0])
    result = pk.efficient_weights(ranker, data, costs=costs, rate=0.1)
    assert list(result.history) == sorted(result.history)
    weights = result.ranker.scorer_.weights[:, 0]
    assert result.tradeoff == pytest.approx(_value(ranker, data, weights, costs, 0.1, 1.0))
    assert result.cost == costs[weights != 0].sum() == costs[result.selected].sum()
    start = ranker.scorer_.weights[:, 0]
    every = [
        _value(ranker, data, np.where(np.isin(np.arange(4), kept), start, 0.0), costs, 0.1, 1.0)
        for n in range(1, 5)
        for kept in itertools.combinations(range(4), n)
    ]
    assert result.tradeoff >= max(every) - 1e-9  # of the start's weights, with any of them left out
    assert 0 not in result.selected  # the fourth says the same for a sixth of the price


def test_without_costs_only_quality_counts(case):
    ranker, data = case
    plain = pk.evaluate(data, ranker.predict(data), ["nDCG@10"]).mean["nDCG@10"]
    free = pk.efficient_weights(ranker, data, costs=np.zeros(4), beta=np.inf)
    only = pk.efficient_weights(ranker, data, costs=np.full(4, 5.0), beta=np.inf)
    assert free.quality == only.quality == free.tradeoff >= plain
    assert pk.efficient_weights(ranker, data, rate=5.0, beta=0.1).cost < 4.0


def test_unused_features_change_nothing(case):
    ranker, data = case
    result = pk.efficient_weights(ranker, data, costs=[9.0, 1.0, 1.0, 1.0])
    unused = np.setdiff1d(np.arange(4), result.selected)
    assert unused.size
    X = data.X.copy()
    X[:, unused] = 1e6
    np.testing.assert_array_equal(result.ranker.predict(X, qid=data.query_of_row), result.ranker.predict(data))
    assert isinstance(ranker.scorer_, LinearScorer) and (ranker.scorer_.weights != 0).all()


def test_refusals(case):
    ranker, data = case
    with pytest.raises(DataError, match="linear"):
        pk.efficient_weights(pk.LambdaMART(n_estimators=2, n_jobs=1).fit(data), data)
    with pytest.raises(DataError, match="lower"):
        pk.efficient_weights(ranker, data, measure="ARP")
    with pytest.raises(DataError, match="features"):
        pk.efficient_weights(ranker, data.replace(X=data.X[:, :2]))
    with pytest.raises(DataError, match="labels"):
        pk.efficient_weights(ranker, data.replace(y=None))
