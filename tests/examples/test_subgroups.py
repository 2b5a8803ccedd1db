from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

import plackett as pk
from plackett._base.errors import DataError
from plackett.applications import Application, CandidateLists
from subgroups import Subgroup, SubgroupFeatures, find_subgroups, size_exponent


def table(n=150, seed=0):
    rng = np.random.default_rng(seed)
    columns = {"a": rng.integers(0, 3, n), "b": rng.choice(["x", "y"], n), "c": rng.integers(0, 2, n)}
    return columns, rng.random(n) < 0.2 + 0.5 * ((columns["a"] == 1) & (columns["b"] == "x"))


def test_all_subgroups_are_those_of_plain_loops():
    columns, target = table()
    expected = {}
    for k in (1, 2, 3):
        for names in combinations(columns, k):
            for values in product(*(np.unique(columns[name]).tolist() for name in names)):
                mask = np.all([columns[name] == value for name, value in zip(names, values, strict=True)], axis=0)
                if mask.sum() >= 8:
                    rule = tuple(zip(names, values, strict=True))
                    expected[rule] = (mask.sum(), target[mask].mean())
    result = find_subgroups(columns, target, max_conditions=3, min_size=8)
    assert {group.conditions: (group.size, group.target) for group in result} == expected
    assert all(group.share == group.size / 150 and group.target_overall == target.mean() for group in result)
    best = max(result, key=Subgroup.quality)
    assert best.conditions == (("a", 1), ("b", "x")) and "a = 1 and b = x" in str(best)


def test_subgroups_with_the_same_rows_come_once():
    groups = find_subgroups({"a": [0, 1] * 20, "b": [0, 1] * 20}, [0, 1] * 20, min_size=5)
    assert [len(group.conditions) for group in groups] == [1, 1, 1, 1]


def test_numbers_are_cut_and_missing_values_meet_no_condition():
    values = np.r_[np.arange(100.0), np.nan]
    groups = find_subgroups({"v": values}, np.r_[np.arange(100) > 50, True], max_conditions=1, n_bins=2)
    assert [(group.conditions[0][1], group.size) for group in groups] == [("[0, 49]", 50), ("[50, 99]", 50)]


@pytest.mark.parametrize("exponent", [0.3, 1.0])
def test_the_exponent_of_a_users_taste_is_recovered(exponent):
    rng = np.random.default_rng(1)
    lists = []
    for seed in range(12):
        rng_columns, target = table(seed=seed)
        groups = find_subgroups(rng_columns, target, max_conditions=2, min_size=3)
        shown = [groups[i] for i in rng.permutation(len(groups))[:12]]
        lists.append(("", shown, np.argsort(np.argsort([group.quality(exponent) for group in shown]))))
    application = Application(features=SubgroupFeatures(), ranker=pk.RankSVM(C=100.0)).fit(CandidateLists.of(lists))
    assert size_exponent(application.ranker.coef_) == pytest.approx(exponent, abs=0.1)


def test_bad_input():
    for columns, target, parameters, message in [
        ({}, [0, 1], {}, "no columns"),
        ({"a": [1]}, [0, 1], {}, "column 'a'"),
        ({"a": [1, 2]}, [0, 2], {}, "True and False"),
        ({"a": [1, 2]}, [0, 1], {"min_size": 0}, "min_size=0"),
    ]:
        with pytest.raises(DataError, match=message):
            find_subgroups(columns, target, **parameters)
    with pytest.raises(DataError, match="no such exponent"):
        size_exponent([1.0, -1.0])


def test_same_rows_with_fewer_conditions_are_left_out():
    """Whichever of the columns comes first: the parts of b lie within those of a."""
    columns = {"a": np.repeat([0, 1], 50), "b": np.repeat([0, 1, 2, 3], 25), "c": np.arange(100) % 2}
    y = np.arange(100) < 30
    for names in (("a", "b", "c"), ("b", "a", "c"), ("c", "b", "a")):
        groups = find_subgroups({name: columns[name] for name in names}, y, max_conditions=3, min_size=2)
        rules = {frozenset(group.conditions) for group in groups}
        assert len(rules) == len(groups) == 2 + 4 + 2 + 4 + 8  # a, b, c, a and c, b and c


@pytest.mark.parametrize(
    ("column", "conditions"),
    [
        (np.array(["x", None] * 20, object), {"x"}),
        (np.array(["x", 1] * 20, object), {"x", 1}),
        (np.array(["x", float("nan")] * 20, object), {"x"}),
        (np.array([True, None] * 20, object), {True}),
        (np.array([*range(39), None], object), {"[0, 9]", "[10, 18]", "[19, 28]", "[29, 38]"}),
        (20_230_101 + np.arange(40), {f"[{20_230_101 + i}, {20_230_110 + i}]" for i in (0, 10, 20, 30)}),
        (np.full(40, np.nan), set()),
        (np.where(np.arange(40) < 25, np.inf, np.arange(40.0)), {"[25, 34]", "[35, inf]"}),
    ],
)
def test_columns_of_all_kinds(column, conditions):
    groups = find_subgroups({"c": column}, np.arange(40) % 2 == 0, min_size=1)
    assert {group.conditions[0][1] for group in groups} == conditions


def test_a_table_without_rows():
    assert find_subgroups({"c": []}, []) == []
