"""Isotonic updates and IsoRank: ``python benchmarks/isorank.py``.

One update of one query: graded labels of several lengths, without margins, with the shared slack and with hard margins;
with ties; and a general graph of 1,000 documents and 5,000 preferences, with and without cycles. Then the same problem
by a general quadratic program for a short list, and one round over many queries. Compilation is not counted.
"""

from __future__ import annotations

import argparse

import numpy as np
from _common import best_of, print_table

from plackett import RankingDataset
from plackett.data.preferences import Preferences
from plackett.losses.pairwise.isotonic import Isotonic


def update_ms(
    data: RankingDataset, scores: np.ndarray, repeats: int, n_jobs: int | None = 1, **parameters: float
) -> float:
    """Milliseconds of one update of all queries."""
    bound = Isotonic(**parameters).bind(data, n_jobs=n_jobs)
    bound.update(scores)
    return 1e3 * best_of(repeats, lambda: bound.update(scores))


def quadratic_program_ms(labels: np.ndarray, scores: np.ndarray, slack: float) -> float:
    """The same by SciPy's SLSQP, on all pairs."""
    from scipy.optimize import minimize

    n = labels.size
    u, v = np.nonzero(labels[:, None] > labels[None, :])
    rows = np.zeros((u.size, n + 1))
    rows[np.arange(u.size), u], rows[np.arange(u.size), v] = 1.0, -1.0
    rows[:, n] = labels[u] - labels[v]
    bound = labels[u] - labels[v] - scores[u] + scores[v]
    price = np.append(np.ones(n), slack * n)
    constraint = {"type": "ineq", "fun": lambda x: rows @ x - bound, "jac": lambda x: rows}
    return 1e3 * best_of(
        1,
        lambda: minimize(
            lambda x: (0.5 * price @ x**2, price * x), np.zeros(n + 1), jac=True, method="SLSQP", constraints=constraint
        ),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    rng = np.random.default_rng(0)

    for n in (100, 1_000, 10_000):
        data = RankingDataset.from_arrays(None, rng.integers(0, 5, n) * 1.0, np.zeros(n, int))
        scores = rng.normal(size=n)
        rows = {
            name: update_ms(data, scores, options.repeats, slack=slack)
            for name, slack in (("slack 10", 10.0), ("no margins", 0.0), ("hard margins", np.inf))
        }
        print_table(f"one query of {n:,} documents, 5 grades", rows, "ms", larger_is_better=False)

    n = 1_000
    data = RankingDataset.from_arrays(None, rng.permutation(n) * 1.0, np.zeros(n, int))
    rows = {"slack 10": update_ms(data, rng.normal(size=n), options.repeats, slack=10.0)}
    print_table("one query of 1,000 documents, total order", rows, "ms", larger_is_better=False)

    data = RankingDataset.from_arrays(None, rng.integers(0, 5, n) * 1.0, np.zeros(n, int))
    rows = {"slack 10, ties 1": update_ms(data, rng.normal(size=n), 3, slack=10.0, ties=1.0)}
    print_table("one query of 1,000 documents, 5 grades, ties", rows, "ms", larger_is_better=False)

    pairs = rng.integers(0, n, (5_000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    for name, table in (("without cycles", np.sort(pairs, axis=1)), ("at random, nearly all in one cycle", pairs)):
        preferences = Preferences.from_pairs(table)
        data = RankingDataset.from_arrays(None, None, np.zeros(n, int), preferences=preferences)
        rows = {
            label: update_ms(data, rng.normal(size=n), 3, slack=slack)
            for label, slack in (("slack 10", 10.0), ("no margins", 0.0), ("hard margins", np.inf))
        }
        print_table(f"1,000 documents, 5,000 preferences {name}", rows, "ms", larger_is_better=False)

    labels, scores = rng.integers(0, 5, 40) * 1.0, rng.normal(size=40)
    data = RankingDataset.from_arrays(None, labels, np.zeros(40, int))
    rows = {
        "plackett": update_ms(data, scores, options.repeats, slack=10.0),
        "SciPy SLSQP": quadratic_program_ms(labels, scores, 10.0),
    }
    print_table("one query of 40 documents, 5 grades, slack 10", rows, "ms", larger_is_better=False)

    queries, size = 5_000, 100
    data = RankingDataset.from_arrays(None, rng.integers(0, 5, queries * size) * 1.0, group=np.full(queries, size))
    scores = rng.normal(size=queries * size)
    rows = {f"{jobs or 'all'} threads": update_ms(data, scores, 5, n_jobs=jobs, slack=10.0) for jobs in (None, 1)}
    print_table(f"{queries:,} queries of {size} documents, slack 10", rows, "ms", larger_is_better=False)


if __name__ == "__main__":
    main()
