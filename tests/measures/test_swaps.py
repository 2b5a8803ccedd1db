"""Swap deltas where their value is known; the battery compares them with measuring again for every measure."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.measures import AP, RR, Bpref, P


def test_matrix():
    """(1, 0, 1): exchanging ranks 1 and 2 turns AP from 5/6 into (1/2 + 2/3)/2, ranks 2 and 3 into 1."""
    expected = [[0, 5 / 6 - 7 / 12, 0], [5 / 6 - 7 / 12, 0, 1 / 6], [0, 1 / 6, 0]]
    np.testing.assert_allclose(AP.swap_deltas([1, 0, 1]), expected)
    np.testing.assert_allclose((P @ 1).swap_deltas([1, 0, 1]), [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    np.testing.assert_allclose(RR.swap_deltas([1, 0, 0])[0], [0, 1 / 2, 2 / 3])


def test_every_measure_says_whether_it_has_one():
    for name, measure in pk.measures().items():
        if measure.swaps:
            assert measure.swap_deltas([1, 0, 2]).shape == (3, 3), name
        else:
            with pytest.raises(pk.MeasureError, match="no closed form"):
                measure.swap_deltas([1, 0, 2])


def test_one_compiled_function_for_all():
    """A kernel that calls `swap` is compiled once, whatever the measure."""
    assert AP.swap is RR.swap is Bpref.swap
