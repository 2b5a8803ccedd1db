"""Deep and shallow samples, and how a budget is spread."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett.selection import allocate, deep_sample, shallow_sample


@pytest.mark.parametrize("share", [0.01, 0.1, 0.37, 0.5, 1.0])
def test_both_samples_cost_the_same(share):
    data = pk.datasets.make_ranking(40, 25, 3, random_state=0)
    deep, shallow = deep_sample(data, share), shallow_sample(data, share)
    assert set(deep.group.tolist()) == {25}
    assert shallow.n_queries == 40 and np.ptp(shallow.group) == 0
    assert abs(shallow.n_rows / 40 - 25 * share) <= 1 and abs(deep.n_queries - 40 * share) <= 1
    if share == 1.0:
        np.testing.assert_array_equal(deep.X, data.X)
        np.testing.assert_array_equal(shallow.X, data.X)
    again = shallow_sample(data, share)
    np.testing.assert_array_equal(again.X, shallow.X)
    known = {row.tobytes() for row in data.X}
    assert all(row.tobytes() in known for row in shallow.X)


def test_allocations():
    rng = np.random.default_rng(0)
    for budget, queries, floor, most in zip(*(rng.integers(1, high, 300) for high in (900, 60, 20, 40)), strict=True):
        result = allocate(int(budget), int(queries), min_docs=int(floor), max_docs=int(most))
        assert result.queries * result.documents + result.left == budget and result.left >= 0
        assert 1 <= result.queries <= queries and 1 <= result.documents <= most
        if result.queries > 1:
            assert result.documents >= min(floor, most)
        if result.queries < queries:  # one more query would go below the floor
            assert budget // (result.queries + 1) < min(floor, most)


def test_refusals():
    data = pk.datasets.make_ranking(3, 4, 2, random_state=0)
    for bad in (0.0, -1, 1.5, float("nan")):
        with pytest.raises(DataError, match="share"):
            deep_sample(data, bad)
        with pytest.raises(DataError, match="share"):
            shallow_sample(data, bad)
    for parameters in (
        {"budget": 0, "n_queries": 3},
        {"budget": 3, "n_queries": 0},
        {"budget": 2.5, "n_queries": 3},
        {"budget": 3, "n_queries": 3, "min_docs": 0},
    ):
        with pytest.raises(DataError, match="whole number"):
            allocate(**parameters)
