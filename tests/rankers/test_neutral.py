"""Every ranker around another one is that one exactly at its neutral setting, with a linear base and with trees."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.rankers.wrapper import Wrapper

N_QUERIES = 12
LINEAR = pk.GradientRanker(model=pk.Linear(alpha=1e-2), n_jobs=1)
TREES = pk.GradientRanker(
    model=pk.Trees(n_estimators=4, num_leaves=4, min_child_samples=1, lightgbm_params={"min_data_in_bin": 1}), n_jobs=1
)
REGRESSIONS = pk.LinearRegression(n_jobs=1), pk.MART(n_estimators=4, num_leaves=4, min_child_samples=1, n_jobs=1)
NEAR = pk.Neighbours(k=2)

#: The setting in which each one does nothing.
NEUTRAL = {
    "AffineRegression": {"n_sweeps": 0},
    "BoostingTransfer": {},
    "ClassRankers": {"n_classes": 1},
    "CombinedTransfer": {},
    "FeatureTransfer": {},
    "GraphPropagation": {"n_neighbors": 0},
    "HypergraphRanker": {"beta": 0.0, "relation": NEAR},
    "ImportanceTransfer": {},
    "InstanceTransfer": {},
    "KNNOffline1": {"k": N_QUERIES},
    "KNNOffline2": {"k": N_QUERIES},
    "KNNOnline": {"k": N_QUERIES},
    "KernelFeatures": {"n_components": 0},
    "ModelClusters": {"n_clusters": 1},
    "MultiTask": {},
    "PooledTransfer": {},
    "PreferencePropagation": {"n_neighbors": 0},
    "RelationalFeedback": {"beta": 0.0, "relation": NEAR},
    "RelationalRankSVM": {"beta": 0.0, "relation": NEAR},
    "RelationalRanker": {"similar": {NEAR: 0.0}},
    "ScorePropagation": {"alpha": 1.0, "relation": NEAR},
    "SemiSupervisedRankBoost": {"trade_off": 0.0},
    "SimilarityPropagation": {"n_neighbors": 0},
    "SubsampleEnsemble": {"n_members": 1, "fraction": 1.0},
    "SubspaceClusters": {"n_clusters": 1},
    "TopicDistillation": {"beta": 0.0, "relation": NEAR},
    "TwoLayer": {"query_features": "given"},  # the same for all queries
    "WeakSupervision": {"trade_off": 0.0},
}
#: Scores are multiplied by a constant: 1 + α, or one over the spread of the scores.
SCALED = {"ScorePropagation", "SubsampleEnsemble"}


@pytest.fixture(scope="module")
def parts():
    data = pk.datasets.make_ranking(n_queries=2 * N_QUERIES, docs_per_query=8, n_features=4, random_state=3)
    data = data.replace(query_features=np.ones((2 * N_QUERIES, 1), np.float32))
    hidden = np.where(np.arange(data.n_rows) % 5 == 4, -1.0, data.labels)
    train, test = data.replace(y=hidden).select(range(N_QUERIES)), data.select(range(N_QUERIES, 2 * N_QUERIES))
    return train, test


def test_the_list_is_complete():
    assert sorted(NEUTRAL) == sorted(name for name, cls in pk.rankers().items() if issubclass(cls, Wrapper))


@pytest.mark.parametrize("kind", ["linear", "trees"])
@pytest.mark.parametrize("name", NEUTRAL)
def test_neutral_setting(name, kind, parts):
    train, test = parts
    base = LINEAR if kind == "linear" else TREES
    if name == "AffineRegression":
        base = REGRESSIONS[kind == "trees"]
    if name == "RelationalRankSVM":
        if kind == "trees":
            pytest.skip("it is a support vector machine itself")
        base = pk.RankSVM(C=1e-3, n_jobs=1)
    ranker = pk.rankers()[name](base=base, n_jobs=1, **NEUTRAL[name])
    expected = base.fit(train).predict(test)
    result = ranker.fit(train).predict(test)
    if name in SCALED:
        np.testing.assert_allclose(result * (expected.std() / result.std()), expected, rtol=1e-9)
    else:
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("name", ["MultiTask", "PooledTransfer", "FeatureTransfer"])
def test_one_domain_by_name(name, parts):
    train, test = parts
    ranker = pk.rankers()[name](base=LINEAR, n_jobs=1).fit(train, domain=["be"] * N_QUERIES, target="be")
    np.testing.assert_array_equal(ranker.predict(test), LINEAR.fit(train).predict(test))


@pytest.mark.parametrize("kind", ["linear", "trees"])
def test_relations_that_are_not_used_change_nothing(kind, parts):
    train, test = parts
    base = LINEAR if kind == "linear" else TREES
    related = [part.replace(relations={"similarity": NEAR(part)}) for part in (train, test)]
    expected = base.fit(train).predict(test)
    np.testing.assert_array_equal(base.fit(related[0]).predict(test), expected)
    ranker = pk.RelationalFeedback(base=base, beta=0.0).fit(related[0])
    np.testing.assert_array_equal(ranker.predict(related[1]), expected)
