from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plackett.evaluation.significance import (
    cliffs_delta,
    cohens_dz,
    standardised_mean_difference,
    student,
    win_tie_loss,
)

pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=20)


@given(pairs)
def test_cliffs_delta_by_loops(pairs):
    a, b = zip(*pairs, strict=True)
    count = sum((x > y) - (x < y) for x in a for y in b)
    assert cliffs_delta(a, b) == pytest.approx(count / len(a) ** 2)


def test_cohens_dz_is_t_over_root_n():
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 30))
    assert cohens_dz(a, b) == pytest.approx(student(a, b).statistic / np.sqrt(30))


def test_standardised_mean_difference_by_hand():
    a, b = [1.0, 3.0], [2.0, 8.0]  # variances 2 and 18, difference −3
    assert standardised_mean_difference(a, b) == pytest.approx(-3 / np.sqrt(10))


def test_without_spread():
    assert cohens_dz([1, 1], [1, 1]) == 0.0
    assert cohens_dz([2, 2], [1, 1]) == np.inf
    assert np.isnan(cohens_dz([2], [1]))


def test_skipped_queries_count_nowhere():
    gap = [0.5, np.nan, 0.7], [0.4, 0.9, 0.8]
    kept = [0.5, 0.7], [0.4, 0.8]
    for effect in (cliffs_delta, cohens_dz, standardised_mean_difference):
        assert effect(*gap) == effect(*kept)
    assert win_tie_loss(*gap) == (1, 0, 1)


def test_win_tie_loss():
    assert win_tie_loss([0.3, 0.1 + 0.2, 0.5, 0.1], [0.1, 0.3, 0.6, 0.2]) == (1, 1, 2)
    assert win_tie_loss([0.3, 0.3], [0.1, 0.25], tolerance=0.1) == (1, 1, 0)
    with pytest.raises(ValueError, match="tolerance"):
        win_tie_loss([1], [1], tolerance=-1)
