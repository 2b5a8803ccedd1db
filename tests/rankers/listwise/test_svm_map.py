"""SVM-MAP: its search against all rankings, its objective against the quadratic program, its quality on OHSUMED."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.rankers.listwise.svm_map import SVMMAP, ap_violations
from rankers.listwise.structural_checks import all_rankings, check_search, lists_of, quadratic_program, tiny_task


def average_precision(relevant):
    places = np.flatnonzero(relevant) + 1
    return np.mean(np.arange(1, places.size + 1) / places)


def test_search_finds_the_most_violated_ranking():
    check_search(lambda lists: ap_violations(lists, 1.0, 1), "AP", grades=2)


@pytest.mark.parametrize("seed", range(4))
def test_long_lists_against_the_plain_table_of_places(seed):
    """Every place of every document tried, with the sums as printed: O(m₁m₀) instead of halving."""
    rng = np.random.default_rng(seed)
    m1, m0 = 40, 90
    y = np.repeat([1.0, 0.0], [m1, m0])
    s = y * rng.choice([0.5, 20]) + rng.normal(size=y.size) * rng.choice([1, 10])
    (error,), slope = ap_violations(lists_of(y), 1.0, 1)(s)
    high, low = -np.sort(-s[:m1]), -np.sort(-s[m1:])
    i, j = np.arange(1, m1 + 1), np.arange(1, m0 + 1)[:, None]
    gain = (j / (j + i) - (j - 1) / (j + i - 1)) / m1 - 2 * (high - low[:, None]) / (m1 * m0)
    sums = np.cumsum(gain[:, ::-1], axis=1).max(axis=1)
    np.testing.assert_allclose(error + slope @ s, np.maximum(sums, 0).sum(), rtol=1e-9)


@pytest.mark.parametrize("C", [0.5, 10.0, 200.0])
def test_objective_and_weights_are_those_of_the_quadratic_program(C):
    X, y, qid = tiny_task()
    least, weights = quadratic_program(*all_rankings(X, y, qid, lambda r: 1 - average_precision(r)), C, 5)
    ranker = SVMMAP(C=C, tol=1e-7, standardize=False).fit(X, y, qid=qid)
    assert ranker.gap_ <= 1e-7
    np.testing.assert_allclose(ranker.objective_, least, rtol=1e-5)
    np.testing.assert_allclose(ranker.coef_, weights, atol=5e-3 * max(1, np.abs(weights).max()))


def test_loss_bounds_one_minus_ap():
    X, y, qid = tiny_task(n_queries=20, length=7, seed=3)
    ranker = SVMMAP(C=1.0, standardize=False).fit(X, y, qid=qid)
    w = ranker.coef_
    data = pk.RankingDataset.from_arrays(X, y, qid)
    taught = [q for q in range(20) if np.ptp(y[qid == q]) > 0]
    result = pk.evaluate(data, ranker.predict(data), ["AP"]).per_query["AP"].to_numpy()
    assert (1 - result[taught]).sum() / 20 <= ranker.objective_ - 0.5 * w @ w + 1e-9


def test_says_that_no_label_is_relevant():
    X, y, qid = tiny_task()
    with pytest.raises(ValueError, match="every label is below rel=5"):
        SVMMAP(rel=5).fit(X, y, qid=qid)


def test_weights_of_documents_act_on_lists():
    """Weight 2 on all documents of a list is weight 2 of the query; a document of weight 0 is not there."""
    X, y, qid = tiny_task(n_queries=8, grades=2)
    double = np.where(qid < 3, 2.0, 1.0)
    by_rows = SVMMAP().fit(X, y, qid=qid, sample_weight=double).predict(X)
    by_query = SVMMAP().fit(X, y, qid=qid, query_weight=np.where(np.arange(8) < 3, 2.0, 1.0)).predict(X)
    np.testing.assert_allclose(by_rows, by_query, rtol=1e-9)
    kept = np.arange(y.size) % 5 > 0
    without = SVMMAP().fit(X[kept], y[kept], qid=qid[kept]).predict(X)
    np.testing.assert_allclose(SVMMAP().fit(X, y, qid=qid, sample_weight=kept * 1.0).predict(X), without, rtol=1e-9)


@pytest.mark.golden
def test_ohsumed_reaches_the_published_map(data_dir):
    """LETOR 3.0 reports a MAP of .445 over the five folds with C chosen on validation data; here one C for all."""
    values = []
    for fold in range(1, 6):
        parts = pk.datasets.load("ohsumed", fold=fold, root=data_dir)
        ranker = SVMMAP(C=1.0).fit(parts.train)
        values.append(pk.evaluate(parts.test, ranker.predict(parts.test), ["AP"], preset="letor3").mean["AP"])
    assert np.mean(values) > 0.44
