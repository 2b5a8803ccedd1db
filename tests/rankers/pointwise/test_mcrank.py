"""McRank: boosted multi-class classification."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np

from plackett import RankingDataset
from plackett.losses.pointwise.softmax import Softmax
from plackett.rankers import McRank


def task(bounds=(-0.5, 0.5)):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)).astype(np.float32)
    return X, np.digitize(X[:, 0] + 0.5 * rng.normal(size=200), bounds).astype(float), np.repeat(np.arange(20), 10)


def test_probabilities_and_score():
    X, y, qid = task()
    ranker = McRank(n_estimators=6, num_leaves=4, n_jobs=1).fit(X, y, qid=qid)
    rows = np.random.default_rng(1).permutation(200)
    probability = ranker.predict_proba(X[rows], qid=qid[rows])
    assert probability.shape == (200, 3) and (probability >= 0).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(ranker.predict(X[rows]), probability @ [0, 1, 2], rtol=1e-9)
    raw = ranker.scorer_.model.predict(X, np.array([0, 200]))
    np.testing.assert_allclose(Softmax().ranking_scores(raw + 1e3), Softmax().ranking_scores(raw), rtol=1e-9)


def test_two_classes_are_logistic_boosting():
    """Two trees per round move apart by twice the step of one: half the rate gives the same probabilities."""
    X, y, qid = task(bounds=(0.2,))
    ours = McRank(n_estimators=8, learning_rate=0.05, num_leaves=4, n_jobs=1).fit(X, y, qid=qid)
    settings = {"objective": "binary", "boost_from_average": False, "learning_rate": 0.1, "num_leaves": 4}
    settings |= {"verbosity": -1, "num_threads": 1, "deterministic": True, "feature_pre_filter": False}
    theirs = lgb.train(settings, lgb.Dataset(X, y), 8)
    np.testing.assert_allclose(ours.predict_proba(X)[:, 1], theirs.predict(X), rtol=1e-4)


def test_training_loss_falls():
    X, y, qid = task()
    data = RankingDataset.from_arrays(X, y, qid)
    ranker = McRank(n_estimators=15, num_leaves=4, n_jobs=1).fit(data)
    booster = ranker.scorer_.booster
    losses = [Softmax()(booster.predict(X, num_iteration=t, raw_score=True), data) for t in range(1, 16)]
    assert losses[0] < 200 * np.log(3) and (np.diff(losses) < 0).all()


def test_gains_weigh_the_grades():
    X, y, qid = task()
    ranker = McRank(n_estimators=6, num_leaves=4, n_jobs=1, gain="exp2").fit(X, y, qid=qid)
    np.testing.assert_allclose(ranker.predict(X), ranker.predict_proba(X) @ [0, 1, 3], rtol=1e-9)


def test_ordinal_questions_are_binary_problems():
    """Each ensemble is LightGBM's logistic boosting on "grade k or better", the score the sum of the probabilities."""
    X, y, qid = task()
    ours = McRank(n_estimators=8, num_leaves=4, n_jobs=1, ordinal=True).fit(X, y, qid=qid)
    settings = {"objective": "binary", "boost_from_average": False, "learning_rate": 0.1, "num_leaves": 4}
    settings |= {"verbosity": -1, "num_threads": 1, "deterministic": True, "feature_pre_filter": False}
    at_least = [lgb.train(settings, lgb.Dataset(X, y >= k), 8).predict(X) for k in (1, 2)]
    np.testing.assert_allclose(ours.predict(X), at_least[0] + at_least[1], rtol=1e-4)
    probability = ours.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1, rtol=1e-12)
    agree = at_least[0] >= at_least[1]  # elsewhere the questions contradict each other
    assert agree.mean() > 0.5
    np.testing.assert_allclose(probability[agree, 0], 1 - at_least[0][agree], rtol=1e-4)
