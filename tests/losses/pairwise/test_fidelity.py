"""Fidelity: bounds, minimum and gradient by the formula."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import LossError, RankingDataset
from plackett.losses import Fidelity

PAIR = RankingDataset.from_arrays(None, [1, 0])


def value(z, **parameters):
    return Fidelity(**parameters)(np.array([z, 0.0]), PAIR)


@pytest.mark.parametrize("target", [0.0, 0.3, 0.5, 0.7, 1.0])
def test_between_0_and_1_and_0_where_the_probabilities_agree(target):
    values = [value(z, target=target) for z in np.linspace(-40, 40, 161)]
    assert min(values) >= 0.0 and max(values) <= 1.0
    if 0 < target < 1:
        best = np.log(target / (1 - target))
        assert value(best, target=target) == pytest.approx(0.0, abs=1e-15)
        assert value(best - 0.1, target=target) > 0 < value(best + 0.1, target=target)


def test_no_bound_of_the_number_of_misordered_pairs():
    assert value(-1e-12) == pytest.approx(1 - np.sqrt(0.5))  # 0.293 < 1
    assert value(0.0, target=0.5) == 0.0


@pytest.mark.parametrize("target", [0.2, 0.8, 1.0])
@pytest.mark.parametrize("z", [-3.0, -0.2, 0.0, 2.5])
def test_gradient_by_the_formula(z, target):
    p = 1 / (1 + np.exp(-z))
    expected = -0.5 * np.sqrt(target * p) * (1 - p) + 0.5 * np.sqrt((1 - target) * (1 - p)) * p
    gradient, _ = Fidelity(target=target).gradient(np.array([z, 0.0]), PAIR)
    np.testing.assert_allclose(gradient, [expected, -expected], rtol=1e-12)


def test_keeps_its_digits_where_little_is_wrong():
    assert value(60.0) == pytest.approx(0.5 * np.exp(-60.0), rel=1e-12)  # 1 - √P ≈ (1 - P)/2


def test_curvature_bounds_the_second_derivative():
    for z in np.linspace(-8, 8, 33):
        p = 1 / (1 + np.exp(-z))
        second = 0.25 * np.sqrt(p) * (1 - p) * (3 * p - 1)
        assert Fidelity().gradient(np.array([z, 0.0]), PAIR)[1][0] >= abs(second) - 1e-15


def test_target_is_a_probability():
    with pytest.raises(LossError, match=r"target=1\.5"):
        Fidelity(target=1.5)
