"""Experiments on a Dask cluster give the result of one machine, also when a worker dies."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

import pytest

import plackett as pk
from plackett.datasets import make_ranking
from plackett.rankers import LinearRegression, ListNet

dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")


@dataclass(kw_only=True, eq=False, repr=False)
class Fragile(LinearRegression):
    """Kills its process, as often as there are files left to remove."""

    folder: str = ""

    def _fit(self, data, monitor):
        for name in sorted(os.listdir(self.folder)):
            os.remove(os.path.join(self.folder, name))
            os.kill(os.getpid(), signal.SIGKILL)
        super()._fit(data, monitor)


def run(**more):
    data = make_ranking(n_queries=20, n_features=4, random_state=0)
    rankers = {"list": ListNet(alpha=0.1, max_iter=5), "line": LinearRegression()}
    return pk.experiment(data, more.pop("rankers", rankers), ["nDCG@5"], folds=3, search=None, **more)


def test_same_result_as_here(tmp_path, monkeypatch):
    alone = run(n_jobs=1)
    monkeypatch.chdir(tmp_path)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, worker_dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        result = run(cluster=client, out="results")
        assert result.per_query.equals(alone.per_query)
        broken = run(cluster=client, rankers={"bad": ListNet(alpha=-1.0), "line": LinearRegression()})
        assert len(broken.failures) == 3 and "alpha=-1.0" in str(broken.failures[0])


@pytest.mark.full
def test_killed_workers(tmp_path):
    (tmp_path / "once").mkdir()
    (tmp_path / "often").mkdir()
    (tmp_path / "once" / "a").touch()
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        result = run(cluster=client, rankers={"fragile": Fragile(folder=str(tmp_path / "once"))})
        assert not result.failures and len(result.cells) == 3
        for i in range(40):
            (tmp_path / "often" / str(i)).touch()
        result = run(cluster=client, rankers={"fragile": Fragile(folder=str(tmp_path / "often"))})
        assert result.failures
        assert "no worker of the cluster could compute the cell: KilledWorker" in str(result.failures[0])
