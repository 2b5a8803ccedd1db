"""Memory for training from a mapped dataset: ``python benchmarks/memory.py`` (Linux).

A native file of made-up documents is written; a process of its own then trains from it under a limit on memory that no
file backs (RLIMIT_DATA): what it has after a warm-up on a small dataset, and a share of the size of the features, or a
number of megabytes:

    python benchmarks/memory.py --constant --features 50 --megabytes 64 --rows 4000000

Bytes per document of every linear ranker of the catalogue, from the peaks at two sizes:

    python benchmarks/memory.py --sweep
    python benchmarks/memory.py --sweep --ranker SVMMAP --ranker PRank
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _common import peak_growth

import plackett as pk
from plackett.data.mapped import source_of
from plackett.rankers.pairwise.stochastic.loops import LOOPS
from plackett.rankers.wrapper import Wrapper

RANKERS = {
    "LambdaMART()": lambda data: pk.LambdaMART(n_estimators=5, n_jobs=1).fit(data),
    "ListNet(alpha=1e-3)": lambda data: pk.ListNet(alpha=1e-3, max_iter=10, n_jobs=1).fit(data),
    "StochasticRank().fit_file": lambda data: _from_file(data),
}
#: Those whose memory does not grow with the documents.
CONSTANT = {
    "RankSVM(C=1e-5)": lambda data: pk.RankSVM(C=1e-5, n_jobs=1).fit(data),
    "RankSVM(C=1e-6, hinge)": lambda data: pk.RankSVM(C=1e-6, loss="hinge", n_jobs=1).fit(data),
    "RankSVM(), early stopping": lambda data: pk.RankSVM(
        validation_fraction=0.2, early_stopping_rounds=3, n_jobs=1
    ).fit(data),
    "IRSVM(C=1e-3)": lambda data: pk.rankers.IRSVM(C=1e-3, n_jobs=1).fit(data),
    "StochasticRank()": lambda data: pk.rankers.StochasticRank(n_jobs=1).fit(data),
    "OnlineRankSVM()": lambda data: pk.rankers.OnlineRankSVM(n_jobs=1).fit(data),
    "PRank(max_iter=3)": lambda data: pk.rankers.PRank(max_iter=3, n_jobs=1).fit(data),
    "AllThreshold(max_iter=5)": lambda data: pk.rankers.AllThreshold(max_iter=5, n_jobs=1).fit(data),
    "SVMMAP(max_iter=20)": lambda data: pk.rankers.SVMMAP(max_iter=20, n_jobs=1).fit(data),
    "PointwiseSVM(C=1e-5)": lambda data: pk.rankers.PointwiseSVM(C=1e-5, n_jobs=1).fit(data),
    "AdaRank(n_estimators=5)": lambda data: pk.rankers.AdaRank(n_estimators=5, n_jobs=1).fit(data),
    "FixedMarginSVM(tol=1e-3)": lambda data: pk.rankers.FixedMarginSVM(tol=1e-3, n_jobs=1).fit(data),
}
#: Scorers that take a sum over the features.
LINEAR = ("HyperplanesScorer", "LinearScorer", "OrdinalScorer")
#: Rows and features of the two datasets of a sweep, and the seconds that a ranker may take on one of them.
SMALL, LARGE, WIDTH, PATIENCE = 200_000, 600_000, 25, 300
#: Rounds of training in a sweep: the peak is reached in the first ones.
FEW = {"max_iter": 3, "max_rounds": 2, "n_estimators": 3, "n_steps": 100_000}
#: Those whose rounds are long.
FEWER = {"AveragedPRank", "BayesPointMachine", "CoordinateAscent", "LinearDiscriminant", "MeasureSearch"}


def quick(name: str) -> Callable[[pk.RankingDataset], Any]:
    """A ranker of the catalogue, or a loop of StochasticRank, that trains for a few rounds."""
    name, _, loop = name.partition(" ")
    ranker = pk.rankers()[name]
    few = {key: value for key, value in FEW.items() if key in ranker().get_params()}
    if name in FEWER:
        few = dict.fromkeys(few, 1)
    return ranker(**few | ranker._test_settings | {"n_jobs": 1} | ({"loop": loop} if loop else {})).fit


def chosen(name: str) -> Callable[[pk.RankingDataset], Any]:
    return (RANKERS | CONSTANT).get(name) or quick(name)


def _from_file(data: pk.RankingDataset) -> object:
    ranker = pk.rankers.StochasticRank(n_steps=100_000, n_jobs=1)
    path = source_of(data.X)
    return ranker.fit(data) if path is None else ranker.fit_file(path)


def write(path: Path, rows: int, features: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, features), np.float32)
    y = np.digitize(X[:, :3].sum(axis=1) + rng.standard_normal(rows), [0, 1, 2])
    pk.write(pk.RankingDataset.from_arrays(X, y, np.arange(rows) // 100), path)


def private_bytes() -> int:
    """Memory that counts against RLIMIT_DATA."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("this system does not tell VmData")


def train(path: str, name: str, share: float, megabytes: float, plain: bool) -> None:
    data, work = pk.load(path), chosen(name)
    warnings.simplefilter("ignore")  # too few rounds
    work(pk.datasets.make_ranking(n_queries=30, n_features=data.n_features, random_state=0))
    size = data.X.nbytes
    if share or megabytes:
        limit = private_bytes() + int(1e6 * megabytes or share * size)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    start = time.process_time()
    _, grown = peak_growth(lambda: work(data))
    seconds = time.process_time() - start
    if plain:
        print(grown, seconds)
        return
    took = f"{grown / 1e6:.1f} MB, {grown / size:.2f} of the features, {seconds:.1f} s of processor time"
    print(f"  {name:<32} grew by {took}", flush=True)


def linear_rankers() -> list[str]:
    """Rankers of the catalogue that learn a linear scorer, and the other loops of StochasticRank."""
    data, names = pk.datasets.make_ranking(n_queries=12, n_features=5, random_state=0), []
    warnings.simplefilter("ignore")
    for name, ranker in pk.rankers().items():
        print(f"\r\033[K  looking for linear rankers: {name}", end="", file=sys.stderr, flush=True)
        fitted = None if issubclass(ranker, Wrapper) else quick(name)(data)  # what wraps others has their memory
        names += [name] * (type(getattr(fitted, "scorer_", None)).__name__ in LINEAR)
    print("\r\033[K", end="", file=sys.stderr, flush=True)
    return names + [f"StochasticRank {loop}" for loop in LOOPS]


def sweep(names: list[str]) -> None:
    """Print the growth of each ranker's peak from one size to the other, per document."""
    print(f"{'':<32} {SMALL:>9,} {LARGE:>9,}  bytes per document, seconds", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        files = {rows: Path(folder) / f"{rows}.plackett" for rows in (SMALL, LARGE)}
        for rows, file in files.items():
            write(file, rows, WIDTH)
        for done, name in enumerate(names):
            print(f"\r\033[K  {name} ({done + 1} of {len(names)})", end="", file=sys.stderr, flush=True)
            peaks: list[Any] = [measured(file, name) for file in files.values()]
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            failed = [peak for peak in peaks if isinstance(peak, str)]
            if failed:
                print(f"{name:<32} {failed[0]}", flush=True)
                continue
            (small, _), (large, seconds) = peaks
            megabytes = f"{small / 1e6:>7.1f}MB {large / 1e6:>7.1f}MB"
            print(f"{name:<32} {megabytes}  {(large - small) / (LARGE - SMALL):8.1f} {seconds:8.1f} s", flush=True)


def measured(file: Path, name: str) -> tuple[int, float] | str:
    """Growth in bytes and processor time of training in a process of its own; what went wrong, if something did."""
    command = [sys.executable, __file__, "--sweep", "--limit", "0", "--train", str(file), name]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"not finished in {PATIENCE} s"
    if told.returncode:
        return f"failed: {told.stderr.strip().splitlines()[-1]}"
    grown, seconds = told.stdout.split()
    return int(grown), float(seconds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--limit", type=float, default=0.6, help="share of the features' size; 0 sets no limit")
    parser.add_argument("--megabytes", type=float, default=0.0, help="the limit as a number instead")
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--ranker", action="append", help="only this one (repeatable)")
    parser.add_argument("--constant", action="store_true", help="rankers whose memory does not grow with the documents")
    parser.add_argument("--sweep", action="store_true", help="bytes per document of every linear ranker")
    parser.add_argument("--train", nargs=2, metavar=("FILE", "NAME"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.train:
        train(*arguments.train, arguments.limit, arguments.megabytes, arguments.sweep)
        sys.exit()
    if arguments.sweep:
        sweep(arguments.ranker or linear_rankers())
        sys.exit()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.plackett"
        write(file, arguments.rows, arguments.features)
        size = 4e-6 * arguments.rows * arguments.features
        limit = f"{arguments.megabytes:g} MB" if arguments.megabytes else str(arguments.limit)
        print(f"{arguments.rows:,} × {arguments.features}, {size:,.0f} MB; limit {limit}", flush=True)
        for ranker in arguments.ranker or (CONSTANT if arguments.constant else RANKERS):
            command = [sys.executable, __file__, "--limit", str(arguments.limit), "--train", str(file), ranker]
            command += ["--megabytes", str(arguments.megabytes)]
            if subprocess.run(command).returncode:
                print(f"  {ranker:<32} does not fit into the limit", flush=True)
