"""Ten million documents end to end: ``python benchmarks/large.py --rows 10000000`` (Linux).

A native file of made-up documents is written in blocks; LambdaMART and ListNet are trained from it and evaluated on
another file, each in a process of its own, which tells its times and the memory that no file backs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from _common import peak_growth

import plackett as pk
from plackett.data.streaming import _to_native

FEATURES, DOCUMENTS = 100, 100
BLOCK = 200_000
RANKERS: dict[str, Any] = {
    "LambdaMART": lambda jobs: pk.LambdaMART(n_estimators=20, n_jobs=jobs),
    "ListNet": lambda jobs: pk.ListNet(alpha=1e-3, max_iter=20, n_jobs=jobs),
}


def blocks(rows: int, seed: int) -> Iterator[pk.RankingDataset]:
    rng = np.random.default_rng(seed)
    weights = np.zeros(FEATURES)
    weights[:10] = np.linspace(1, 0.1, 10)
    for start in range(0, rows, BLOCK):
        n = min(BLOCK, rows - start)
        X = rng.standard_normal((n, FEATURES), np.float32)
        relevance = X @ weights + X[:, 10] * X[:, 11] + rng.standard_normal(n)
        y = np.digitize(relevance, [0.5, 2.0, 3.5, 5.0])
        yield pk.RankingDataset.from_arrays(X, y, (start + np.arange(n)) // DOCUMENTS)


def timed(what: str, function: Any, size: int = 0) -> Any:
    wall, cpu = time.perf_counter(), time.process_time()
    result, grown = peak_growth(function)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    share = f" ({grown / size:.2f} of the features)" if size else ""
    print(f"  {what:<28} {wall:>7.0f} s, {cpu:>7.0f} s of processor time, {grown / 1e6:>6.0f} MB{share}", flush=True)
    return result


def learn(train: str, test: str, name: str, jobs: int | None) -> None:
    small = pk.datasets.make_ranking(n_queries=30, n_features=FEATURES, random_state=0)
    pk.evaluate(small, RANKERS[name](jobs).fit(small), ["nDCG@10"])  # compiles
    data, judged = pk.load(train), pk.load(test)
    ranker = timed(f"{name}: train", lambda: RANKERS[name](jobs).fit(data), data.X.nbytes)
    found = timed(f"{name}: evaluate", lambda: pk.evaluate(judged, ranker, ["nDCG@10", "AP"]))
    print(f"  {name}: {found.mean}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, help="where the files go for the time; not a memory disk")
    parser.add_argument(
        "--jobs", type=int, help="threads; all cores by default. LightGBM's wait busily: on a busy machine give 1"
    )
    parser.add_argument("--learn", nargs=3, metavar=("TRAIN", "TEST", "NAME"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.learn:
        learn(*arguments.learn, arguments.jobs)
        sys.exit()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        train, test = str(Path(folder) / "train.plackett"), str(Path(folder) / "test.plackett")
        print(f"{arguments.rows:,} × {FEATURES}, {4e-9 * arguments.rows * FEATURES:.1f} GB", flush=True)
        timed("write", lambda: _to_native(blocks(arguments.rows, 0), train))
        timed("write the test part", lambda: _to_native(blocks(arguments.rows // 10, 1), test))
        for name in RANKERS:
            jobs = [] if arguments.jobs is None else ["--jobs", str(arguments.jobs)]
            subprocess.run([sys.executable, __file__, *jobs, "--learn", train, test, name], check=True)
