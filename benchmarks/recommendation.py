"""Films for the users of MovieLens 100k: popularity, and factors trained by losses of points, pairs and lists.

    python benchmarks/recommendation.py FOLDER [u2 u3 u4 u5]

FOLDER has ``u.data`` and the official test files. Every rating counts as use, whatever its value. For each user of the
test file all films without a training rating are ranked. The parameters were chosen on u1, which therefore is not among
the files that are reported by default.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import plackett as pk
from plackett.applications import FactorRecommender, candidates, popularity, read_ratings
from plackett.losses import Logistic, QuerySoftmax, Square

MODELS = {
    "points": {"loss": Square(), "penalty": 3.0},
    "pairs": {"loss": Logistic(), "penalty": 150.0, "negatives": 3},
    "lists": {"loss": QuerySoftmax(), "penalty": 5.0},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("splits", nargs="*", default=["u2", "u3", "u4", "u5"])
    options = parser.parse_args()
    ratings = read_ratings(options.folder / "u.data")
    used = replace(ratings, values=np.ones(ratings.n_rows))
    found: dict[str, list[float]] = {}
    seconds: dict[str, list[float]] = {}
    for split in options.splits:
        train, test = used.split(used.rows_in(read_ratings(options.folder / f"{split}.test")))
        data = candidates(train, test)
        scores = {"popularity": popularity(train, data)}
        for name, parameters in MODELS.items():
            begin = time.process_time()
            model = FactorRecommender(**parameters).fit(train)
            seconds.setdefault(name, []).append(time.process_time() - begin)
            scores[name] = model.predict(data)
        for name, values in scores.items():
            found.setdefault(name, []).append(pk.evaluate(data, values, "nDCG@10").mean["nDCG@10"])
            print(f"{split}  {name:12} nDCG@10 {found[name][-1]:.4f}  {data.n_queries} users", flush=True)
    for name, values in found.items():
        spent = f", {np.mean(seconds[name]):.1f} s of CPU time" if name in seconds else ""
        print(f"mean {name:12} nDCG@10 {np.mean(values):.4f}{spent}")


if __name__ == "__main__":
    main()
