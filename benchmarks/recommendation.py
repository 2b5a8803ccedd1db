"""Films for the users of MovieLens 100k: popularity, our recommenders, and `implicit` and `lightfm` where installed.

    python benchmarks/recommendation.py FOLDER [u2 u3 u4 u5]
    python benchmarks/recommendation.py FOLDER --search 40 [--only NAME]

FOLDER has ``u.data`` and the official test files. Every rating counts as use, whatever its value. For each user of the
test file all films without a training rating are ranked. ``--search`` draws that many settings of each system and
prints the best on u1, which therefore is not among the files that are reported by default; its results stand in
``SETTINGS``. Everything is in one thread; times are CPU times of training, the second time that each system is trained.
The p-value of a randomisation test over the users of all splits compares each system with the first one.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.sparse import csr_matrix

import plackett as pk
from plackett.applications import (
    AlternatingLeastSquares,
    FactorRecommender,
    Ratings,
    candidates,
    popularity,
    read_ratings,
)
from plackett.evaluation.significance import PAIRED
from plackett.losses import Logistic, QuerySoftmax, Square


def least_squares(train: Ratings, **settings: Any) -> tuple[np.ndarray, ...]:
    model = AlternatingLeastSquares(n_jobs=1, **settings).fit(train)
    return model.user_factors_, model.item_factors_, model.item_bias_


def factors(loss: Any) -> Callable[..., tuple[np.ndarray, ...]]:
    def fit(train: Ratings, **settings: Any) -> tuple[np.ndarray, ...]:
        model = FactorRecommender(loss=loss, **settings).fit(train)
        return model.user_factors_, model.item_factors_, model.item_bias_

    return fit


def _matrix(train: Ratings) -> csr_matrix:
    shape = train.n_users, train.n_items
    return csr_matrix((np.ones(train.n_rows, np.float32), (train.user, train.item)), shape)


def implicit_als(train: Ratings, **settings: Any) -> tuple[np.ndarray, ...]:
    from implicit.cpu.als import AlternatingLeastSquares as Peer

    model = Peer(num_threads=1, random_state=0, **settings)
    model.fit(_matrix(train), show_progress=False)
    return model.user_factors, model.item_factors, np.zeros(train.n_items)


def implicit_bpr(train: Ratings, **settings: Any) -> tuple[np.ndarray, ...]:
    from implicit.cpu.bpr import BayesianPersonalizedRanking as Peer

    model = Peer(num_threads=1, random_state=0, **settings)
    model.fit(_matrix(train), show_progress=False)
    return model.user_factors, model.item_factors, np.zeros(train.n_items)


def lightfm_warp(train: Ratings, epochs: int, **settings: Any) -> tuple[np.ndarray, ...]:
    from lightfm import LightFM

    model = LightFM(loss="warp", random_state=0, **settings)
    model.fit(_matrix(train), epochs=epochs, num_threads=1)
    return model.user_embeddings, model.item_embeddings, model.item_biases


SYSTEMS: dict[str, Callable[..., tuple[np.ndarray, ...]]] = {
    "least squares": least_squares,
    "points": factors(Square()),
    "pairs": factors(Logistic()),
    "lists": factors(QuerySoftmax()),
}
if importlib.util.find_spec("implicit"):
    SYSTEMS |= {"implicit ALS": implicit_als, "implicit BPR": implicit_bpr}
if importlib.util.find_spec("lightfm"):
    SYSTEMS["lightfm WARP"] = lightfm_warp

#: The best of the settings drawn, on u1.
SETTINGS: dict[str, dict[str, Any]] = {
    "least squares": {"n_factors": 32, "n_iterations": 5, "penalty": 13.2, "confidence": 1.58, "exponent": 0.25},
    "points": {"penalty": 3.0},
    "pairs": {"penalty": 150.0, "negatives": 3},
    "lists": {"penalty": 5.0},
    "implicit ALS": {"factors": 32, "iterations": 5, "regularization": 14.4, "alpha": 1.55},
    "implicit BPR": {"factors": 24, "iterations": 200, "learning_rate": 0.00566, "regularization": 0.0155},
    "lightfm WARP": {
        "no_components": 48,
        "epochs": 45,
        "learning_rate": 0.026,
        "item_alpha": 6.1e-5,
        "user_alpha": 1.03e-5,
    },
}


def drawn(name: str, rng: np.random.Generator) -> dict[str, Any]:
    """Settings at random; the same number and the same ranges of factors and passes for all least squares."""

    def spread(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    n_factors, passes = int(rng.choice([8, 16, 24, 32, 48, 64])), int(rng.choice([5, 10, 15, 20]))
    if name == "least squares":
        return {
            "n_factors": n_factors,
            "n_iterations": passes,
            "penalty": spread(3, 100),
            "confidence": spread(1.5, 10),
            "exponent": float(rng.choice([0.0, 0.25, 0.5, 0.75, 1.0])),
        }
    if name == "implicit ALS":
        return {
            "factors": n_factors,
            "iterations": passes,
            "regularization": spread(0.1, 100),
            "alpha": spread(1.5, 10),
        }
    if name == "implicit BPR":
        return {
            "factors": n_factors,
            "iterations": passes * 10,
            "learning_rate": spread(0.005, 0.2),
            "regularization": spread(1e-4, 0.1),
        }
    if name == "lightfm WARP":
        return {
            "no_components": n_factors,
            "epochs": passes * 3,
            "learning_rate": spread(0.01, 0.2),
            "item_alpha": spread(1e-6, 1e-3),
            "user_alpha": spread(1e-6, 1e-3),
        }
    raise SystemExit(f"there is nothing to draw for {name}")


class Split:
    """Training ratings, and the lists of the users of a test file."""

    def __init__(self, used: Ratings, path: Path) -> None:
        self.train, test = used.split(used.rows_in(read_ratings(path)))
        self.data = candidates(self.train, test)
        self.user = np.searchsorted(self.train.users, self.data.qids)[self.data.query_of_row]
        self.item = np.searchsorted(self.train.items, self.data.docids)

    def measure(self, P: np.ndarray, Q: np.ndarray, b: np.ndarray) -> np.ndarray:
        """nDCG@10 of each user."""
        return self.of((P @ Q.T + b)[self.user, self.item].astype(np.float64))

    def of(self, scores: np.ndarray) -> np.ndarray:
        """nDCG@10 of each user."""
        return pk.evaluate(self.data, scores, "nDCG@10").per_query["nDCG@10"].to_numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("splits", nargs="*", default=["u2", "u3", "u4", "u5"])
    parser.add_argument("--search", type=int, default=0, metavar="N")
    parser.add_argument("--only", action="append")
    options = parser.parse_args()
    used = read_ratings(options.folder / "u.data")
    used = replace(used, values=np.ones(used.n_rows))
    names = options.only or list(SYSTEMS)
    if options.search:
        split = Split(used, options.folder / "u1.test")
        for name in [name for name in names if name not in ("points", "pairs", "lists")]:
            best, rng = -1.0, np.random.default_rng(0)
            for number in range(1, options.search + 1):
                settings = drawn(name, rng)
                value = split.measure(*SYSTEMS[name](split.train, **settings)).mean()
                if value > best:
                    best = value
                    print(f"u1  {name:14} nDCG@10 {value:.4f}  trial {number}: {settings}", flush=True)
            print(f"u1  {name:14} {options.search} settings tried", flush=True)
        return
    values: dict[str, list[np.ndarray]] = {}
    seconds: dict[str, list[float]] = {}
    for each in options.splits:
        split = Split(used, options.folder / f"{each}.test")
        values.setdefault("popularity", []).append(split.of(popularity(split.train, split.data)))
        for name in names:
            if name not in seconds:  # compile and warm up
                SYSTEMS[name](split.train, **SETTINGS[name])
            begin = time.process_time()
            learned = SYSTEMS[name](split.train, **SETTINGS[name])
            seconds.setdefault(name, []).append(time.process_time() - begin)
            values.setdefault(name, []).append(split.measure(*learned))
            print(f"{each}  {name:14} nDCG@10 {values[name][-1].mean():.4f}  {seconds[name][-1]:.2f} s", flush=True)
    ours = np.concatenate(values[names[0]])
    for name, found in values.items():
        spent = f", {np.mean(seconds[name]):.2f} s of CPU time" if name in seconds else ""
        p = "" if name == names[0] else f", p = {PAIRED['fisher'](ours, np.concatenate(found)).pvalue:.4f}"
        print(f"mean {name:14} nDCG@10 {np.mean([own.mean() for own in found]):.4f}{spent}{p}")


if __name__ == "__main__":
    main()
