"""The chain of bounds on random lists with ties, convexity in the weights, and the solvers' losses."""

from __future__ import annotations

import numpy as np
import pytest

from plackett.theory.bounds.structured_bounds import structured_bounds

MEASURES = [("AP", 2), ("RR", 2), ("nDCG", 4), ("nDCG@2", 4)]


def lists(grades, n=60, seed=0):
    rng = np.random.default_rng(seed)
    for i in range(n):
        m = rng.integers(2, 7)
        s = rng.normal(size=m) * rng.choice([0.1, 1.0, 10.0])
        yield (np.round(s) if i % 3 == 0 else s), rng.integers(0, grades, m)


@pytest.mark.parametrize(("measure", "grades"), MEASURES)
def test_error_is_below_indicator_is_below_both_hinges(measure, grades):
    """With ties in scores and labels."""
    strict = 0
    for s, y in lists(grades):
        bounds = structured_bounds(s, y, measure)
        assert 0 <= bounds.error <= bounds.indicator + 1e-12
        assert bounds.indicator <= min(bounds.margin, bounds.slack) + 1e-12
        strict += bounds.indicator < min(bounds.margin, bounds.slack)
    assert strict > 10


@pytest.mark.parametrize(("measure", "grades"), MEASURES)
def test_hinges_are_convex_along_lines(measure, grades):
    rng = np.random.default_rng(1)
    for s, y in lists(grades, n=15, seed=2):
        to = rng.normal(size=s.size)
        path = [structured_bounds(s + t * to, y, measure) for t in (-1.0, -0.5, 0.0, 0.5, 1.0)]
        for values in ([b.margin for b in path], [b.slack for b in path]):
            assert (np.diff(values, 2) >= -1e-10).all()


def test_far_margins_leave_nothing():
    """Where each better document is ahead by the number of pairs, every hinge is 0: F ≤ −2 for each imperfect one."""
    bounds = structured_bounds([20.0, 10.0, 0.0], [2, 1, 0], "nDCG")
    assert (bounds.error, bounds.indicator, bounds.margin, bounds.slack) == (0, 0, 0, 0)
    assert structured_bounds([1.0, 2.0], [1, 1], "AP").margin == 0


def test_worked_example():
    """Scores (3, 2, 1) for labels (0, 1, 1): by score AP = (1/2 + 2/3)/2 = 7/12 with F = (2·1 + 2·2)/2 = 3."""
    bounds = structured_bounds([3.0, 2.0, 1.0], [0, 1, 1], "AP")
    np.testing.assert_allclose([bounds.error, bounds.indicator], 5 / 12)
    np.testing.assert_allclose(bounds.margin, 5 / 12 + 3)
    np.testing.assert_allclose(bounds.slack, 5 / 12 * 4)


def test_refuses_what_has_no_bound():
    with pytest.raises(ValueError, match="1 to 8"):
        structured_bounds(np.zeros(9), np.zeros(9))
    with pytest.raises(ValueError, match="by label is not 1"):
        structured_bounds([1.0, 2.0, 3.0], [0, 0, 1], "P@2")
    with pytest.raises(ValueError, match="between 0 and 1"):
        structured_bounds([1.0, 2.0, 3.0], [0, 1, 2], "DCG")
