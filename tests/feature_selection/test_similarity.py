from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import kendalltau

import plackett as pk
from plackett import DataError
from plackett.feature_selection import similarity


def lists(sizes=(1, 2, 7, 120, 30), f=5, seed=0, ties=True):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    X = rng.normal(size=(n, f)).astype(np.float32)
    if ties:
        X = X.round(0)
        X[:8, 1] = 2.0  # constant in some queries
    return pk.RankingDataset.from_arrays(X, np.zeros(n), np.repeat(np.arange(len(sizes)), sizes))


def naive(data, signs):
    f = data.n_features
    result = np.eye(f)
    X = np.asarray(data.X) * signs
    X = np.where(np.isnan(X), -1e9, X)
    for i in range(f):
        for j in range(f):
            spans = zip(data.offsets[:-1], data.offsets[1:], strict=True)
            values = [kendalltau(X[a:b, i], X[a:b, j]).statistic for a, b in spans if b - a > 1]
            if i != j:
                result[i, j] = 0.0 if np.isnan(values).all() else np.nanmean(values)
    return result


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("long", [similarity._LONG, 1])
def test_equals_scipy_by_bits_and_by_sorting(ties, long, monkeypatch):
    data = lists(ties=ties)
    signs = np.array([1, -1, 1, 1, -1])
    if long == 1:  # the plain functions: a constant is compiled in
        total, count = np.zeros((5, 5)), np.zeros((5, 5))
        for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True):
            agree, untied = np.zeros((5, 5), np.int64), np.zeros(5, np.int64)
            similarity._by_sorting(np.ascontiguousarray(data.X[a:b] * signs.astype(np.float32)), agree, untied)
            scale = np.sqrt(np.outer(untied, untied))
            total += np.divide(agree, scale, out=np.zeros((5, 5)), where=scale > 0)
            count += scale > 0
        result = total / count
        result += result.T
        np.fill_diagonal(result, 1.0)
    else:
        result = pk.feature_similarity(data, signs)
    np.testing.assert_allclose(result, naive(data, signs), atol=1e-12)


def test_a_list_beyond_the_limit():
    data = lists((similarity._LONG + 1,), f=2)
    np.testing.assert_allclose(pk.feature_similarity(data), naive(data, np.ones(2)), atol=1e-12)


def test_missing_values_rank_last_and_sparse_tables_work():
    data = lists(ties=True)
    X = np.array(data.X)
    X[::7, 2] = np.nan
    holes = data.replace(X=X)
    np.testing.assert_allclose(pk.feature_similarity(holes), naive(holes, np.ones(5)), atol=1e-12)
    sparse = data.replace(X=csr_matrix(data.X))
    np.testing.assert_array_equal(pk.feature_similarity(sparse), pk.feature_similarity(data))


def test_a_negated_feature_is_the_same_after_the_flip():
    data = lists(ties=False)
    both = data.replace(X=np.hstack([data.X[:, :1], -data.X[:, :1]]))
    assert pk.feature_similarity(both)[0, 1] == pytest.approx(-1)
    assert pk.feature_similarity(both, [1, -1])[0, 1] == pytest.approx(1)
    assert pk.feature_similarity(both, scale="agreement")[0, 1] == pytest.approx(0)


def test_threads_do_not_change_the_result():
    data = lists(tuple([9] * 60))
    np.testing.assert_array_equal(pk.feature_similarity(data, n_jobs=1), pk.feature_similarity(data, n_jobs=3))


@pytest.mark.parametrize(
    ("parameters", "message"), [({"directions": [1, 0]}, "directions"), ({"scale": "rho"}, "scale")]
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(DataError, match=message):
        pk.feature_similarity(lists(f=2), **parameters)
