"""AutoRanker's MAP on LETOR's folds, by the rules of the official scripts, next to the best published figure.

LETOR 3.0 ships the features of OHSUMED three times: as computed (``Feature-min``, and ``Feature-null`` with missing
values), and scaled to 0…1 in each query (``QueryLevelNorm``). In each fold the version with the best `estimate_` is
taken, which is a matter of the fold's training and validation queries alone. MQ2008 has one version.

    python benchmarks/auto_letor.py DATA --seconds 60 --seeds 0 1 2

DATA has the unpacked folders of LETOR. The time is processor time with one thread, for each fold and version.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import plackett as pk


class Collection(NamedTuple):
    """Folders of the versions, the preset of measures, and the best published MAP."""

    versions: tuple[str, ...]
    preset: str
    published: float


COLLECTIONS = {
    "OHSUMED": Collection(
        tuple(f"LETOR3.0-OHSUMED/{name}" for name in ("QueryLevelNorm", "Feature-min", "Feature-null")), "letor3", 0.449
    ),
    "MQ2008": Collection(("LETOR4.0-MQ2008",), "letor4", 0.478),
}


class Outcome(NamedTuple):
    """What is expected of a search, and what it reached."""

    estimate: float
    test: float


def search(folder: Path, preset: str, seconds: float, seed: int) -> Outcome:
    """Search on the training and validation part of a fold, and measure on the test part."""
    train, valid, test = (pk.read_letor(folder / f"{part}.txt") for part in ("train", "vali", "test"))
    ranker = pk.AutoRanker(time_budget=seconds, eval_measure="AP", clock="cpu", n_jobs=1, random_state=seed)
    ranker.fit(pk.concat([train, valid]))
    assert ranker.estimate_ is not None
    values = pk.evaluate(test, ranker.predict(test), ["AP"], preset=preset)
    return Outcome(ranker.estimate_["value"], float(next(iter(values.mean.values()))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--collections", nargs="+", default=list(COLLECTIONS))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    arguments = parser.parse_args()
    for name in arguments.collections:
        versions, preset, published = COLLECTIONS[name]
        for seed in arguments.seeds:
            outcomes = np.array(
                [
                    [
                        search(arguments.data / version / f"Fold{fold}", preset, arguments.seconds, seed)
                        for fold in range(1, 6)
                    ]
                    for version in versions
                ]
            )
            for version, rows in zip(versions, outcomes, strict=True):
                print(f"{name}, seed {seed}, {version}: estimate {rows[:, 0].mean():.4f}, test {rows[:, 1].mean():.4f}")
            best = outcomes[:, :, 0].argmax(axis=0)
            chosen = outcomes[best, np.arange(5), 1].mean()
            print(
                f"{name}, seed {seed}, best estimate of each fold: test {chosen:.4f}; best published {published}",
                flush=True,
            )


if __name__ == "__main__":
    main()
