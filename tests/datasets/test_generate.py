from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from plackett import DataError
from plackett.data.query_normalizer import QueryNormalizer
from plackett.datasets import make_ranking


def mean_ndcg(data, scores, k=10):
    """nDCG@k with gain 2^y - 1, mean over the queries with a relevant document."""
    values = []
    for a, b in pairwise(data.offsets):
        gain = 2 ** data.y[a:b] - 1
        discount = 1 / np.log2(np.arange(2, min(k, b - a) + 2))
        best = np.sort(gain)[::-1][:k] @ discount
        if best > 0:
            values.append(gain[np.argsort(-scores[a:b], kind="stable")][:k] @ discount / best)
    return np.mean(values)


def test_proportions_of_labels_are_exact():
    shares = (0.5, 0.25, 0.15, 0.1)
    data = make_ranking(100, (5, 60), 10, label_proportions=shares, random_state=0)
    np.testing.assert_allclose(np.bincount(data.y.astype(int)), np.array(shares) * data.n_rows, atol=1)
    only = make_ranking(10, 5, 3, label_proportions=(0, 1, 0), random_state=0)
    assert set(only.y) == {1}


@pytest.mark.parametrize(
    ("docs", "sizes"),
    [(7, [7, 7, 7]), ((2, 4), None), ([1, 5, 2], [1, 5, 2]), (lambda rng, n: np.arange(n) + 1, [1, 2, 3])],
)
def test_numbers_of_documents(docs, sizes):
    data = make_ranking(3, docs, 5, random_state=1)
    if sizes is None:
        assert set(data.group) <= {2, 3, 4}
    else:
        assert data.group.tolist() == sizes
    assert data.X.shape == (data.n_rows, 5) and data.X.dtype == np.float32
    assert data.X.flags.c_contiguous


def test_a_seed_decides_whatever_the_threads(monkeypatch):
    def make(seed):
        return make_ranking(400, 100, 12, missing=0.1, random_state=seed).fingerprint()

    one = make(3)
    monkeypatch.setattr("plackett.datasets.generate.n_threads", lambda: 5)
    assert make(3) == one
    assert make(4) != one
    rng = np.random.default_rng(0)
    assert make(rng) != make(rng)


def test_kinds_of_features():
    data = make_ranking(50, (2, 30), 40, missing=0.2, random_state=0)
    kind = np.array([name.split("_")[0] for name in data.feature_names])
    assert set(kind) == {"match", "count", "static", "query", "copy", "noise"}
    query = data.X[:, kind == "query"]
    for a, b in pairwise(data.offsets):
        assert (query[a:b] == query[a]).all()
    counts = data.X[:, kind == "count"]
    counts = counts[~np.isnan(counts)]
    assert (counts == np.floor(counts)).all() and counts.min() == 0
    static = make_ranking(500, 40, 40, random_state=0).X[:, kind == "static"].astype(float)
    skewness = ((static - static.mean(0)) ** 3).mean(0) / static.std(0) ** 3
    assert (skewness > 2).all()  # an exponential distribution has 2
    share = np.isnan(data.X).mean(axis=0)
    assert share[np.isin(kind, ["query", "noise"])].max() == 0
    assert abs(share[np.isin(kind, ["match", "count", "static", "copy"])].mean() - 0.2) < 0.02
    assert not np.isinf(data.X).any()


def test_copies_follow_their_source():
    data = make_ranking(40, 50, 40, random_state=2)
    kind = np.array([name.split("_")[0] for name in data.feature_names])
    correlation = np.abs(np.corrcoef(data.X.T))
    best = correlation[np.ix_(kind == "copy", kind == "match")].max(axis=1)
    assert (best > 0.9).all()


def test_without_noise_the_relevance_orders_the_labels():
    data, relevance = make_ranking(30, 40, 5, noise=0, random_state=0, return_relevance=True)
    order = np.argsort(relevance)
    assert (np.diff(data.y[order]) >= 0).all()
    noisy, truth = make_ranking(30, 40, 5, noise=1, random_state=0, return_relevance=True)
    np.testing.assert_array_equal(relevance, truth)
    assert (np.diff(noisy.y[order]) < 0).any()


def test_features_tell_the_relevance_but_only_within_a_query():
    """A regression on raw features is led astray by the differences between queries."""
    from sklearn.linear_model import Ridge

    train, test = (make_ranking(300, 40, 30, random_state=0).select(part) for part in (range(200), range(200, 300)))
    raw = Ridge().fit(train.X, train.y).predict(test.X)
    normalised = [QueryNormalizer("zscore").fit_transform(data).X for data in (train, test)]
    within = Ridge().fit(normalised[0], train.y).predict(normalised[1])
    chance = mean_ndcg(test, np.random.default_rng(0).random(test.n_rows))
    assert mean_ndcg(test, within) > mean_ndcg(test, raw) + 0.03
    assert mean_ndcg(test, raw) > chance + 0.05


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label_proportions": (0.5, 0.4)}, "add up to 1"),
        ({"missing": 1.0}, "missing=1.0; give a number of 0 or more and below 1"),
        ({"noise": -1}, "noise=-1; give a number of 0 or more"),
        ({"n_features": 0}, "n_features=0; give a whole number of 1 or more"),
        ({"n_queries": 0}, "n_queries=0; give a whole number of 1 or more"),
        ({"docs_per_query": (5, 2)}, "least <= most"),
        ({"docs_per_query": [1, 2, 3]}, "3,.* for 2 queries"),
        ({"docs_per_query": 0}, "1 or more"),
    ],
)
def test_bad_parameters(change, message):
    with pytest.raises(DataError, match=message):
        make_ranking(**({"n_queries": 2, "docs_per_query": 3, "n_features": 4} | change))
