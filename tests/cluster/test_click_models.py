"""Click models fitted to shards of a log are those of the whole log."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

import plackett as pk
from plackett.clicks import ClickLog
from plackett.clicks.loading import make_model, model_names
from plackett.cluster import click_models
from plackett.cluster.local import LocalShards
from plackett.cluster.serial import SerialShards


@pytest.fixture(scope="module")
def log():
    rng = np.random.default_rng(0)
    query = rng.integers(0, 6, 900)
    pages = rng.permuted(np.tile(np.arange(5), (900, 1)), axis=1) + 10 * query[:, None]
    chance = np.array([0.9, 0.6, 0.4, 0.3, 0.2]) * (0.2 + 0.15 * (pages % 5))
    ids = np.array([f"d{i}" for i in range(70)])
    return ClickLog.from_arrays(query, ids[pages], rng.random(pages.shape) < chance)


def parameters(model):
    """Attraction of each pair, by ids."""
    frame = model.relevance().sort("query", "document")
    return frame["relevance"].to_numpy()


@pytest.mark.parametrize("name", model_names())
def test_models_are_those_of_the_whole_log(name, log):
    make = {"max_iter": 8} if hasattr(make_model(name), "max_iter") else {}
    alone = make_model(name, **make).fit(log.collapse())
    result = pk.cluster.fit_click_model(make_model(name, **make), SerialShards(log, 3))
    assert np.allclose(parameters(result), parameters(alone), rtol=1e-6, atol=1e-9)
    assert np.isclose(result.log_likelihood(log), alone.log_likelihood(log), rtol=1e-9)


def by_query(log, n):
    """Parts of whole queries."""
    return [log.select(np.flatnonzero(log.query % n == i)) for i in range(n)]


@pytest.mark.parametrize("name", [name for name in model_names() if make_model(name).has_passes])
def test_passes_over_shards_of_whole_queries(name, log, monkeypatch):
    """The workers keep their pages: only sums travel."""
    monkeypatch.setattr(click_models, "_distinct_pages", None)
    alone = make_model(name, max_iter=8).fit(log)
    result = pk.cluster.fit_click_model(make_model(name, max_iter=8), SerialShards(by_query(log, 3)))
    assert np.allclose(parameters(result), parameters(alone), rtol=1e-6, atol=1e-9)
    assert np.isclose(result.log_likelihood(log), alone.log_likelihood(log), rtol=1e-9)


def test_passes_in_processes(log):
    with LocalShards(by_query(log, 2)) as shards:
        result = pk.cluster.fit_click_model(make_model("UBM", max_iter=5), shards)
    alone = make_model("UBM", max_iter=5).fit(log)
    assert np.allclose(parameters(result), parameters(alone), rtol=1e-6, atol=1e-9)


def kill_once(shard, path):
    if not os.path.exists(path):
        with open(path, "w"):
            pass
        os.kill(os.getpid(), signal.SIGKILL)
    return shard.collapse()


def test_files_processes_and_a_killed_worker(log, tmp_path, monkeypatch):
    for i in range(2):
        log.select(np.arange(450 * i, 450 * (i + 1))).save(tmp_path / f"{i}.plackett")
    alone = make_model("PBM").fit(log)
    with LocalShards(sorted(tmp_path.glob("*.plackett"))) as shards:
        parts = shards.gather(kill_once, str(tmp_path / "died"))
        assert (tmp_path / "died").exists() and sum(part.page_weight.sum() for part in parts) == 900
        result = pk.cluster.fit_click_model(make_model("PBM"), shards)
    assert np.allclose(parameters(result), parameters(alone), rtol=1e-6, atol=1e-9)


def test_what_is_no_log_is_refused(log):
    data = pk.datasets.make_ranking(n_queries=5, random_state=0)
    with pytest.raises(pk.DataError, match="shards of a dataset"):
        pk.cluster.fit_click_model(make_model("PBM"), SerialShards(data, 2))
    with pytest.raises(pk.DataError, match="not a click model"):
        pk.cluster.fit_click_model(pk.ListNet(), SerialShards(log, 2))
    with pytest.raises(pk.DataError, match="shared out"):
        SerialShards(log, 0)
    assert click_models._distinct_pages(log, None).page_weight.sum() == 900
