"""How many trees are dropped, which, and what they count: against arithmetic and against plain drawing."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from plackett.models.trees.dropout import RESCALES, SAMPLES, DropCount


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        (0.0, {0: 0, 1: 0, 100: 0}),
        (0.1, {0: 0, 1: 0, 4: 0, 5: 1, 14: 1, 15: 2, 100: 10}),
        (0.9, {1: 0, 2: 1, 3: 1, 100: 50}),  # half of them at most
        (3, {1: 0, 4: 2, 5: 2, 6: 3, 100: 3}),
    ],
)
def test_fixed_numbers(rate, expected):
    count = DropCount(rate, None, True)
    for n_trees, number in expected.items():
        assert count(n_trees) == number
        count.note(n_trees, new_best=False)


@pytest.mark.parametrize(
    ("rate", "growth", "restart", "expected"),
    [
        # the outcome of a round (b is a new best), and the number of trees to drop after it
        (0.5, 1.0, False, [("", 1), ("x", 2), ("x", 3), ("x", 4), ("b", 2), ("b", 1), ("b", 1), ("b", 0), ("x", 1)]),
        (0.5, 0.5, True, [("", 1), ("x", 2), ("x", 2), ("x", 3), ("b", 1), ("x", 2)]),
        (2, 0.5, True, [("", 1), ("x", 2), ("x", 2), ("x", 2), ("b", 1)]),
        (0.015, 0.5, True, [("", 1), ("x", 2), ("x", 2), ("x", 2), ("b", 1)]),  # 1.5 of 100 trees
        (0.001, 0.5, True, [("", 1), ("x", 1), ("x", 1)]),  # never less than 1
        (0.0, 0.5, True, [("", 0), ("x", 0)]),
    ],
)
def test_adaptive_numbers(rate, growth, restart, expected):
    count = DropCount(rate, growth, restart)
    for outcome, number in expected:
        if outcome:
            count.note(100, outcome == "b")
        assert count(100) == number


WEIGHTS, OUTPUTS = np.array([0.1, 0.2, 0.4, 0.3]), np.array([2.0, 0.5, 1.0, 4.0])
RAW = {
    "uniform": np.ones(4),
    "weight": WEIGHTS,
    "inverse_weight": 1 - WEIGHTS,
    "output": OUTPUTS,
    "inverse_output": 1 - OUTPUTS / 7.5,
    "contribution": WEIGHTS * OUTPUTS,
    "inverse_contribution": 1 - WEIGHTS * OUTPUTS / 1.9,
    "first_half": np.array([1.0, 1.0, 0, 0]),
}


@pytest.mark.parametrize("name", RAW)
def test_trees_are_drawn_one_after_the_other_by_their_chances(name):
    rng = np.random.default_rng(0)
    n = 20_000
    drawn = Counter()
    for _ in range(n):
        drawn[tuple(np.argsort(SAMPLES[name](WEIGHTS, OUTPUTS, rng))[:2])] += 1
    chance = RAW[name]
    for i, j in permutations(range(4), 2):
        left = chance.sum() - chance[i]
        expected = 0.0 if chance[i] == 0 else chance[i] / chance.sum() * chance[j] / left
        assert drawn[i, j] / n == pytest.approx(expected, abs=4 * np.sqrt(0.25 / n))


def test_largest_and_smallest_contributions():
    rng = np.random.default_rng(0)
    assert np.argsort(SAMPLES["largest"](WEIGHTS, OUTPUTS, rng)).tolist() == [3, 2, 0, 1]  # 0.2, 0.1, 0.4, 1.2
    assert np.argsort(SAMPLES["smallest"](WEIGHTS, OUTPUTS, rng)).tolist() == [1, 0, 2, 3]


@pytest.mark.parametrize("name", SAMPLES)
def test_trees_that_add_nothing_can_be_drawn_too(name):
    rng = np.random.default_rng(0)
    for outputs in (np.zeros(3), np.array([0.0, 1.0, 0.0])):
        keys = SAMPLES[name](np.ones(3), outputs, rng)
        assert sorted(np.argsort(keys)) == [0, 1, 2] and not np.isnan(keys).any()


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        # three dropped trees of weights 0.1, 0.2, 0.5 and outputs 1, 2, 3, a new one of output 4
        ("tree", 1.0, (1, 1 / 4, 3 / 4)),  # 1/(k+1) and k/(k+1), as in the paper of DART
        ("tree", 0.5, (0.5, 1 / 7, 6 / 7)),
        ("tree_always", 0.5, (1 / 7, 1 / 7, 6 / 7)),
        ("triple", 0.5, (1 / 3, 1 / 3, 2 / 3)),
        ("forest", 0.5, (0.5, 1 / 3, 2 / 3)),
        ("weight", 0.2, (0.2, 1 / 5, 4 / 5)),
        ("output", 0.5, (0.75, 4 / 10, 6 / 10)),
        ("contribution", 0.25, (0.5, 1 / 3, 2 / 3)),  # 0.1 + 0.4 + 1.5 = 2 beside 0.25 times 4
        ("line_search", 1.5, (1.5, 1 / 3, 2 / 3)),
        ("none", 0.5, (0.5, 0.5, 1)),
    ],
)
def test_weights_by_hand(name, step, expected):
    result = RESCALES[name](step, np.array([0.1, 0.2, 0.5]), np.array([1.0, 2.0, 3.0]), 4.0)
    np.testing.assert_allclose(result, expected, rtol=1e-14)
