"""Calibration: probabilities of relevance from scores."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression

import plackett as pk
from plackett import DataError
from plackett.scorers.calibration import IsotonicCalibration, LogisticCalibration, calibrate
from plackett.testing.rankers import easy_task


def scored(seed=0, n=4000):
    rng = np.random.default_rng(seed)
    scores = rng.normal(3.0, 20.0, n)
    truth = 1.0 / (1.0 + np.exp(-(0.1 * scores - 1.0)))
    return scores, (rng.random(n) < truth).astype(float), truth


@pytest.mark.parametrize("method", ["isotonic", "logistic"])
def test_probabilities_come_near_the_truth(method):
    scores, labels, _ = scored()
    fresh, _, truth = scored(seed=1)
    result = calibrate(scores, labels, method).probability(fresh)
    assert np.abs(result - truth).mean() < 0.03
    assert (np.diff(result[np.argsort(fresh)]) >= 0).all()


def test_logistic_is_the_maximum_of_platts_likelihood():
    scores, labels, _ = scored(n=200)
    up, down = labels.sum(), (1 - labels).sum()
    target = np.where(labels > 0, (up + 1) / (up + 2), 1 / (down + 2))

    def loss(p):
        t = p[0] * scores + p[1]
        return (np.logaddexp(0, t) - target * t).sum()

    best = minimize(loss, [0.05, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000})
    result = calibrate(scores, labels, "logistic")
    np.testing.assert_allclose([result.slope, result.intercept], best.x, rtol=1e-3)


def test_isotonic_is_the_isotonic_regression():
    scores, labels, _ = scored(n=300)
    weight = np.random.default_rng(3).uniform(0.5, 2.0, 300)
    expected = IsotonicRegression().fit(scores, labels, weight).predict(scores)
    result = calibrate(scores, labels, "isotonic", sample_weight=weight)
    np.testing.assert_allclose(result.probability(scores), expected, atol=1e-12)


def test_unjudged_documents_do_not_count():
    scores, labels, _ = scored(n=300)
    padded = np.concatenate([labels, np.full(50, -1.0)])
    result = calibrate(np.concatenate([scores, np.full(50, 1e3)]), padded, "logistic")
    assert result == calibrate(scores, labels, "logistic")


@pytest.mark.parametrize("method", ["isotonic", "logistic"])
def test_ranker_keeps_it_on_disk_and_orders_by_it(method, tmp_path):
    X, y, qid = easy_task(n_queries=60)
    ranker = pk.rankers.ListNet(calibration=method, validation_fraction=0.4).fit(X, y, qid=qid)
    p = ranker.predict_relevance(X, qid=qid)
    assert ((p >= 0) & (p <= 1)).all()
    order = np.argsort(ranker.predict(X, qid=qid), kind="stable")
    assert (np.diff(p[order]) >= 0).all()
    assert abs(p.mean() - (y >= 1).mean()) < 0.15
    ranker.save(tmp_path / "m.plackett")
    np.testing.assert_array_equal(pk.load(tmp_path / "m.plackett").predict_relevance(X, qid=qid), p)


def test_rankers_that_expand_their_features():
    X, y, qid = easy_task(n_queries=60)
    ranker = pk.rankers.PolynomialRegression(calibration="logistic", validation_fraction=0.4).fit(X, y, qid=qid)
    assert ranker.predict_relevance(X, qid=qid).shape == y.shape


def test_refitting_without_forgets_it():
    X, y, qid = easy_task(n_queries=30)
    ranker = pk.rankers.ListNet(calibration="logistic", validation_fraction=0.4).fit(X, y, qid=qid)
    ranker.set_params(calibration=None).fit(X, y, qid=qid)
    with pytest.raises(DataError, match="without calibration"):
        ranker.predict_relevance(X, qid=qid)


def test_errors():
    X, y, qid = easy_task(n_queries=10)
    with pytest.raises(DataError, match="needs validation data"):
        pk.rankers.ListNet(calibration="isotonic").fit(X, y, qid=qid)
    with pytest.raises(DataError, match="calibration='platt'; give one of 'isotonic', 'logistic'"):
        pk.rankers.ListNet(calibration="platt", validation_fraction=0.2).fit(X, y, qid=qid)
    with pytest.raises(DataError, match="no relevant"):
        calibrate(np.arange(3.0), np.zeros(3))
    with pytest.raises(DataError, match="damaged"):
        IsotonicCalibration.from_arrays({"score": np.array([1.0, 0.0]), "value": np.array([0.0, 1.0])})
    with pytest.raises(DataError, match="damaged"):
        LogisticCalibration.from_arrays({"slope": np.array([-1.0]), "intercept": np.array([0.0])})


@pytest.mark.parametrize("method", ["isotonic", "logistic"])
def test_the_size_of_weights_and_documents_of_weight_zero_do_not_matter(method):
    scores, labels, _ = scored(n=300)
    grid = np.linspace(-40, 40, 9)
    plain = calibrate(scores, labels, method).probability(grid)
    weight = np.concatenate([np.full(300, 1e-12), np.zeros(50)])
    odd = np.concatenate([scores, np.full(50, np.nan)])
    result = calibrate(odd, np.concatenate([labels, np.ones(50)]), method, sample_weight=weight)
    np.testing.assert_allclose(result.probability(grid), plain, atol=1e-6)


@pytest.mark.parametrize("method", ["isotonic", "logistic"])
def test_scores_that_are_all_equal_say_how_many_are_relevant(method):
    labels = np.repeat([1.0, 0.0], [100, 300])
    result = calibrate(np.full(400, 2.0), labels, method).probability(np.array([-5.0, 2.0, 9.0]))
    np.testing.assert_allclose(result, 0.25, atol=5e-3)


@pytest.mark.parametrize("method", ["isotonic", "logistic"])
def test_what_cannot_be_calibrated_is_refused(method):
    with pytest.raises(DataError, match=r"scores\[1\] is nan"):
        calibrate(np.array([0.0, np.nan, 2.0]), np.array([0, 1, 1]), method)
    with pytest.raises(DataError, match="no relevant"):
        calibrate(np.array([0.0, 1.0]), np.array([0, 1]), method, sample_weight=np.array([1.0, 0.0]))
