"""The distribution of scores that a ranker remembers is that of its own scores, also after it was changed."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.rankers.update import update_ranker


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_ranking(n_queries=60, docs_per_query=15, n_features=5, random_state=0)


def pruned(data):
    return pk.prune(pk.LambdaMART(n_estimators=30, n_jobs=1).fit(data), data, 5)


def exiting(data):
    return pk.early_exit(pk.LambdaMART(n_estimators=60, n_jobs=1).fit(data), data, max_loss=0.5).ranker


def robust(data):
    return pk.robust_training(pk.ListNet(alpha=0.1), data, penalty=1.0)


def cheaper(data):
    return pk.efficient_weights(pk.ListNet(alpha=0.1).fit(data), data, costs=np.arange(1.0, 6.0)).ranker


def updated(data):
    half = np.arange(data.n_queries // 2)
    old = pk.ListNet(alpha=0.1).fit(data.select(half))
    return update_ranker(old, data.select(half + half.size), max_churn=0.1).ranker


@pytest.mark.parametrize("change", [pruned, exiting, robust, cheaper, updated])
def test_the_scores_of_a_changed_ranker_are_its_own(data, change):
    ranker = change(data)
    scores = ranker.predict(data)
    inside = np.mean((scores >= ranker.reference_[-1, 0]) & (scores < ranker.reference_[-1, 8]))
    assert inside == pytest.approx(0.8, abs=0.1)  # from the first decile to the ninth
