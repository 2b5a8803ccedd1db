from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.measures import RR


def ranked(labels, measure):
    return pk.evaluate(labels, -np.arange(len(labels)), [measure]).mean[str(measure)]


def test_worked_example():
    assert ranked([1, 0, 1], RR) == 1
    assert ranked([0, 0, 1, 0], RR) == ranked([0, 0, 1, 1], RR) == pytest.approx(1 / 3)  # what follows does not matter
    assert ranked([0, 0, 1], RR @ 2) == 0
    assert ranked([0, 0, 0], RR) == 0


def test_one_relevant_among_ties():
    """One of m tied documents is relevant: the mean of 1/r over all places."""
    result = pk.evaluate([0, 0, 1, 0], [1, 1, 1, 1], [RR, RR @ 2]).mean
    assert result["RR"] == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)
    assert result["RR@2"] == pytest.approx((1 + 1 / 2) / 4)
