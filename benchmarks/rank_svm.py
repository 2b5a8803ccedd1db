"""RankSVM to a relative gap of 1e-3, beside scikit-learn's LinearSVC on explicit pair differences.

Time and memory of a whole fit on 240,000 documents, about ten million pairs, two threads; on few of the queries
(``--explicit-queries``; LinearSVC needs some 3 kB a pair) its time to an objective as low as ours; one pass over all
pairs (value and gradient of the squared hinge) beside a compiled loop over them, for lists of 120 and of 2,000
documents. Features have unit variance. LinearSVC has one thread only. The default C is small: the larger C
is, the more planes the hinge takes (some hundred at C=1), and the longer the small problem over them becomes.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from _common import best_of, peak_growth, print_table
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import plackett as pk
from plackett._kernels.kernel import kernel, over_queries
from plackett.data.preferences import Preferences
from plackett.losses.pairwise.margin_pairs import margin_pairs

THREADS, TOL = 2, 1e-3
#: LinearSVC is not let run on for hours.
MOST_PASSES = 200
LOSSES = ("squared_hinge", "hinge")


@kernel
def pair_loop(lo, hi, offsets, scores, labels, value, gradient):
    """The double loop: every pair looked at."""
    for q in range(lo, hi):
        total = 0.0
        for u in range(offsets[q], offsets[q + 1]):
            for v in range(offsets[q], offsets[q + 1]):
                if labels[u] > labels[v]:
                    miss = 1.0 - (scores[u] - scores[v])
                    if miss > 0.0:
                        total += miss * miss
                        gradient[u] -= 2.0 * miss
                        gradient[v] += 2.0 * miss
        value[q] = total


def ranker(loss: str, C: float) -> pk.rankers.RankSVM:
    return pk.rankers.RankSVM(loss=loss, C=C, standardize=False, tol=TOL, max_iter=5000, n_jobs=THREADS)


def whole_fit(data: pk.RankingDataset, C: float) -> None:
    for loss in LOSSES:
        start = time.perf_counter()
        fitted, memory = peak_growth(lambda loss=loss: ranker(loss, C).fit(data))
        seconds = time.perf_counter() - start
        print(
            f"  {loss:<14} {seconds:6.2f} s  gap {fitted.gap_:.1e}  {fitted.n_iter_} rounds  "
            f"{memory / 2**20:,.0f} MiB more (the features are {data.X.nbytes / 2**20:,.0f})",
            flush=True,
        )


def beside_linear_svc(data: pk.RankingDataset, C: float) -> None:
    pairs = Preferences.from_labels(data, margin=False)
    print(f"  {len(pairs):,} pairs of {data.n_queries} queries")
    start = time.perf_counter()
    sign = np.where(np.arange(len(pairs)) % 2, 1, -1)
    differences = (data.X[pairs.winner].astype(np.float64) - data.X[pairs.loser]) * sign[:, None]
    forming = time.perf_counter() - start
    for loss in LOSSES:
        start = time.perf_counter()
        ours = ranker(loss, C).fit(data)
        times = {"plackett RankSVM": time.perf_counter() - start}
        power = 2 if loss == "squared_hinge" else 1
        for tol in (0.1, 0.01, 1e-3):  # the loosest that gets as low as we do
            start = time.perf_counter()
            machine = LinearSVC(loss=loss, C=C, fit_intercept=False, dual=power == 1, tol=tol, max_iter=MOST_PASSES)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                machine.fit(differences, sign)
            seconds = time.perf_counter() - start
            w = machine.coef_[0]
            value = 0.5 * w @ w + C * (np.maximum(1 - sign * (differences @ w), 0) ** power).sum()
            if value <= ours.objective_ * (1 + TOL):
                break
        reached = (
            "" if value <= ours.objective_ * (1 + TOL) else f" (not reached: {value / ours.objective_ - 1:.1e} above)"
        )
        times[f"LinearSVC, tol={tol:g}{reached}"] = seconds
        times["  and forming the pairs"] = seconds + forming
        print_table(loss, times, "s", larger_is_better=False)


def one_pass(data: pk.RankingDataset) -> None:
    scores = np.random.default_rng(0).normal(size=data.n_rows)
    pairs = margin_pairs(data, n_jobs=THREADS)

    def loop() -> tuple[float, np.ndarray]:
        value, gradient = np.zeros(data.n_queries), np.zeros(data.n_rows)
        over_queries(pair_loop, data.offsets, scores, data.labels, value, gradient, n_jobs=THREADS)
        return float(value.sum()), gradient

    ours, theirs = pairs.evaluate(scores, True), loop()
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-9)
    curvature = pairs.curvature(scores)
    curvature(scores)
    times = {
        "sorted sweep": 1e3 * best_of(5, lambda: pairs.evaluate(scores, True)),
        "loop over the pairs": 1e3 * best_of(5, loop),
        "(product with curvature)": 1e3 * best_of(5, lambda: curvature(scores)),
    }
    lengths = f"{data.n_queries} lists of about {data.n_rows // data.n_queries}"
    print_table(f"one pass, {lengths}", times, "ms", larger_is_better=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=2000, help="training queries of about 120 documents")
    parser.add_argument("--explicit-queries", type=int, default=20, help="queries whose pair differences are formed")
    parser.add_argument("--C", type=float, default=1e-4)
    arguments = parser.parse_args()
    sizes = {"docs_per_query": (60, 180), "n_features": 136}
    data = pk.datasets.make_ranking(n_queries=arguments.queries, random_state=0, **sizes)
    data = data.replace(X=(data.X / data.X.std(axis=0)).astype(np.float32))
    few = data.select(np.arange(min(arguments.explicit_queries, data.n_queries)))
    for loss in LOSSES:
        ranker(loss, arguments.C).fit(data.select(np.arange(20)))  # compile
    n_pairs = sum(np.sum(y[:, None] > y) for y in np.split(data.labels, data.offsets[1:-1]))
    print(f"fit: {data.n_rows:,} rows × {data.n_features} features, {n_pairs:,} pairs, C={arguments.C:g}")
    whole_fit(data, arguments.C)
    print("beside LinearSVC on the differences")
    beside_linear_svc(few, arguments.C)
    one_pass(data)
    one_pass(pk.datasets.make_ranking(n_queries=100, random_state=0, docs_per_query=(1500, 2500), n_features=5))


if __name__ == "__main__":
    main()
