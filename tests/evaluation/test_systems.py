"""What stands for a system: scores, or a fitted ranker of any library; queries by id or by size."""

from __future__ import annotations

import warnings

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

import plackett as pk
from plackett.datasets import make_ranking


@pytest.fixture(scope="module")
def data():
    return make_ranking(20, docs_per_query=(3, 9), n_features=4, random_state=0)


@pytest.fixture(scope="module")
def ranker(data):
    return pk.LinearRegression().fit(data)


@pytest.fixture(scope="module")
def lightgbm(data):
    import lightgbm as lgb

    peer = lgb.LGBMRanker(n_estimators=3, min_child_samples=2, verbose=-1)
    return peer.fit(data.X, data.y, group=data.group)


def test_rankers_stand_for_their_scores(data, ranker, lightgbm):
    """One rule for everything that takes a dataset and scores."""
    takes_both = [
        lambda s: pk.evaluate(data, s, ["nDCG@10"]).values["nDCG@10"],
        lambda s: pk.compare(data, {"a": s, "b": data.X[:, 0]}, ["AP"]).values["AP"],
        lambda s: pk.measure_curve(data, s),
        lambda s: pk.precision_recall_curve(data, s)[1],
        lambda s: pk.roc_curve(data, s).tpr,
        lambda s: pk.pair_precision(data, s),
        lambda s: pk.robustness(data, s, n_samples=2).per_query["worst"].to_numpy(),
        lambda s: pk.run_frame(data, s)["score"].to_numpy(),
    ]
    for system in (ranker, lightgbm):
        scores = system.predict(data if system is ranker else data.X)
        for function in takes_both:
            np.testing.assert_array_equal(function(system), function(scores))


def test_interleaves_rankers(data, ranker):
    query = data.select([3]).replace(docids=np.array([f"d{i}" for i in range(data.group[3])]))
    lists = [query.docids[np.argsort(-s, kind="stable")].tolist() for s in (ranker.predict(query), query.X[:, 0])]
    shown = pk.online.interleave([ranker, query.X[:, 0]], data=query, k=4, seed=1)
    assert shown.documents == pk.online.interleave(lists, k=4, seed=1).documents
    with pytest.raises(pk.DataError, match="ranker 0 is a LinearRegression: give the documents of the query, data="):
        pk.online.interleave([ranker, ranker])
    with pytest.raises(pk.DataError, match="one query with document ids"):
        pk.online.interleave([ranker, ranker], data=data)
    with pytest.raises(pk.DataError, match="without names"):
        pk.online.interleave({"a": lists[0], "b": lists[1]})


def test_queries_by_id_or_by_size(data):
    scores = data.X[:, 0]
    by_id = pk.evaluate(data.y, scores, ["AP"], qid=data.query_of_row).values["AP"]
    np.testing.assert_array_equal(pk.evaluate(data.y, scores, ["AP"], group=data.group).values["AP"], by_id)
    compared = pk.compare(data.y, {"a": scores, "b": -scores}, ["AP"], group=data.group)
    np.testing.assert_array_equal(compared.values["AP"][:, 0], by_id)
    for function in (pk.evaluate, pk.compare):
        with pytest.raises(pk.DataError, match="already has its queries"):
            function(data, {"a": scores, "b": scores} if function is pk.compare else scores, "AP", group=data.group)


def test_one_long_list_is_warned_about(data):
    with pytest.warns(
        pk.PlackettWarning, match=rf"all {data.n_rows} documents are one ranked list.*group=\[{data.n_rows}\]"
    ):
        pk.evaluate(data.y, data.X[:, 0], "AP")
    with pytest.warns(pk.PlackettWarning, match="one ranked list"):
        pk.compare(data.y, {"a": data.X[:, 0], "b": data.X[:, 1]}, "AP")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pk.evaluate(data.y, data.X[:, 0], "AP", group=[data.n_rows])
        pk.evaluate(data.y[:100], data.X[:100, 0], "AP")


def test_what_is_no_system(data, ranker):
    with pytest.raises(pk.DataError, match=r"a dict of 1; plackett\.compare"):
        pk.evaluate(data, {"a": data.X[:, 0]}, "AP")
    with pytest.raises(pk.DataError, match="data is of type ndarray; make a dataset of it"):
        pk.roc_curve(data.X[:, 0], data)
    with pytest.raises(pk.DataError, match="a ranker needs the features"):
        pk.evaluate(data.y, ranker, "AP", group=data.group)
    with pytest.raises(pk.DataError, match="numbers, one for each row, or a fitted ranker"):
        pk.evaluate(data, "scores.txt", "AP")


def test_what_is_neither_data_nor_scores():
    data = make_ranking(5, 4, 2, random_state=0)
    with pytest.raises(pk.DataError, match=r"scores is a RankingDataset: data come first, evaluate\(data, scores"):
        pk.evaluate(data.y, data, "AP")
    with pytest.raises(pk.DataError, match=r"the data are a frame; make a dataset of it, pk\.RankingDataset"):
        pk.evaluate(data.to_polars(), data.y, "AP")


def test_boosters_stand_in_for_scores():
    """What ``lightgbm.train`` and ``xgboost.train`` return has no ``fit``, and predicts arrays."""
    data = make_ranking(20, 8, 4, random_state=0)
    booster = lgb.train({"objective": "lambdarank", "verbose": -1}, lgb.Dataset(data.X, data.y, group=data.group), 2)
    assert pk.evaluate(data, booster, "AP").mean == pk.evaluate(data, booster.predict(data.X), "AP").mean
    matrix = xgb.DMatrix(data.X, data.y, qid=data.qid)
    booster = xgb.train({"objective": "rank:ndcg"}, matrix, 2)
    assert pk.evaluate(data, booster, "AP").mean == pk.evaluate(data, booster.predict(matrix), "AP").mean
