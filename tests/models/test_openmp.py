from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from plackett.models.openmp import dismiss_waiting_threads


def n_threads_of_process() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="GNU's OpenMP, counted in /proc")
def test_threads_end_and_come_back():
    lgb = pytest.importorskip("lightgbm")
    X = np.random.default_rng(0).normal(size=(500, 5))
    counts, predictions = [], []

    def work():  # in a thread of its own, whose pool no other test has used
        for _ in range(2):
            booster = lgb.train({"num_threads": 3, "verbosity": -1}, lgb.Dataset(X, X[:, 0]), 3)
            predictions.append(booster.predict(X, num_threads=3))
            counts.append(n_threads_of_process())
            dismiss_waiting_threads()
            time.sleep(0.2)  # they end by themselves, a moment later
            counts.append(n_threads_of_process())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert counts[0] - counts[1] == 2
    assert counts[2] == counts[0]
    np.testing.assert_array_equal(predictions[0], predictions[1])
