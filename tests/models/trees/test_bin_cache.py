"""Bins are kept beside the data and used again, if they are those of the same data and settings."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest

import plackett as pk
from plackett.data import mapped
from plackett.models.trees import bin_cache


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(mapped, "_LEAST_BYTES", 1)
    pk.write(pk.datasets.make_ranking(n_queries=30, n_features=5, random_state=0), tmp_path / "a.plackett")
    return tmp_path


def train(folder, **more):
    ranker = pk.LambdaMART(n_estimators=3, n_jobs=1, **more).fit(pk.load(folder / "a.plackett"))
    return ranker.scorer_.text


def caches(folder):
    return sorted(folder.glob("*.bins"))


@pytest.fixture
def binned(monkeypatch):
    """Number of tables that LightGBM had to bin."""
    count = []
    made = lgb.Dataset

    def dataset(data, *a, **k):
        if isinstance(data, np.ndarray):
            count.append(data.shape)
        return made(data, *a, **k)

    monkeypatch.setattr(lgb, "Dataset", dataset)
    return count


def test_second_training_does_not_bin(folder, binned):
    first = train(folder)
    assert len(caches(folder)) == 1 and len(binned) == 1
    assert train(folder) == first and len(binned) == 1
    train(folder, learning_rate=0.5, num_leaves=3, gradient_bins=None)
    assert len(binned) == 1
    other = train(folder, max_bin=15)
    assert len(binned) == 2 and len(caches(folder)) == 2
    assert train(folder, max_bin=15) == other and len(binned) == 2
    valid = pk.load(folder / "a.plackett")
    assert pk.LambdaMART(n_estimators=3, n_jobs=1).fit(valid, eval_set=valid).history_
    ranker = pk.LambdaMART(n_estimators=2, n_jobs=1, warm_start=True).fit(valid)
    before = len(binned)
    ranker.fit(valid)  # the trees so far score the features
    assert len(binned) == before + 1


def test_cache_of_other_data_is_not_used(folder, binned):
    train(folder)
    old = caches(folder)
    data = pk.datasets.make_ranking(n_queries=30, n_features=5, random_state=1)
    pk.write(data, folder / "a.plackett")
    assert train(folder) == pk.LambdaMART(n_estimators=3, n_jobs=1).fit(data).scorer_.text
    assert len(caches(folder)) == 1 and caches(folder) != old  # the old one is gone


def test_damaged_and_foreign_caches_are_not_used(folder, binned, monkeypatch):
    first = train(folder)
    (path,) = caches(folder)
    good = path.read_bytes()
    for bad in (b"", good[:100], good[:-1], good[:2000] + bytes([good[2000] ^ 1]) + good[2001:], good + b"x"):
        path.write_bytes(bad)
        before = len(binned)
        assert train(folder) == first
        assert len(binned) == before + 1 and path.read_bytes()[-32:] == good[-32:]  # written again
    monkeypatch.setattr(bin_cache, "_secret", lambda: bytes(32))
    before = len(binned)
    assert train(folder) == first and len(binned) == before + 1


def test_switched_off_or_not_writable(folder, monkeypatch):
    first = train(folder)
    for path in caches(folder):
        path.unlink()
    monkeypatch.setenv("PLACKETT_BIN_CACHE", "0")
    assert train(folder) == first and not caches(folder)
    monkeypatch.delenv("PLACKETT_BIN_CACHE")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bin_cache, "replacing", full)
    assert train(folder) == first and not caches(folder)


def test_parts_and_data_in_memory_have_no_cache(folder):
    data = pk.load(folder / "a.plackett")
    pk.LambdaMART(n_estimators=2, n_jobs=1, validation_fraction=0.3).fit(data)
    pk.LambdaMART(n_estimators=2, n_jobs=1).fit(data.select(np.arange(20)))
    assert not caches(folder)
