"""Sums over shards equal those on one machine, and a shard is never left out."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest

import plackett as pk
from cluster.deaths import rows_and_worker
from plackett.cluster.dask import DaskShards, placed
from plackett.cluster.local import LocalShards
from plackett.cluster.serial import SerialShards
from plackett.cluster.shards import cut
from plackett.data.native import save_dataset


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 6)).astype(np.float32) * [1, 10, 0.1, 1, 1, 1] + [0, 5, 0, 0, 0, 3]
    y = np.digitize(X[:, 0] - X[:, 3] + rng.normal(size=900), [0.0, 1.0, 2.5])
    qid = np.repeat(np.arange(60), 15)
    weights = {"sample_weight": rng.uniform(0.5, 2, 900), "query_weight": rng.uniform(0.5, 2, 60)}
    return pk.RankingDataset.from_arrays(X, y, qid, feature_names=list("abcdef"), **weights)


@pytest.fixture(scope="module")
def processes(data):
    with LocalShards(data, 2) as shards:
        yield shards


def everything(shard, _):
    return shard.n_rows, shard.y.sum(), shard.X.sum(axis=0, dtype=np.float64)


def asked(shard, argument):
    return shard.n_rows * argument


def complains(shard, _):
    raise pk.DataError("a bad label")


def dies(shard, _):
    os.kill(os.getpid(), signal.SIGKILL)


def dies_once(shard, path):
    """Kill the process of one shard, once."""
    if shard.qids[0] == 0 and not os.path.exists(path):
        with open(path, "w"):
            pass
        os.kill(os.getpid(), signal.SIGKILL)
    return shard.n_rows


def in_total(data):
    return data.n_rows, data.y.sum(), data.X.sum(axis=0, dtype=np.float64)


def test_queries_stay_whole(data):
    for n in (1, 2, 7, 60, 100):
        parts = cut(data, n)
        assert len(parts) == min(n, 60)
        assert np.array_equal(np.concatenate([part.qids for part in parts]), data.qids)
        assert all(part.n_rows % 15 == 0 for part in parts)
    with pytest.raises(pk.DataError, match="n_shards=0"):
        cut(data, 0)
    with pytest.raises(pk.DataError, match="paths of native files"):
        cut([1, 2], 2)


def test_sums_in_processes(data, processes):
    n, labels, totals = processes.sum(everything)
    assert (n, labels) == in_total(data)[:2]
    assert np.allclose(totals, in_total(data)[2], rtol=1e-12)
    assert processes.sum(asked, 2) == 1800


def test_files_are_shards(data, tmp_path):
    for i, part in enumerate(cut(data, 3)):
        save_dataset(part, tmp_path / f"{i}.plackett")
    shards = SerialShards(sorted(tmp_path.glob("*.plackett")))
    assert shards.sum(everything)[0] == 900


def test_errors_of_workers_are_raised_here(processes):
    with pytest.raises(pk.DataError, match="a bad label"):
        processes.sum(complains)
    assert processes.sum(asked, 1) == 900  # the workers go on


def test_killed_worker_is_replaced(processes, tmp_path):
    assert processes.sum(dies_once, str(tmp_path / "died")) == 900
    assert (tmp_path / "died").exists()


@pytest.mark.full
def test_worker_that_keeps_dying_is_an_error(data):
    with LocalShards(data.select(np.arange(2)), 1) as shards:
        with pytest.raises(
            pk.ClusterError, match=r"shard 1 of 1: its process ended 3 times while it ran dies.*-9: killed"
        ):
            shards.sum(dies)
        assert shards.sum(asked, 1) == 30


# ------------------------------------------------------------------------------------------------------------ on shards


@pytest.mark.parametrize(
    "make",
    [
        lambda: pk.ListNet(alpha=1e-3, tol=1e-9),
        lambda: pk.ListMLE(alpha=1e-2, tol=1e-9),
        lambda: pk.rankers.LinearRegression(),
        lambda: pk.ListNet(alpha=1e-2, l1_ratio=0.5, standardize=False),
    ],
    ids=["ListNet", "ListMLE", "LinearRegression", "L1"],
)
def test_linear_rankers_are_those_of_one_machine(data, make):
    alone = make()
    if not hasattr(alone, "make_loss") or not hasattr(alone, "solver"):
        pytest.skip("is fitted in closed form")
    alone = alone.fit(data)
    result = pk.cluster.fit_linear(make(), SerialShards(data, 4))
    assert np.allclose(result.coef_, alone.coef_, rtol=1e-5, atol=1e-6 * np.abs(alone.coef_).max())
    assert result.card_["data"] == {"queries": 60, "rows": 900, "features": 6, "shards": 4}
    assert result.feature_names_in_.tolist() == list("abcdef")


def test_linear_ranker_in_processes(data, processes, tmp_path):
    result = pk.cluster.fit_linear(pk.ListNet(alpha=0.1, tol=1e-9, n_jobs=1), processes)
    alone = pk.ListNet(alpha=0.1, tol=1e-9).fit(data)
    assert np.allclose(result.coef_, alone.coef_, rtol=1e-5, atol=1e-7)
    result.save(tmp_path / "m.plackett")
    assert np.array_equal(pk.load(tmp_path / "m.plackett").predict(data), result.predict(data))


def test_what_cannot_be_fitted_in_shards_is_refused(data):
    shards = SerialShards(data, 2)
    with pytest.raises(pk.LossError, match="linear model"):
        pk.cluster.fit_linear(pk.LambdaMART(), shards)
    with pytest.raises(pk.LossError, match="validation data"):
        pk.cluster.fit_linear(pk.ListNet(alpha=0.1, validation_fraction=0.2), shards)
    with pytest.raises(pk.LossError, match="smooth"):
        pk.cluster.fit_linear(pk.ListNet(alpha=0.1, solver="sgd"), shards)
    twice = SerialShards(data, 2)
    twice.shards = [twice.shards[0], twice.shards[0]]
    with pytest.raises(pk.DataError, match="more than one shard"):
        pk.cluster.fit_linear(pk.ListNet(alpha=0.1), twice)


def test_evaluation_is_that_of_one_machine(data):
    """The highest grade is in one shard only, which must not matter."""
    y = data.y.copy()
    y[:3] = 4
    data = data.replace(y=y)
    ranker = pk.ListNet().fit(data)
    names = ["nDCG@10", "AP", "ERR@10", "RBP", "P@5", 'nDCG(gain="linear")@3']
    alone = pk.evaluate(data, ranker.predict(data), names)
    result = pk.cluster.evaluate(SerialShards(data, 5), ranker, names)
    assert result.mean == alone.mean
    assert result.per_query.equals(alone.per_query)


def test_statistics_are_those_of_one_machine(data):
    X = np.array(data.X, np.float64)
    X[::7, 2] = np.nan
    X[:, 5] = np.nan
    given = data.replace(X=X.astype(np.float32))
    X = given.X.astype(np.float64)
    result = pk.cluster.feature_statistics(SerialShards(given, 4))
    assert result.missing.tolist() == np.isnan(X).sum(axis=0).tolist()
    with np.errstate(invalid="ignore"):
        for j in range(5):
            column = X[~np.isnan(X[:, j]), j]
            assert np.allclose(
                [result.count[j], result.mean[j], result.deviation[j], result.least[j], result.largest[j]],
                [column.size, column.mean(), column.std(), column.min(), column.max()],
                rtol=1e-12,
            )
    assert np.isnan(result.mean[5]) and np.isnan(result.largest[5])


# ----------------------------------------------------------------------------------------------------------------- dask


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, worker_dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_dask(data, client):
    with DaskShards(data, client) as shards:
        assert shards.sum(everything)[:2] == in_total(data)[:2]
        result = pk.cluster.fit_linear(pk.ListNet(alpha=0.1, tol=1e-6, max_iter=15, n_jobs=1), shards)
        alone = pk.cluster.fit_linear(pk.ListNet(alpha=0.1, tol=1e-6, max_iter=15, n_jobs=1), SerialShards(data, 2))
        assert np.array_equal(result.coef_, alone.coef_)
        with pytest.raises(pk.DataError, match="a bad label"):
            shards.sum(complains)


@pytest.mark.full
def test_dask_with_a_killed_worker(data, tmp_path):
    distributed = pytest.importorskip("distributed")
    for i, part in enumerate(cut(data, 2)):
        save_dataset(part, tmp_path / f"{i}.plackett")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        DaskShards(sorted(tmp_path.glob("*.plackett")), client) as shards,
    ):
        assert shards.sum(dies_once, str(tmp_path / "died")) == 900
        with pytest.raises(pk.ClusterError, match="died while they ran dies"):
            shards.sum(dies)


@pytest.mark.full
def test_shards_on_one_worker_are_shared_out(data, tmp_path):
    distributed = pytest.importorskip("distributed")
    for i, part in enumerate(cut(data, 2)):
        save_dataset(part, tmp_path / f"{i}.plackett")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        DaskShards(sorted(tmp_path.glob("*.plackett")), client) as shards,
    ):
        sizes = shards.gather(_rows)
        client.replicate(shards.futures)  # as Dask does now and then: either worker has both
        result = shards.together(rows_and_worker, [None, None])
        assert [rows for rows, _ in result] == sizes and len({worker for _, worker in result}) == 2
        workers = client.run(os.getpid)
        lost, process = next(iter(workers.items()))
        os.kill(process, signal.SIGKILL)
        while lost in client.nthreads() or len(client.nthreads()) < 2:  # it is replaced by one that has nothing
            time.sleep(0.05)
        again = shards.together(rows_and_worker, [None, None])
        assert [rows for rows, _ in again] == sizes and len({worker for _, worker in again}) == 2
        assert {worker for _, worker in again} != {worker for _, worker in result}
        cluster.scale(1)
        while len(client.nthreads()) > 1:
            time.sleep(0.05)
        with pytest.raises(pk.ClusterError, match="2 shards, but 1 workers with 1 threads are left"):
            shards.together(rows_and_worker, [None, None])


def _rows(shard, _):
    return shard.n_rows


def test_shards_are_moved_only_if_they_have_to_be():
    assert placed([["b"], ["a"]], {"a": 1, "b": 1}) == ["b", "a"]
    assert placed([["a"], ["a"]], {"a": 2, "b": 2}) == ["a", "a"]  # a worker with two threads works on both
    assert placed([["a", "b"], ["a", "b"]], {"a": 2, "b": 2}) in (["a", "b"], ["b", "a"])
    assert placed([["a"], [], ["a", "c"]], {"a": 1, "b": 1, "c": 1}) == ["a", "b", "c"]


@pytest.mark.parametrize("copies", [1, 2])
def test_the_reference_is_that_of_one_machine(copies):
    """Also with queries of the same content, and without those of weight 0."""
    part = pk.datasets.make_ranking(n_queries=150, n_features=4, random_state=0)
    X, y = np.tile(part.X, (copies, 1)), np.tile(part.y, copies)
    group = np.tile(part.group, copies)
    weight = np.random.default_rng(0).choice([0.0, 1.0, 2.0], group.size)
    data = pk.RankingDataset.from_arrays(X, y, group=group, query_weight=weight)
    alone = pk.ListNet(alpha=0.1).fit(data)
    result = pk.cluster.fit_linear(pk.ListNet(alpha=0.1).fit(part), SerialShards(data, 3))  # it forgets the first
    assert np.array_equal(result.reference_[:-1], alone.reference_[:-1])
    np.testing.assert_allclose(result.reference_[-1], alone.reference_[-1], atol=1e-3)


def test_a_penalty_to_be_chosen_is_refused():
    data = pk.datasets.make_ranking(n_queries=12, random_state=0)
    with pytest.raises(pk.LossError, match="alpha='auto' is chosen by cross-validation on one machine; give a number"):
        pk.cluster.fit_linear(pk.ListNet(), pk.cluster.SerialShards(data, 2))
