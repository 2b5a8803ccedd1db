"""Stochastic pairwise learning beside scikit-learn, and from a file: ``python benchmarks/stochastic.py``.

240,000 documents in lists of 100, 136 dense features, and a sparse table of 50 out of 5,000 features a document. Ours
draws every pair from the table; scikit-learn's SGDClassifier (hinge, averaged like ours) gets the differences of pairs
that were drawn and written down for it, and that time is shown apart. The tools take turns, so that a busy machine
slows both. The file is plain LETOR text; "stream" counts its bytes once for each pass that reads it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from _common import best_of, peak_growth, print_table
from scipy.sparse import csr_matrix
from sklearn.linear_model import SGDClassifier

from plackett import RankingDataset, read_letor_chunks, write_letor
from plackett.data.canonical import canonical_order
from plackett.rankers.pairwise.stochastic.loops import draw
from plackett.rankers.pairwise.stochastic_rank import StochasticRank
from plackett.solvers.training_vectors import rows_of

TURNS = 3


def dense(n: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, 136)).astype(np.float32)


def sparse(n: int) -> csr_matrix:
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(0, 100, (n, 50)) + 100 * np.arange(50), axis=1).ravel()
    return csr_matrix((rng.random(50 * n, np.float32), columns, np.arange(0, 50 * n + 1, 50)), shape=(n, 5000))


def dataset(X: np.ndarray | csr_matrix) -> RankingDataset:
    signal = np.asarray(X[:, :5].sum(axis=1)).ravel() + np.random.default_rng(1).normal(size=X.shape[0])
    return RankingDataset.from_arrays(X, np.digitize(signal, [0.0, 1.0, 2.0, 3.0]), np.arange(X.shape[0]) // 100)


def pairs_per_second(name: str, data: RankingDataset, n: int) -> None:
    data = canonical_order(data)
    ranker = StochasticRank(loop="rank", standardize=False)
    learner, settings = ranker._settings()
    draws, rows = ranker._draws(data), rows_of(data.X, np.ones(data.n_features))
    descent = ranker._begin(data.n_features, np.ones(data.n_features))
    descent.run(learner.run, rows, draws, settings, 10)  # compiled

    start = time.perf_counter()
    first, second, margin = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    draw(np.uint64(0), first, second, margin, draws)
    side = np.where(np.arange(n) % 2 == 0, 1, -1)  # both classes must be there
    flip = side.astype(np.float32)[:, None]
    Z = data.X[first] - data.X[second]
    Z = Z.multiply(flip).tocsr() if not isinstance(Z, np.ndarray) else Z * flip
    built = time.perf_counter() - start
    peer = SGDClassifier(loss="hinge", alpha=1e-3, max_iter=1, tol=None, average=True, fit_intercept=False)
    ours, theirs = [], []
    for _ in range(TURNS):
        ours.append(best_of(1, lambda: descent.run(learner.run, rows, draws, settings, n)))
        theirs.append(best_of(1, lambda: peer.fit(Z, side)))
    figures = {"plackett": n / min(ours) / 1e6, "scikit-learn, pairs given": n / min(theirs) / 1e6}
    figures["scikit-learn and its pairs"] = n / (min(theirs) + built) / 1e6
    print_table(f"{name}: {n:,} pairs", figures, "M pairs/s")


def stream(X: np.ndarray, chunk: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.txt"
        write_letor(dataset(X), path)
        size = path.stat().st_size
        width = X.shape[1]
        reading = best_of(2, lambda: [None for _ in read_letor_chunks(path, chunk_bytes=chunk, n_features=width)])
        ranker = StochasticRank(loop="rank", n_steps=1_000_000)
        start = time.perf_counter()
        _, grown = peak_growth(lambda: ranker.fit_file(path, chunk_bytes=chunk, n_features=width))
        taken = time.perf_counter() - start
    print(f"file of {size / 1e6:.0f} MB in blocks of {chunk / 1e6:.0f} MB, two passes, a million steps")
    print(f"  reading alone {size / reading / 1e6:8.0f} MB/s")
    print(f"  stream        {2 * size / taken / 1e6:8.0f} MB/s, memory grew by {grown / 1e6:.0f} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=240_000)
    parser.add_argument("--pairs", type=int, default=200_000)
    arguments = parser.parse_args()
    pairs_per_second("dense, 136 features", dataset(dense(arguments.rows)), arguments.pairs)
    pairs_per_second("sparse, 50 of 5,000 features", dataset(sparse(arguments.rows)), arguments.pairs)
    stream(dense(arguments.rows // 2), 1 << 25)
