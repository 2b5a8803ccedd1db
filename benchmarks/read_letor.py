"""Reading LETOR text: throughput of plackett and of other loaders on the same file, and memory.

    python benchmarks/read_letor.py [--rows 240000] [--threads 2] [--dir FOLDER] [--repeat 5]

The file looks like MSLR-WEB: 136 features, counts and numbers with six decimals, no comments. It is generated once and
kept in ``--dir``. Loaders do what they do by default with such a file. LightGBM knows no query ids in the lines and
gets a copy without them, with its side file; it also bins the features, which cannot be switched off. The loaders take
turns, so that a machine that becomes slower or faster meanwhile does not decide; the best round of each counts.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _common import best_of, peak_growth, print_table

from plackett.data.dataset import RankingDataset
from plackett.data.letor import read_letor, write_letor

N_FEATURES = 136
#: Loaders that take many seconds are timed once.
ONCE = {"LightGBM Dataset", "load_svmlight_file"}


def make_file(path: Path, rows: int) -> None:
    """Counts in about half of the columns, numbers with six decimals in the others, a fifth of them zero."""
    rng = np.random.default_rng(0)
    X = np.empty((rows, N_FEATURES), np.float32)
    for j, kind in enumerate(rng.random(N_FEATURES)):
        if kind < 0.45:
            X[:, j] = rng.geometric(0.15, rows) - 1
        elif kind < 0.55:
            X[:, j] = rng.integers(0, 60_000, rows)
        else:
            values = np.round(rng.gamma(1, 10 ** rng.uniform(-1, 2), rows), 6)
            X[:, j] = np.where(rng.random(rows) < 0.8, values * rng.choice([1, 1, 1, -1]), 0)
    group = np.full(-(-rows // 120), 120)
    group[-1] -= group.sum() - rows
    write_letor(RankingDataset.from_arrays(X, rng.integers(0, 5, rows), group=group), path)


def without_qid(path: Path) -> Path:
    copy = path.with_suffix(".libsvm")
    if not copy.exists():
        text = path.read_bytes()
        qids = np.array(re.findall(rb" qid:(\d+)", text), np.int64)
        sizes = np.diff(np.flatnonzero(np.diff(qids, prepend=-1, append=-1)))
        Path(f"{copy}.query").write_text("\n".join(map(str, sizes.tolist())))
        copy.write_bytes(re.sub(rb" qid:\d+", b"", text))
    return copy


def peers(path: str, threads: int) -> dict[str, Callable[[], Any]]:
    import catboost
    import lightgbm
    import xgboost
    from sklearn.datasets import load_svmlight_file

    def lightgbm_dataset() -> Any:
        parameters = {"num_threads": threads, "verbosity": -1, "objective": "lambdarank"}
        return lightgbm.Dataset(str(without_qid(Path(path))), params=parameters).construct()

    return {
        "XGBoost DMatrix": lambda: xgboost.DMatrix(f"{path}?format=libsvm", nthread=threads),
        "LightGBM Dataset": lightgbm_dataset,
        "CatBoost Pool": lambda: catboost.Pool(f"libsvm://{path}", thread_count=threads),
        "load_svmlight_file": lambda: load_svmlight_file(path, query_id=True, dtype=np.float32),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=240_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--dir", default=tempfile.gettempdir())
    options = parser.parse_args()
    warnings.simplefilter("ignore")

    path = Path(options.dir) / f"plackett-letor-{options.rows}.txt"
    if not path.exists():
        make_file(path, options.rows)
    without_qid(path)
    size = os.path.getsize(path) / 1e6
    with tempfile.TemporaryDirectory() as folder:  # compile before anything is measured
        make_file(Path(folder) / "small.txt", 120)
        read_letor(Path(folder) / "small.txt", n_jobs=options.threads)

    def ours() -> RankingDataset:
        return read_letor(path, n_jobs=options.threads)

    data, growth = peak_growth(ours)
    array = data.X.nbytes
    print(f"{path}: {size:.0f} MB, {data.n_rows} rows, {data.n_features} features, {options.threads} threads")
    print(
        f"growth of anonymous memory {growth / 1e6:.0f} MB = {growth / array:.2f} × the array of {array / 1e6:.0f} MB"
    )
    loaders = {"plackett.read_letor": ours, **peers(str(path), options.threads)}
    seconds = dict.fromkeys(loaders, np.inf)
    for turn in range(options.repeat):
        for name, load in loaders.items():
            if turn == 0 or name not in ONCE:
                seconds[name] = min(seconds[name], best_of(1, load))
    speeds = {name: size / value for name, value in seconds.items()}
    print_table("reading, MB of text per second (ratio: ours to theirs)", speeds, "MB/s")
    fastest = max(value for name, value in speeds.items() if name != "plackett.read_letor")
    print(f"ratio to the fastest other loader: {speeds['plackett.read_letor'] / fastest:.2f}")
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        writing = best_of(2, lambda: write_letor(data, Path(folder) / "out.txt", n_jobs=options.threads))
    print(f"plackett.write_letor: {size / writing:.0f} MB/s")


if __name__ == "__main__":
    main()
