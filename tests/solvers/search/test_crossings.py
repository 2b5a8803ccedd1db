"""The sweep along a line against the measure itself at every interval, for every measure that has the form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plackett import DataError, RankingDataset
from plackett.measures import parse
from plackett.solvers.measure_objective import MeasureObjective
from plackett.solvers.search.crossings import Crossings, n_pairs
from plackett.solvers.search.forms import neighbour_form
from plackett.solvers.search.lines import make_line
from plackett.solvers.search.point_sort import order_of_points

MEASURES = [
    "nDCG", "nDCG@3", 'nDCG(gain="linear", discount="letor")', "DCG@5", "AP", "AP@4", 'AP(over="all")',
    'AP(divisor="reachable")@3', "RR", "RR@2", "Success@2", "ERR", "ERR@3", "nERR@4", "P@3", "Rprec", "R@3", "RBP",
    "ARP", "meanNDCG", "WTA", "F@3",
]  # fmt: skip


def random_line(seed, levels, **columns):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(5), rng.integers(1, 9, 5))
    y = rng.integers(-1, 4, qid.size).astype(float)
    data = RankingDataset.from_arrays(None, y, qid, query_weight=rng.uniform(0.5, 2, 5), **columns)
    if levels is None:
        return data, rng.normal(size=qid.size), rng.normal(size=qid.size)
    return data, *rng.integers(0, levels, (2, qid.size)).astype(float)


def all_crossings(data, scores, slope):
    """Every t at which two documents of a query have equal scores."""
    points = [
        (scores[j] - scores[i]) / (slope[i] - slope[j])
        for q in range(data.n_queries)
        for i in range(*data.offsets[q : q + 2])
        for j in range(i + 1, data.offsets[q + 1])
        if slope[i] != slope[j]
    ]
    return np.unique(points)


def inside(points):
    """A point of each interval, no middle: middles of such grids are crossings of other documents."""
    if points.size == 0:
        return np.zeros(1)
    return np.concatenate(([points[0] - 1.2345], points[:-1] + np.diff(points) * 0.41421356, [points[-1] + 1.2345]))


@pytest.mark.parametrize("name", MEASURES)
def test_changes_add_up_to_the_measure_in_every_interval(name):
    measure = parse(name)
    low_first = measure(ties="pessimistic" if measure.ascending else "optimistic")
    for seed in range(8):
        for levels in (None, 3, 1):  # levels: many documents meet at once, or are equal on the whole line
            data, scores, slope = random_line(seed, levels)
            lists = MeasureObjective(data, measure, 1)
            points, changes = Crossings(lists, neighbour_form(lists))(scores, slope)
            assert (np.diff(points) >= 0).all() and points.size <= n_pairs(data.offsets)
            t = inside(np.unique(points))
            expected = MeasureObjective(data, low_first, 1).values(scores + t[:, None] * slope)
            result = np.array([changes[points < x].sum() for x in t])
            np.testing.assert_allclose(result, expected - expected[0], atol=1e-12)


@pytest.mark.parametrize("name", MEASURES)
def test_the_best_step_is_the_best_of_all_intervals(name):
    for seed in range(8):
        weight = np.random.default_rng(seed)
        data, scores, slope = random_line(seed, None)
        if seed % 2:
            data = data.replace(sample_weight=weight.choice([0.0, 1.0, 2.0], data.n_rows))
        lists = MeasureObjective(data, parse(name), 1)
        step, value = make_line("exact", lists)(scores, slope)
        grid = np.concatenate((inside(all_crossings(data, scores, slope)), [0.0], np.linspace(-9, 9, 401)))
        np.testing.assert_allclose(value, lists.values(scores + grid[:, None] * slope).max(), rtol=1e-12)
        np.testing.assert_allclose(lists.value(scores + step * slope), value, rtol=1e-12)


@given(st.integers(0, 100_000), st.sampled_from(["AP", "nDCG", "RR"]), st.sampled_from([None, 2, 5]))
def test_no_step_makes_it_worse(seed, name, levels):
    data, scores, slope = random_line(seed, levels)
    for search in ("exact", "steps"):
        lists = MeasureObjective(data, parse(name), 1)
        step, value = make_line(search, lists)(scores, slope)
        assert value >= lists.value(scores) and value == lists.value(scores + step * slope)


def test_scores_that_move_along_themselves():
    """All documents meet at one point, up to rounding."""
    rng = np.random.default_rng(0)
    data = RankingDataset.from_arrays(None, rng.integers(0, 3, 80), np.zeros(80, int))
    scores = rng.normal(size=80)
    lists = MeasureObjective(data, parse("nDCG"), 1)
    points, changes = Crossings(lists, neighbour_form(lists))(3.0 * scores, scores)
    np.testing.assert_allclose(points, -3.0, rtol=1e-9)
    np.testing.assert_allclose(changes.sum(), lists.value(scores) - lists.value(-scores), atol=1e-12)


def test_line_searches_by_name():
    lists = MeasureObjective(RankingDataset.from_arrays(None, [1, 0]), parse("KendallTau"), 1)
    with pytest.raises(DataError, match="line_search='exact' needs a measure that knows"):
        make_line("exact", lists)
    with pytest.raises(DataError, match="line_search='fast'; give one of 'auto', 'exact', 'steps'"):
        make_line("fast", lists)
    assert make_line("auto", lists)(np.array([0.0, 0.0]), np.array([1.0, 0.0]))[1] == 1.0


@given(st.integers(0, 100_000), st.sampled_from([0, 1, 40, 3000]), st.sampled_from([1e-12, 1.0, 1e12]))
def test_order_of_points(seed, n, unit):
    """Heavy tails, many equal points, points that differ by rounding, a unit that does not fit."""
    rng = np.random.default_rng(seed)
    for points in (rng.standard_cauchy(n), rng.integers(-3, 4, n).astype(float), -2.0 + 1e-13 * rng.normal(size=n)):
        sequence = np.empty(n, np.int64)
        order_of_points(points, n, unit, sequence, np.empty(n + 1, np.int64))
        np.testing.assert_array_equal(points[sequence], np.sort(points))
        np.testing.assert_array_equal(np.sort(sequence), np.arange(n))
