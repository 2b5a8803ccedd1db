"""Fisher's randomisation test on one core and all: ours beside SciPy's and ranx's, with the p-values.

python benchmarks/significance.py [number of queries] [number of permutations]
"""

from __future__ import annotations

import sys

import numpy as np
from _common import best_of, print_table
from ranx.statistical_tests.fisher_randomization_test import fisher_randomization_test
from scipy.stats import permutation_test

from plackett.evaluation.significance import fisher


def main() -> None:
    n_queries, n_permutations = (int(word) for word in [*sys.argv[1:], "1000", "100000"][:2])
    rng = np.random.default_rng(0)
    a = rng.random(n_queries)
    b = a + rng.normal(0.005, 0.2, n_queries)

    def ranxs() -> float:
        return fisher_randomization_test(a, b, n_permutations, 0.01, 42)[0]

    def scipys() -> float:
        return permutation_test(
            (a, b),
            lambda x, y, axis: (x - y).mean(axis),
            permutation_type="samples",
            n_resamples=n_permutations,
            batch=1_000,
            vectorized=True,
            rng=1,
        ).pvalue

    tools = {
        "plackett": lambda: fisher(a, b, n_permutations=n_permutations).pvalue,
        "plackett, one thread": lambda: fisher(a, b, n_permutations=n_permutations, n_jobs=1).pvalue,
        "ranx": ranxs,
        "scipy": scipys,
    }
    values = {name: tool() for name, tool in tools.items()}  # also compiles
    times = {name: 1_000 * best_of(3, tool) for name, tool in tools.items()}
    print_table(f"{n_permutations:,} permutations of {n_queries:,} queries", times, "ms", larger_is_better=False)
    print("  p-values:", ", ".join(f"{name} {p:.4f}" for name, p in values.items()))


if __name__ == "__main__":
    main()
