"""Importances against naive loops and cases with a known answer."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest
import scipy.sparse as sp

import plackett as pk
from plackett import DataError, RankingDataset
from plackett.datasets import make_ranking
from plackett.evaluation.importance import permutation_importance, single_feature_importance
from plackett.losses import Square
from plackett.rankers import ListNet


@pytest.fixture(scope="module")
def data():
    return make_ranking(20, 7, 4, random_state=1).replace(feature_names=None)


def by_feature(frame, column="importance"):
    return dict(zip(frame["feature"], frame[column], strict=True))


def test_feature_that_is_the_label_and_its_negative():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 40)
    y[::8] = 2  # every query has something relevant
    qid = np.repeat(np.arange(5), 8)
    X = np.column_stack([y, -y, rng.normal(size=40), np.ones(40)])
    data = RankingDataset.from_arrays(X, y, qid)
    result = single_feature_importance(data, "nDCG@5")
    importance, direction = by_feature(result), by_feature(result, "direction")
    assert importance["1"] == importance["2"] == 1.0
    assert direction["1"] == "high first" and direction["2"] == "low first"
    # a constant feature leaves the order open: the mean over all orders, in both directions
    assert importance["4"] == pytest.approx(pk.evaluate(data, np.zeros(40), "nDCG@5").mean["nDCG@5"])
    assert importance["3"] < 1


def test_single_features_against_evaluate(data):
    result = single_feature_importance(data, "AP")
    assert result["importance"].is_sorted(descending=True)
    high, low = by_feature(result, "high_first"), by_feature(result, "low_first")
    for j in range(4):
        for sign, values in ((1, high), (-1, low)):
            expected = pk.evaluate(data, sign * data.X[:, j].astype(float), "AP").mean["AP"]
            assert values[str(j + 1)] == pytest.approx(expected)
    sparse = data.replace(X=sp.csr_array(data.X))
    assert single_feature_importance(sparse, "AP").equals(result)


def test_what_should_be_small_is_negated(data):
    losses = by_feature(single_feature_importance(data, Square()), "high_first")
    assert losses["2"] == pytest.approx(-Square()(data.X[:, 1].astype(float), data))
    ranks = by_feature(single_feature_importance(data, "ARP"), "high_first")
    assert ranks["2"] == pytest.approx(-pk.evaluate(data, data.X[:, 1].astype(float), "ARP").mean["ARP"])


def test_missing_values_are_last_in_both_directions():
    data = RankingDataset.from_arrays([[np.nan], [1.0], [-5.0]], [0, 1, 1], qid=[1, 1, 1])
    result = single_feature_importance(data, "AP")
    assert result["high_first"].item() == result["low_first"].item() == 1.0


@pytest.mark.parametrize("within_queries", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_permutation_against_a_naive_loop(data, within_queries, sparse):
    ranker = ListNet(alpha=0.01, n_jobs=1).fit(data)
    given = data.replace(X=sp.csr_array(data.X)) if sparse else data
    result = permutation_importance(ranker, given, "nDCG@3", n_repeats=3, within_queries=within_queries, random_state=5)
    whole = pk.evaluate(data, ranker.predict(data), "nDCG@3").mean["nDCG@3"]
    for j in range(4):
        drops = []
        for r in range(3):
            rng = np.random.default_rng([5, r])
            if within_queries:
                key = rng.random(data.n_rows)
                bounds = zip(data.offsets[:-1], data.offsets[1:], strict=True)
                order = np.concatenate([a + np.argsort(key[a:b]) for a, b in bounds])
            else:
                order = rng.permutation(data.n_rows)
            X = np.array(data.X)
            for i in range(data.n_rows):
                X[i, j] = data.X[order[i], j]
            drops.append(whole - pk.evaluate(data, ranker.predict(data.replace(X=X)), "nDCG@3").mean["nDCG@3"])
        assert by_feature(result)[str(j + 1)] == pytest.approx(np.mean(drops), abs=1e-12)
        assert by_feature(result, "std")[str(j + 1)] == pytest.approx(np.std(drops, ddof=1), abs=1e-12)


def test_permutation_of_what_a_model_does_not_use(data):
    """Only the feature that the scores come from counts; other libraries' rankers can be asked as well."""
    noisy = data.replace(X=np.column_stack([data.labels, data.X]).astype(np.float32))
    ranker = lgb.LGBMRanker(n_estimators=3, min_child_samples=2, n_jobs=1, verbose=-1, random_state=0)
    ranker.fit(noisy.X, noisy.y.astype(int), group=noisy.group)
    result = permutation_importance(ranker, noisy, "nDCG@5", n_repeats=2)
    used = ranker.booster_.feature_importance() > 0
    importance = by_feature(result)
    assert result["feature"][0] == "1" and result["importance"][0] > 0.1
    assert all(importance[str(j + 1)] == 0 for j in np.flatnonzero(~used))


def test_permutation_needs_a_repeat_and_labels(data):
    ranker = ListNet(n_jobs=1).fit(data)
    with pytest.raises(DataError, match="n_repeats=0"):
        permutation_importance(ranker, data, n_repeats=0)
    with pytest.raises(DataError, match="no labels"):
        permutation_importance(ranker, data.replace(y=None))
