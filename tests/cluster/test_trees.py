"""Trees grown by several processes are those of one; a process that dies is an error."""

from __future__ import annotations

import os

import numpy as np
import pytest

import plackett as pk
from cluster.deaths import dies, fails, fails_as_another_died, kills_the_worker
from plackett.cluster import trees
from plackett.cluster.dask import DaskShards
from plackett.cluster.local import LocalShards
from plackett.cluster.serial import SerialShards
from plackett.cluster.shards import cut
from plackett.data.native import save_dataset
from plackett.rankers import MART


def ranking(n_queries=40, seed=0):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rng.integers(5, 15, n_queries))
    X = rng.normal(size=(qid.size, 5)).astype(np.float32)
    X[::9, 3] = np.nan
    y = np.digitize(X[:, 0] - X[:, 1] ** 2 + rng.normal(size=qid.size), [-1.0, 0.0, 1.5])
    weight = rng.uniform(0.5, 2, n_queries)
    return pk.RankingDataset.from_arrays(X, y, qid, query_weight=weight, feature_names=list("abcde"))


@pytest.fixture(scope="module")
def data():
    return ranking()


@pytest.fixture(scope="module")
def processes(data):
    with LocalShards(data, 2) as shards:
        yield shards


def settings(**more):
    return {"n_estimators": 6, "num_leaves": 5, "min_child_samples": 3, "n_jobs": 1} | more


@pytest.mark.parametrize("make", [pk.LambdaMART, MART], ids=lambda make: make.__name__)
def test_trees_are_those_of_one_process(data, processes, make, tmp_path):
    alone = make(**settings(gradient_bins=None)).fit(data)
    result = pk.cluster.fit_trees(make(**settings()), processes)
    assert np.allclose(result.predict(data), alone.predict(data), rtol=1e-9, atol=1e-12)
    assert result.card_["data"] == {"queries": 40, "rows": data.n_rows, "features": 5, "shards": 2}
    assert result.feature_names_in_.tolist() == list("abcde")
    np.testing.assert_allclose(result.reference_, alone.reference_, rtol=1e-6)
    result.save(tmp_path / "m.plackett")
    assert np.array_equal(pk.load(tmp_path / "m.plackett").predict(data), result.predict(data))


def test_documents_in_leaves_are_estimated():
    """Without a least number of documents in a leaf the trees are those of one process; LightGBM may fail then."""
    data = pk.datasets.make_ranking(40, docs_per_query=10, n_features=5, random_state=1)
    with LocalShards(data, 2) as shards:
        few = {"n_estimators": 5, "min_child_samples": 0, "n_jobs": 1}
        alone = pk.LambdaMART(gradient_bins=None, **few).fit(data)
        result = pk.cluster.fit_trees(pk.LambdaMART(**few), shards)
        assert np.allclose(result.predict(data), alone.predict(data), rtol=1e-9, atol=1e-12)
        with pytest.raises(pk.LossError, match="a leaf to be empty .*give min_child_samples=1 or more"):
            pk.cluster.fit_trees(pk.LambdaMART(**few | {"n_estimators": 50}), shards)


def test_bins_do_not_depend_on_the_shards(data, monkeypatch):
    monkeypatch.setattr(trees, "BIN_ROWS", 100)
    samples = [trees._sample(SerialShards(data, n)) for n in (1, 3)]
    assert samples[0].shape == (100, 5)
    assert np.array_equal(samples[0], samples[1], equal_nan=True)


def test_a_smaller_dataset_is_never_taken_for_the_whole(data, processes):
    result = processes.together(trees._grow, _orders(data, processes))
    trees._agreed(result, data.n_rows)
    with pytest.raises(pk.ClusterError, match="instead of"):
        trees._agreed(result, data.n_rows + 1)
    with pytest.raises(pk.ClusterError, match="different trees"):
        trees._agreed([result[0], (result[1][0], "other", result[1][2])], data.n_rows)


def _orders(data, processes):
    ranker = pk.LambdaMART(**settings(gradient_bins=None, n_estimators=1))
    places = processes.gather(trees._address)
    machines = ",".join(f"{host}:{port}" for host, port in places)
    return [(ranker, ranker, ranker.make_loss(), data.X, machines, port) for _, port in places]


def test_a_process_that_dies_stops_the_others(processes):
    before = [worker.process.pid for worker in processes.workers]
    with pytest.raises(pk.ClusterError, match=r"shard 2 of 2.*-9: killed.*the others were stopped"):
        processes.together(dies, [0, 1])
    with pytest.raises(pk.ClusterError, match=r"shard 2 of 2.*-9: killed"):
        processes.together(fails_as_another_died, [0, 1])
    with pytest.raises(pk.DataError, match="a bad label"):
        processes.together(fails, [0, 1])
    for pid in before:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_what_is_for_one_machine_is_refused(data):
    shards = SerialShards(data, 2)
    for ranker, reason in (
        (pk.ListNet(alpha=0.1), "not a loss with boosted trees"),
        (pk.LambdaMART(subsample=0.5), "subsample=0.5 is for one machine"),
        (pk.LambdaMART(n_bags=2), "n_bags=2"),
        (pk.LambdaMART(boosting="dart"), "boosting='dart'"),
        (pk.LambdaMART(validation_fraction=0.2), "validation data"),
    ):
        with pytest.raises(pk.LossError, match=reason):
            pk.cluster.fit_trees(ranker, shards)


@pytest.mark.full
def test_trees_on_a_dask_cluster(data, tmp_path):
    distributed = pytest.importorskip("distributed")
    for i, part in enumerate(cut(data, 2)):
        save_dataset(part, tmp_path / f"{i}.plackett")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        DaskShards(sorted(tmp_path.glob("*.plackett")), client) as shards,
    ):
        result = pk.cluster.fit_trees(pk.LambdaMART(**settings()), shards)
        alone = pk.LambdaMART(**settings(gradient_bins=None)).fit(data)
        assert np.allclose(result.predict(data), alone.predict(data), rtol=1e-9, atol=1e-12)
        with pytest.raises(pk.ClusterError, match="exit code -9"):
            shards.together(dies, [0, 1])
        with pytest.raises(pk.ClusterError, match="was lost while all shards ran kills_the_worker together"):
            shards.together(kills_the_worker, [os.getpid(), 0])
