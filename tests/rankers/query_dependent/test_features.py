"""Query features against plain loops; where they come from, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import plackett as pk
from plackett import DataError
from plackett.scorers.query_map import QueryMap
from tests.rankers.query_dependent.planted import rotating


def lists(seed=0):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(6), [1, 4, 7, 3, 9, 2])
    return pk.RankingDataset.from_arrays(rng.normal(size=(qid.size, 3)), np.zeros(qid.size), qid)


def test_statistics_of_the_best_documents():
    data = lists()
    result = pk.query_features(data, reference=1, top=3)
    for q in range(data.n_queries):
        part = data.X[data.offsets[q] : data.offsets[q + 1]].astype(float)
        best = part[np.argsort(-part[:, 1])[:3]]
        np.testing.assert_allclose(
            result[q], np.concatenate([best.mean(axis=0), best.std(axis=0)]), rtol=1e-5, atol=1e-6
        )
    everything = pk.query_features(data, reference=1, top=100)
    np.testing.assert_array_equal(everything, pk.query_features(data))
    sparse = pk.query_features(data.replace(X=csr_matrix(data.X)))
    np.testing.assert_allclose(sparse, everything, rtol=1e-6)


def test_order_of_documents_and_constant_features_do_not_matter():
    data = lists()
    rows = np.random.default_rng(1).permutation(data.n_rows)
    turned = pk.RankingDataset.from_arrays(data.X[rows], None, data.qid[rows])
    places = [turned.qids.tolist().index(qid) for qid in data.qids.tolist()]
    np.testing.assert_allclose(pk.query_features(turned)[places], pk.query_features(data), rtol=1e-6, atol=1e-7)
    X = data.X.copy()
    X[:, 0] = 5.0
    X[3, 1] = np.nan
    z = QueryMap.fitted("computed", X, data.offsets, None)(X, data.offsets)
    assert np.isfinite(z).all() and z.shape[1] == 4  # mean and spread of two features


def test_sources_and_refusals():
    data = rotating(20, 0)
    bare = data.replace(query_features=None)
    ranker = pk.KNNOffline2(base="LinearRegression", k=5)
    trained = ranker.fit(data)
    with pytest.raises(DataError, match="trained with query features"):
        trained.predict(bare)
    with pytest.raises(DataError, match="query_features='given', but the data have none"):
        pk.KNNOffline2(query_features="given").fit(bare)
    with pytest.raises(DataError, match="column 0 varies within a query"):
        pk.KNNOffline2(query_features=[0]).fit(bare)
    with pytest.raises(DataError, match="reference: there is no feature 'bm25'"):
        pk.KNNOffline2(reference="bm25").fit(bare)
    wide = np.hstack([data.X, data.query_features[data.query_of_row]])
    named = pk.RankingDataset.from_arrays(wide, data.y, data.qid, feature_names=["a", "b", "c", "d", "z0", "z1"])
    columns = pk.KNNOffline2(base="LinearRegression", k=5, query_features=["z0", "z1"]).fit(named)
    assert columns.scorer_.query_map.source == "columns"
    # from a frame, where the query features are columns
    frame = named.to_polars().drop("label")
    np.testing.assert_array_equal(columns.predict(frame), columns.predict(named))


def test_query_features_of_another_width_are_refused():
    data = pk.datasets.make_ranking(n_queries=12, docs_per_query=5, n_features=3, random_state=0)
    z = np.random.default_rng(0).normal(size=(12, 2))
    ranker = pk.KNNOffline2(base="LinearRegression", k=4).fit(data.replace(query_features=z))
    for other in (z[:, :1], np.hstack([z, z])):
        with pytest.raises(DataError, match=f"query_features has {other.shape[1]} columns, but 2 in training"):
            ranker.predict(data.replace(query_features=other))
