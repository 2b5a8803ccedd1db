"""Rankers and measures used from threads, processes and event loops at the same time."""

from __future__ import annotations

import asyncio
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import plackett as pk

joblib = pytest.importorskip("joblib")


def data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3000, 3)).astype(np.float32)
    return pk.RankingDataset.from_arrays(X, np.clip(np.round(X[:, 0] + 1), 0, 2), qid=np.arange(3000) // 30)


def scored(ranker, lists):
    return ranker.fit(lists).predict(lists).tolist(), pk.evaluate(lists, lists.X[:, 1], ["nDCG@10"]).mean


RANKERS = {
    "ListNet": lambda: pk.rankers.ListNet(max_iter=5),
    "LambdaMART": lambda: pk.rankers.LambdaMART(n_estimators=3),
}


@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
def test_joblib(name, backend):
    lists = data()
    alone = scored(RANKERS[name](), lists)
    work = joblib.delayed(scored)
    result = joblib.Parallel(n_jobs=2, backend=backend)(work(RANKERS[name](), lists) for _ in range(2))
    assert result == [alone, alone]


def test_one_fitted_ranker_in_many_threads():
    lists = data()
    for make in RANKERS.values():
        ranker = make().fit(lists)
        alone = ranker.predict(lists)
        fresh = pickle.loads(pickle.dumps(ranker))  # its first calls come from four threads at once
        with ThreadPoolExecutor(4) as pool:
            for scores in pool.map(lambda _, ranker=fresh: ranker.predict(lists), range(12)):
                np.testing.assert_array_equal(scores, alone)


def test_event_loop():
    lists = data()

    async def both():
        jobs = [asyncio.to_thread(scored, make(), lists) for make in RANKERS.values()]
        return await asyncio.gather(*jobs)

    assert asyncio.run(both()) == [scored(make(), lists) for make in RANKERS.values()]


MEMORY = """
import resource, sys
import numpy as np
import plackett as pk
n = 200_000
data = pk.RankingDataset.from_arrays(np.ones((n, 8), np.float32), np.arange(n) % 3, np.arange(n) // 50)
pk.evaluate(data, data.X[:, 0], ["nDCG@10"], n_jobs=2)
pk.write(data, sys.argv[1])
now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + 2_000_000, resource.RLIM_INFINITY))
try:
    pk.load(sys.argv[1], mmap=False)
except MemoryError:
    print("memory")
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(pk.load(sys.argv[1], mmap=False).n_rows)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
def test_exhausted_memory_is_an_error_and_no_more(tmp_path):
    """The error comes through, and the process goes on."""
    code = [sys.executable, "-c", MEMORY, tmp_path / "a.plackett"]
    done = subprocess.run(code, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["memory", "200000"], done.stderr
