"""Latency: the cost model against times that are known, the budget, the cost of features."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.rankers.latency import Latency, latency


class Timed:
    """A ranker whose calls take a known time on a clock of their own: 20 µs and 3 ns per document and tree."""

    def __init__(self, ranker, trees, noise=0.0):
        self.ranker, self.trees, self.noise, self.now = ranker, trees, noise, 0.0
        self.scorer_, self.n_features_in_ = ranker.scorer_, ranker.n_features_in_
        self.rng = np.random.default_rng(0)

    def predict(self, data):
        self.now += (20e-6 + 3e-9 * data.n_rows * self.trees) * (1 + self.noise * self.rng.random())
        return self.ranker.predict(data)


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_ranking(n_queries=40, docs_per_query=(5, 60), n_features=6, random_state=0)


@pytest.fixture(scope="module")
def trees(data):
    return pk.LambdaMART(n_estimators=8, num_leaves=4, n_jobs=1).fit(data)


def test_the_cost_model_is_that_of_the_clock(data, trees):
    timed = Timed(trees, 8)
    result = latency(timed, data, clock=lambda: timed.now)
    assert result.trees == 8
    assert result.per_call == pytest.approx(20.0) and result.per_document_and_tree == pytest.approx(3.0)
    n = data.group
    assert result.percentile(50) == pytest.approx(np.median(20e-3 + 3e-6 * 8 * n))
    assert result.predicted(1000) == pytest.approx(20e-3 + 3e-6 * 8 * 1000)
    assert result.within_budget and result.most_documents() == pytest.approx((50 - 20e-3) / 24e-6, rel=1e-3)
    noisy = Timed(trees, 8, noise=0.2)
    result = latency(noisy, data, clock=lambda: noisy.now)
    for documents in (5, 30, 60):  # within the noise
        exact = 20e-3 + 3e-6 * 8 * documents
        assert exact <= result.predicted(documents) <= 1.2 * exact


def test_the_text_has_no_powers_of_ten_and_no_trees_where_there_are_none():
    times = {"documents": np.array([9]), "microseconds": np.array([90.0]), "budget_ms": 50.0}
    linear = Latency(**times, trees=1, per_call=308.4, per_document_and_tree=10_432.1, per_document=0.0)
    assert str(linear).endswith("308 µs per call, 10,432 ns per document")
    forest = Latency(**times, trees=80, per_call=3.0, per_document_and_tree=1.5, per_document=2.0)
    assert str(forest).endswith("1.5 ns per document and tree, 2 µs per document for features")


def test_features_are_paid_once_per_document_if_they_are_used(data, trees):
    costs = 2.0 ** np.arange(6)
    used = np.unique(trees.scorer_.trees.feature)
    result = latency(trees, data, feature_costs=costs, repeats=1)
    assert result.per_document == costs[used].sum()
    without = latency(trees, data, repeats=1)
    assert without.per_document == 0.0
    tight = latency(trees, data, feature_costs=costs * 1e6, budget_ms=1.0, repeats=1)
    assert not tight.within_budget and "BEYOND" in str(tight) and tight.most_documents() == 0
    exiting = pk.early_exit(trees, data, trees=(2,), keep=(3,), max_loss=1.0).ranker
    assert latency(exiting, data, repeats=1).trees == 8


def test_lists_of_one_length(data, trees):
    same = pk.datasets.make_ranking(n_queries=10, docs_per_query=7, n_features=6, random_state=0)
    timed = Timed(trees, 8)
    result = latency(timed, same, clock=lambda: timed.now)
    assert result.predicted(7) == pytest.approx(20e-3 + 3e-6 * 8 * 7)


def test_what_is_wrong_is_named(data, trees):
    for settings, message in (
        ({"repeats": 0}, "repeats"),
        ({"budget_ms": 0}, "budget_ms"),
        ({"feature_costs": [1.0]}, "feature_costs"),
        ({"feature_costs": [-1.0] * 6}, "feature_costs"),
    ):
        with pytest.raises(pk.DataError, match=message):
            latency(trees, data, **settings)
