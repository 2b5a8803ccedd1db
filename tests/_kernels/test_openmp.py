from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from plackett._kernels.openmp import dismiss_waiting_threads, growing_threads, scoring_threads


def threads_of_process() -> set[str]:
    return {path.name for path in Path("/proc/self/task").iterdir()}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="GNU's OpenMP, whose threads are seen in /proc")
def test_threads_end_and_come_back():
    lgb = pytest.importorskip("lightgbm")
    X = np.random.default_rng(0).normal(size=(500, 5))
    waiting, left, predictions = [], [], []

    def work():  # in a thread of its own, whose pool no other test has used
        for _ in range(2):
            before = threads_of_process()
            booster = lgb.train({"num_threads": 3, "verbosity": -1}, lgb.Dataset(X, X[:, 0]), 3)
            predictions.append(booster.predict(X, num_threads=3))
            pool = threads_of_process() - before
            waiting.append(len(pool))
            dismiss_waiting_threads()
            deadline = time.monotonic() + 600.0
            while pool & threads_of_process() and time.monotonic() < deadline:  # they end by themselves, a moment later
                time.sleep(0.01)
            left.append(len(pool & threads_of_process()))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert waiting == [2, 2]
    assert left == [0, 0]
    np.testing.assert_array_equal(predictions[0], predictions[1])


def test_small_data_get_one_thread(monkeypatch):
    monkeypatch.setattr("plackett._kernels.openmp.n_threads", lambda n_jobs: 8 if n_jobs is None else n_jobs)
    assert growing_threads(None, 9_630, 46) == 1  # a fold of MQ2008
    assert growing_threads(None, 723_412, 136) == 8  # one of MSLR-WEB30K's size
    assert 1 < growing_threads(None, 100_000, 100) < 8
    assert growing_threads(2, 100, 5) == 2  # a number that was asked for
    assert scoring_threads(None, 1000, 100) == 1 and scoring_threads(None, 1_000_000, 100) == 8
