"""`CPSRanker`: the aggregation model as a ranker."""

from __future__ import annotations

import numpy as np

from plackett import RankingDataset
from plackett.aggregation import CPS, RankLists
from plackett.rankers.listwise.cps_ranker import CPSRanker
from plackett.scorers.stagewise import StagewiseScorer


def _data(seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 200).astype(float)
    X = np.column_stack([y + rng.normal(size=200), rng.normal(size=200), -y + 2 * rng.normal(size=200)])
    return RankingDataset.from_arrays(X, y, np.repeat(np.arange(20), 10))


def test_the_ranker_is_the_fitted_aggregation_of_its_features():
    data = _data()
    lists = RankLists.from_dataset(data, kind="scores")
    model = CPS(alpha=0.01).fit(lists, data.y)
    ranker = CPSRanker(alpha=0.01).fit(data)
    assert np.allclose(ranker.scorer_.theta, model.weights, atol=1e-4)
    assert ranker.scorer_.theta[0] > 0 > ranker.scorer_.theta[2]
    assert np.corrcoef(ranker.predict(data), model.scores(lists))[0, 1] > 0.999


def test_missing_values_are_documents_that_a_list_lacks():
    data = _data(1)
    X = data.X.copy()
    X[::7, 0] = np.nan
    ranker = CPSRanker().fit(X, data.y, qid=data.qid)
    assert np.isfinite(ranker.predict(X, qid=data.qid)).all()


def test_identical_documents_share_a_score():
    scores = StagewiseScorer(np.array([1.0])).predict(np.array([[1.0], [2.0], [1.0]]), np.array([0, 3]))
    assert scores.tolist() == [1.5, 3.0, 1.5]
