"""The generative ranker: discriminant analysis, naive Bayes and the parameters it was drawn from."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

from plackett import DataError, GenerativeRanker


def drawn(n=4000, grades=3, seed=0):
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(grades, 3))
    root = np.array([[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.2, -0.4, 0.8]])
    y = rng.choice(grades, n, p=np.array([0.5, 0.3, 0.2])[:grades] / np.array([0.5, 0.3, 0.2])[:grades].sum())
    X = (means[y] + rng.normal(size=(n, 3)) @ root.T).astype(np.float32)
    return X, y.astype(float), np.arange(n) // 20, means, root @ root.T


def test_two_grades_with_one_covariance_are_discriminant_analysis():
    X, y, qid, _, _ = drawn(grades=2)
    ranker = GenerativeRanker(covariance="shared", shrinkage=0.0).fit(X, y, qid=qid)
    expected = LinearDiscriminantAnalysis().fit(X, y).decision_function(X)
    result = ranker.predict(X, qid=qid)
    assert np.corrcoef(np.log(result / (1 - result)), expected)[0, 1] > 0.99999  # the gain of grade 1 is 1


def test_diagonal_covariances_are_naive_bayes():
    X, y, qid, _, _ = drawn()
    ranker = GenerativeRanker(covariance="diagonal", gain="linear").fit(X, y, qid=qid)
    expected = GaussianNB().fit(X, y).predict_proba(X) @ [0.0, 1.0, 2.0]
    np.testing.assert_allclose(ranker.predict(X, qid=qid), expected, atol=0.01)


def test_parameters_are_recovered():
    X, y, qid, means, covariance = drawn(n=20_000)
    ranker = GenerativeRanker(shrinkage=0.0).fit(X, y, qid=qid)
    np.testing.assert_allclose(ranker.scorer_.means, means, atol=0.06)
    np.testing.assert_allclose(ranker.priors_, [0.5, 0.3, 0.2], atol=0.02)
    for root in ranker.scorer_.roots:
        np.testing.assert_allclose(np.linalg.inv(root.T @ root), covariance, atol=0.1)


def test_refusals():
    X, y, qid, _, _ = drawn(n=200)
    with pytest.raises(DataError, match="covariance='round'"):
        GenerativeRanker(covariance="round").fit(X, y, qid=qid)
    with pytest.raises(DataError, match="shrinkage=2"):
        GenerativeRanker(shrinkage=2).fit(X, y, qid=qid)
    with pytest.raises(DataError, match="200 different labels"):
        GenerativeRanker().fit(X, np.arange(200.0), qid=qid)
