"""IRSVM: queries weigh the same."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import RankingDataset, evaluate
from plackett.data.preferences import Preferences
from plackett.rankers.pairwise.ir_svm import IRSVM
from plackett.rankers.pairwise.rank_svm import RankSVM

from .explicit_pairs import label_pairs, linear_svc, objective, random_lists

EXACT = {"standardize": False, "tol": 1e-7, "max_iter": 20_000, "n_jobs": 1}
POWER = {"squared_hinge": 2, "hinge": 1}


@pytest.mark.parametrize("loss", POWER)
@pytest.mark.parametrize("with_levels", [False, True])
def test_equals_a_weighted_svm_on_differences(loss, with_levels):
    X, y, qid = random_lists(0)
    pairs = label_pairs(y, qid)
    query = qid[pairs[:, 0]]
    weight = 1.0 / np.bincount(query)[query]
    table = np.array([[0, 0, 0], [0.5, 0, 0], [3, 1.5, 0]]) if with_levels else None
    if with_levels:
        weight = weight * table[y[pairs[:, 0]].astype(int), y[pairs[:, 1]].astype(int)]
    D = X[pairs[:, 0]].astype(float) - X[pairs[:, 1]]
    ranker = IRSVM(C=2.0, loss=loss, level_weights=table, **EXACT).fit(X, y, qid=qid)
    expected = linear_svc(D, 2.0, weight, power=POWER[loss])
    np.testing.assert_allclose(ranker.objective_, objective(expected, D, 2.0, weight, power=POWER[loss]), rtol=3e-7)
    np.testing.assert_allclose(ranker.coef_, expected, atol=2e-3)


@pytest.mark.parametrize("loss", POWER)
def test_equal_numbers_of_pairs_are_ranking_svm(loss):
    rng = np.random.default_rng(1)
    X, y, qid = rng.normal(size=(40, 3)).astype(np.float32), np.tile([0, 0, 1, 2, 0.0], 8), np.repeat(np.arange(8), 5)
    n_pairs = 7  # 3 zeros below the 1 and the 2, and the 1 below the 2
    ranker = IRSVM(C=1.4, loss=loss, **EXACT).fit(X, y, qid=qid)
    plain = RankSVM(C=1.4 / n_pairs, loss=loss, **EXACT).fit(X, y, qid=qid)
    np.testing.assert_allclose(ranker.objective_, plain.objective_, rtol=3e-7)
    np.testing.assert_allclose(ranker.coef_, plain.coef_, atol=1e-3)


def test_pairs_given_twice_change_ranking_svm_only():
    X, y, qid = random_lists(2)
    pairs = label_pairs(y, qid)
    twice = np.vstack([pairs, pairs[qid[pairs[:, 0]] == 0]])

    def fitted(cls, rows):
        data = RankingDataset.from_arrays(X, None, qid, preferences=Preferences.from_pairs(rows))
        return cls(C=0.5, **EXACT).fit(data)

    np.testing.assert_allclose(fitted(IRSVM, twice).coef_, fitted(IRSVM, pairs).coef_, atol=1e-4)
    assert np.abs(fitted(RankSVM, twice).coef_ - fitted(RankSVM, pairs).coef_).max() > 1e-2


def test_one_long_query_does_not_decide():
    """One query of many documents that follows another feature: by queries it is one of many."""
    rng = np.random.default_rng(0)
    qid = np.concatenate([np.repeat(np.arange(30), 6), np.full(300, 30)])
    X = rng.normal(size=(qid.size, 2)).astype(np.float32)
    y = (np.where(qid < 30, X[:, 0], X[:, 1]) > 0).astype(float)
    fair, plain = (cls().fit(X, y, qid=qid) for cls in (IRSVM, RankSVM))
    data = RankingDataset.from_arrays(X, y, qid)
    means = [evaluate(data, ranker.predict(data), ["nDCG"]).mean["nDCG"] for ranker in (fair, plain)]
    assert means[0] > means[1] + 0.05


def test_queries_without_pairs_take_no_part():
    X, y, qid = random_lists(3)
    expected = IRSVM(C=0.5, **EXACT).fit(X, y, qid=qid)
    more = np.vstack([X, X[:4]]), np.append(y, np.ones(4)), np.append(qid, np.full(4, 99))
    result = IRSVM(C=0.5, **EXACT).fit(more[0], more[1], qid=more[2])
    np.testing.assert_allclose(result.coef_, expected.coef_, atol=1e-5)
