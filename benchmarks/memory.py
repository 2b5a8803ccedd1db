"""Memory for training from a mapped dataset: ``python benchmarks/memory.py`` (Linux).

A native file of made-up documents is written; a process of its own then trains from it under a limit on memory that no
file backs (RLIMIT_DATA): what it has after a warm-up on a small dataset, and a share of the size of the features.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from _common import peak_growth

import plackett as pk
from plackett.data.mapped import source_of

FEATURES = 136
RANKERS = {
    "LambdaMART()": lambda data: pk.LambdaMART(n_estimators=5, n_jobs=1).fit(data),
    "ListNet(alpha=1e-3)": lambda data: pk.ListNet(alpha=1e-3, max_iter=10, n_jobs=1).fit(data),
    "StochasticRank().fit_file": lambda data: _from_file(data),
}


def _from_file(data: pk.RankingDataset) -> object:
    ranker = pk.rankers.StochasticRank(n_steps=100_000, n_jobs=1)
    path = source_of(data.X)
    return ranker.fit(data) if path is None else ranker.fit_file(path)


def write(path: Path, rows: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, FEATURES), np.float32)
    y = np.digitize(X[:, :3].sum(axis=1) + rng.standard_normal(rows), [0, 1, 2])
    pk.write(pk.RankingDataset.from_arrays(X, y, np.arange(rows) // 100), path)


def private_bytes() -> int:
    """Memory that counts against RLIMIT_DATA."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("this system does not tell VmData")


def train(path: str, name: str, share: float) -> None:
    RANKERS[name](pk.datasets.make_ranking(n_queries=30, n_features=FEATURES, random_state=0))
    data = pk.load(path)
    size = data.X.nbytes
    if share:
        limit = private_bytes() + int(share * size)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    start = time.process_time()
    _, grown = peak_growth(lambda: RANKERS[name](data))
    seconds = time.process_time() - start
    print(f"  {name:<32} grew by {grown / size:.2f} of the features, {seconds:.0f} s of processor time", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--limit", type=float, default=0.6, help="share of the features' size; 0 sets no limit")
    parser.add_argument("--ranker", choices=RANKERS, action="append")
    parser.add_argument("--train", nargs=2, metavar=("FILE", "NAME"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.train:
        train(*arguments.train, arguments.limit)
        sys.exit()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.plackett"
        write(file, arguments.rows)
        size = 4e-6 * arguments.rows * FEATURES
        print(f"{arguments.rows:,} × {FEATURES}, {size:,.0f} MB; limit {arguments.limit}", flush=True)
        for ranker in arguments.ranker or RANKERS:
            command = [sys.executable, __file__, "--limit", str(arguments.limit), "--train", str(file), ranker]
            if subprocess.run(command).returncode:
                print(f"  {ranker:<32} does not fit into the limit", flush=True)
