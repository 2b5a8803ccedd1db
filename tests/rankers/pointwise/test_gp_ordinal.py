"""The Gaussian-process rankers: probabilities, special cases, hyper-parameters, rules."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF

from plackett import DataError, RankingDataset
from plackett.data.preferences import Preferences
from plackett.rankers.pairwise.gp_preference import GPPreference
from plackett.rankers.pointwise.gp_ordinal import GPOrdinal


def task(seed=0, n=40, cuts=(-0.5, 0.6)):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).astype(np.float32)
    y = np.digitize(np.sin(X[:, 0]) + 0.5 * X[:, 1] + rng.normal(0, 0.2, n), cuts).astype(float)
    return X, y, np.repeat(np.arange(n // 8), 8)


def test_probabilities():
    X, y, qid = task(n=120)
    ranker = GPOrdinal(n_jobs=1).fit(X, y, qid=qid)
    probability = ranker.predict_proba(X)
    assert probability.shape == (120, 3) and (probability >= 0).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-12)
    assert np.mean(probability.argmax(axis=1) == y) > 0.85
    assert (np.diff(ranker.scorer_.thresholds) > 0).all()
    far = ranker.predict_proba(np.full((1, 3), 1e4))[0]  # nothing is known there: the prior
    width = np.sqrt(1 + ranker.noise_**2)
    from scipy.stats import norm

    np.testing.assert_allclose(np.cumsum(far)[:2], norm.cdf(ranker.scorer_.thresholds / width), rtol=1e-6)


def test_two_grades_are_a_probit_process():
    """Beside scikit-learn's Laplace classifier, whose link is logistic: the same order of documents."""
    X, y, qid = task(n=80, cuts=(0.1,))
    settings = {"length_scale": 1.5, "noise": 0.5, "optimize": False, "n_points": 80, "n_jobs": 1}
    ranker = GPOrdinal(**settings).fit(X, y, qid=qid)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    other = GaussianProcessClassifier(9.0 * RBF(1.5), optimizer=None).fit(scaled, y).predict_proba(scaled)[:, 1]
    assert np.corrcoef(ranker.predict_proba(X)[:, 1], other)[0, 1] > 0.99


@pytest.mark.parametrize("form", [GPOrdinal, GPPreference])
def test_evidence_grows_and_finds_the_features_that_count(form):
    X, y, qid = task(n=80)
    start = form(optimize=False, n_jobs=1).fit(X, y, qid=qid)
    one = form(n_jobs=1).fit(X, y, qid=qid)
    each = form(ard=True, max_iter=40, n_jobs=1).fit(X, y, qid=qid)
    assert start.log_evidence_ < one.log_evidence_ < each.log_evidence_
    assert each.length_scale_[2] > 3 * each.length_scale_[:2].max()  # the third feature does not count


@pytest.mark.parametrize("form", [GPOrdinal, GPPreference])
def test_all_points_are_exact_and_some_come_near(form):
    X, y, qid = task(n=80)
    settings = {"length_scale": 2.0, "noise": 0.5, "optimize": False, "n_jobs": 1}
    exact, more, some = (form(n_points=n, **settings).fit(X, y, qid=qid).predict(X) for n in (80, 1000, 40))
    np.testing.assert_array_equal(exact, more)
    assert np.corrcoef(exact, some)[0, 1] > 0.98


@pytest.mark.parametrize("form", [GPOrdinal, GPPreference])
def test_weights_are_copies_of_queries(form):
    X, y, qid = task()
    weight = np.array([1.0, 2.0, 1.0, 3.0, 1.0])
    parts = [(q, c) for q in range(5) for c in range(int(weight[q]))]
    rows = np.concatenate([np.flatnonzero(qid == q) for q, _ in parts])
    ids = np.concatenate([np.full(8, 10 * q + c) for q, c in parts])
    settings = {"length_scale": 2.0, "noise": 0.5, "optimize": False, "n_jobs": 1}
    one = form(**settings).fit(X, y, qid=qid, query_weight=weight).predict(X)
    np.testing.assert_allclose(one, form(**settings).fit(X[rows], y[rows], qid=ids).predict(X), atol=1e-6)


def test_explicit_preferences():
    """They take the place of labels; the weight of a pair is how often it was seen."""
    X, y, qid = task()
    data = RankingDataset.from_arrays(X, y, qid)
    settings = {"length_scale": 2.0, "noise": 0.5, "optimize": False, "n_jobs": 1}
    expected = GPPreference(**settings).fit(data).predict(X)
    pairs = Preferences.from_labels(data, margin=False)
    given = data.replace(y=np.zeros(y.size), preferences=pairs)
    np.testing.assert_allclose(GPPreference(**settings).fit(given).predict(X), expected, atol=1e-9)
    twice = Preferences(np.tile(pairs.winner, 2), np.tile(pairs.loser, 2)).regrouped(None, data.offsets)
    weighted = data.replace(preferences=Preferences(pairs.winner, pairs.loser, weight=np.full(len(pairs), 2.0)))
    two = GPPreference(**settings).fit(data.replace(preferences=twice)).predict(X)
    np.testing.assert_allclose(GPPreference(**settings).fit(weighted).predict(X), two, atol=1e-9)
    assert not np.allclose(two, expected)


@pytest.mark.parametrize("form", [GPOrdinal, GPPreference])
def test_rules(form):
    X, y, qid = task()
    one = form(n_jobs=1).fit(X, np.where(y > 0, -1.0, 1.0), qid=qid)  # one grade, the others unjudged
    assert (one.predict(X) == 0).all()
    for parameters, match in (
        ({"noise": 0.0}, "noise=0.0"),
        ({"length_scale": -1.0}, "length_scale=-1.0"),
        ({"n_points": 0}, "n_points=0"),
    ):
        with pytest.raises(ValueError, match=match):
            form(**parameters).fit(X, y, qid=qid)


def test_grades_of_any_value():
    X, y, qid = task()
    ranker = GPOrdinal(n_jobs=1).fit(X, np.array([0.5, 0.7, 31.0])[y.astype(int)], qid=qid)
    assert ranker.scorer_.grades.tolist() == [0.5, 0.7, 31.0]
    with pytest.raises(ValueError, match="300 different labels"):
        GPOrdinal().fit(np.arange(300.0)[:, None], np.arange(300), qid=np.zeros(300, int))
    with pytest.raises(ValueError, match="without judged labels"):
        GPOrdinal().fit(X, -np.ones(y.size), qid=qid).predict_proba(X)


def test_weights_beyond_all_digits_are_refused():
    X = np.random.default_rng(0).normal(size=(48, 4))
    qid, weight = np.repeat(np.arange(8), 6), np.full(48, 1e9)
    with pytest.raises(DataError, match="weights of the observations are too large"):
        GPPreference(n_jobs=1).fit(X, np.arange(48) % 3, qid=qid, sample_weight=weight)
