"""Which pair losses bound the number of misordered pairs, and which are convex: on a grid."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import RankingDataset
from plackett.losses import Exponential, Fidelity, Hinge, Logistic, Ramp, Sigmoid, SquaredHinge

PAIR = RankingDataset.from_arrays(None, [1, 0])
GRID = np.linspace(-6, 6, 241)


def curve(loss):
    return np.array([loss(np.array([z, 0.0]), PAIR) for z in GRID])


@pytest.mark.parametrize(
    ("loss", "factor", "bounds"),
    [
        (Hinge(), 1.0, True),
        (Exponential(), 1.0, True),
        (Logistic(), 1 / np.log(2), True),
        (Logistic(), 1.0, False),
        (SquaredHinge(margin=1.0), 1.0, True),
        (SquaredHinge(margin=0.0), 1.0, False),
        (Ramp(), 1.0, True),
        (Fidelity(), 1.0, False),
        (Sigmoid(sigma=5.0), 1.0, False),
    ],
    ids=str,
)
def test_bounds_of_the_0_1_loss(loss, factor, bounds):
    assert bool((factor * curve(loss) >= (GRID < -1e-9) - 1e-12).all()) == bounds


@pytest.mark.parametrize(
    "loss", [Hinge(), Exponential(), Logistic(), SquaredHinge(), Fidelity(), Sigmoid(), Ramp()], ids=str
)
def test_convex_as_declared(loss):
    values = curve(loss)
    assert bool((values[:-2] + values[2:] >= 2 * values[1:-1] - 1e-12).all()) == loss.convex
