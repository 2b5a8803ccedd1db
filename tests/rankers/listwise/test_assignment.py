"""Both ways to assign documents to positions, against SciPy's general solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from plackett.rankers.listwise._assignment import assign
from plackett.rankers.listwise._merge import merge


def by_paths(scale, discount, s, worth):
    doc = np.empty(s.size, np.int64)
    assign(scale, discount, s, worth, doc, np.empty((6, s.size)), np.empty((4, s.size), np.int64))
    return doc


def by_merging(scale, discount, s, worth):
    doc = np.empty(s.size, np.int64)
    grade = np.unique(-worth, return_inverse=True)[1]
    states = int(np.prod(np.bincount(grade) + 1))
    cost, came = np.empty(states), np.empty(states, np.int16)
    merge(scale, discount, s, worth, grade, doc, cost, came, np.empty(s.size), np.empty((4, s.size), np.int64))
    return doc


@pytest.mark.parametrize("solve", [by_paths, by_merging])
@pytest.mark.parametrize("seed", range(40))
def test_least_cost(solve, seed):
    """Lists of 1 to 25 documents, one to four worths, ties, and a cut-off in every third."""
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 26)
    s = -np.sort(-rng.normal(size=n) * rng.choice([0.0, 0.1, 1, 30]))
    if seed % 4 == 0:
        s = np.round(s)
    worth = np.array([0.0, 0.2, 0.3, 1.0])[rng.integers(0, rng.integers(1, 5), n)]
    discount = 1 / np.log2(2.0 + np.arange(n))
    if seed % 3 == 0:
        discount[n // 3 :] = 0.0
    cost = 0.05 * s[:, None] * np.arange(1, n + 1) + worth[:, None] * discount
    doc = solve(0.05, discount, s, worth)
    assert sorted(doc) == list(range(n))
    result = cost[doc, np.arange(n)].sum()
    np.testing.assert_allclose(result, cost[linear_sum_assignment(cost)].sum(), rtol=1e-10, atol=1e-12)
