"""The transform ψ against its closed forms, and the regret inequality on random distributions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plackett.losses import Exponential, Fidelity, Hinge, Logistic, SquaredHinge
from plackett.theory.consistency.calibration import CalibrationTransform


def entropy(p):
    return -sum(q * math.log2(q) for q in (p, 1 - p) if q > 0)


CLOSED = {
    "exponential": (Exponential(), 1.0, lambda x: 1 - math.sqrt(1 - x * x), (0.0460608, 0.4)),
    "hinge": (Hinge(), 1.0, lambda x: x, (0.3, 0.8)),
    "logistic": (Logistic(), 1 / math.log(2), lambda x: 1 - entropy((1 + x) / 2), (0.0659319, 0.5310044)),
    "square": (lambda z: (1 - z) ** 2, 1.0, lambda x: x * x, (0.09, 0.64)),
    "squared hinge": (lambda z: np.maximum(0, 1 - z) ** 2, 1.0, lambda x: x * x, (0.09, 0.64)),
}


@pytest.mark.parametrize("name", CLOSED)
def test_transform_has_its_closed_form(name):
    phi, scale, closed, worked = CLOSED[name]
    psi = CalibrationTransform(phi, scale)
    assert [psi(0.3), psi(0.8)] == pytest.approx(worked, abs=1e-6)
    for x in (0.0, 0.1, 0.5, 0.99):
        assert psi(x) == pytest.approx(closed(x), abs=1e-7)
        assert psi.inverse(closed(x)) == pytest.approx(x, abs=1e-4)


@pytest.mark.parametrize("loss", [Hinge(), Exponential(), Logistic(), SquaredHinge(margin=1.0)], ids=lambda l: l.name)
def test_pair_losses_of_the_library_are_calibrated(loss):
    """Ranking SVM, RankBoost and RankNet: a small excess of the surrogate means a small excess of the pair error."""
    assert CalibrationTransform(loss).calibrated


def test_what_is_not_calibrated_is_found_out():
    assert not CalibrationTransform(lambda z: np.maximum(0, z + 1.0)).calibrated  # rewards mistakes
    assert not CalibrationTransform(lambda z: np.ones_like(z)).calibrated
    assert CalibrationTransform(Fidelity()).calibrated  # bounded and not convex, yet calibrated


@pytest.mark.parametrize("name", ["exponential", "hinge", "logistic", "square"])
def test_regret_inequality_on_random_pair_distributions(name):
    """Over all antisymmetric pair functions: the best error of a pair of posterior ρ is min(ρ, 1 − ρ)."""
    phi, scale, *_ = CLOSED[name]
    psi = CalibrationTransform(phi, scale)
    rng = np.random.default_rng(0)
    largest = 0.0
    for _ in range(60):
        p = rng.dirichlet(np.ones(4))
        rho = rng.random(4)
        f = rng.normal(0, 1.5, 4)
        error = p @ np.where(f > 0, 1 - rho, rho)
        best_error = p @ np.minimum(rho, 1 - rho)
        risk = p @ (rho * psi.function(f) + (1 - rho) * psi.function(-f))
        best = sum(p[i] * psi.conditional_risk(rho[i]) for i in range(4))
        bound = psi.inverse(max(0.0, risk - best))
        assert error - best_error <= bound + 1e-6
        largest = max(largest, (error - best_error) / max(bound, 1e-12))
    assert largest > 0.2


def test_inverse_uses_the_convex_hull_where_the_transform_is_not_convex():
    psi = CalibrationTransform(lambda z: np.clip(1 - z, 0, 2) + 0.2 * np.sqrt(np.clip(-z, 0, 1)))
    x = np.linspace(0, 1, 21)
    hull_x, hull_y = psi._hull
    for v in x:
        assert np.interp(v, hull_x, hull_y) <= psi(v) + 1e-7
    slopes = np.diff(hull_y) / np.diff(hull_x)
    assert (np.diff(slopes) >= -1e-9).all()
