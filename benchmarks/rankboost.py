"""RankBoost: ``python benchmarks/rankboost.py``.

Training on 240,000 documents of 136 features in 2,000 queries with five grades, 255 thresholds a feature: time of a
round and of 300 rounds, on all cores and on one, and beside it the same search by NumPy histograms (one `bincount` per
feature on the same one-byte codes, potentials by the same kernel). Half of the features are skewed with many zeros, as
counts are. Then scoring. Compilation is not counted.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from _common import best_of, print_table

from plackett import RankingDataset
from plackett.losses.pairwise.exponential import Exponential
from plackett.rankers.pairwise._weak_rankers import ThresholdSearch
from plackett.rankers.pairwise.rank_boost import RankBoost


def make_data(n_queries: int, size: int, n_features: int) -> RankingDataset:
    """Grades that follow a sum of some features and much noise."""
    rng = np.random.default_rng(0)
    n = n_queries * size
    X = rng.normal(size=(n, n_features)).astype(np.float32)
    X[:, ::2] = np.maximum(X[:, ::2], 0.0) ** 2
    hidden = X[:, : n_features // 2] @ rng.normal(size=n_features // 2) + 5.0 * rng.normal(size=n)
    y = np.digitize(hidden, np.quantile(hidden, [0.5, 0.8, 0.95, 0.99])).astype(float)
    return RankingDataset.from_arrays(X, y, group=np.full(n_queries, size))


def numpy_search(search: ThresholdSearch, potential: np.ndarray) -> float:
    """Largest |r|: one weighted `bincount` per feature."""
    best = 0.0
    for codes in search.bins.codes:
        above = np.cumsum(np.bincount(codes, potential, 256)[::-1])
        best = max(best, float(np.abs(above).max()))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=300)
    options = parser.parse_args()
    data = make_data(options.queries, 120, 136)
    RankBoost(n_estimators=2).fit(make_data(20, 120, 136))

    times = {}
    for name, jobs in (("all cores", None), ("one thread", 1)):
        start = time.perf_counter()
        ranker = RankBoost(n_estimators=options.rounds, n_jobs=jobs).fit(data)
        times[name] = time.perf_counter() - start
    print_table(
        f"RankBoost, {data.n_rows:,} documents, 136 features, {options.rounds} rounds",
        times,
        "s",
        larger_is_better=False,
    )

    potential = -Exponential().bind(data).evaluate(np.zeros(data.n_rows))[1]
    searches = {jobs: ThresholdSearch(data.X, 255, jobs) for jobs in (None, 1)}
    rows = {
        "plackett, all cores": 1e3 * best_of(5, lambda: searches[None].best(potential)),
        "plackett, one thread": 1e3 * best_of(5, lambda: searches[1].best(potential)),
        "NumPy bincount": 1e3 * best_of(2, lambda: numpy_search(searches[1], potential)),
    }
    found, expected = abs(searches[1].best(potential).edge), numpy_search(searches[1], potential)
    assert np.isclose(found, expected), (found, expected)
    print_table("one search for the best of 136 x 255 weak rankers", rows, "ms", larger_is_better=False)

    seconds = best_of(3, lambda: ranker.predict(data))
    used = ranker.scorer_.features.size
    print(f"scoring with {used} features used: {data.n_rows / seconds / 1e6:.1f} million documents a second")


if __name__ == "__main__":
    main()
