"""Ordered weighted averages: extremes, convexity, copies."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import LossError, RankingDataset
from plackett.losses import OWA, Hinge

rng = np.random.default_rng(0)
Y, SCORES = rng.integers(0, 3, 14).astype(float), rng.normal(size=14)
DATA = RankingDataset.from_arrays(None, Y)


def losses_of(u):
    return [max(0.0, 1.0 - (SCORES[u] - SCORES[v])) for v in range(14) if Y[v] < Y[u]]


def test_all_weight_on_the_first_is_the_largest_loss():
    assert OWA(weights=(1,))(SCORES, DATA) == pytest.approx(sum(max(losses_of(u), default=0.0) for u in range(14)))


def test_equal_weights_are_the_mean():
    expected = sum(np.mean(losses_of(u)) for u in range(14) if losses_of(u))
    assert OWA(weights="uniform")(SCORES, DATA) == pytest.approx(expected)
    two_levels = RankingDataset.from_arrays(None, (Y > 0).astype(float))
    n_worse = int((Y == 0).sum())
    assert OWA(weights="uniform")(SCORES, two_levels) == pytest.approx(Hinge()(SCORES, two_levels) / n_worse)


def test_convex_for_weights_that_do_not_grow_only():
    """Twice the smaller of two losses is not convex; such weights are refused."""
    pairs = RankingDataset.from_arrays(None, [1, 0, 0])
    a, b = np.array([0.0, 1.0, -1.0]), np.array([0.0, -1.0, 1.0])

    def smaller(scores):
        return min(max(0.0, 1 + scores[v]) for v in (1, 2))

    assert smaller(0.5 * (a + b)) > 0.5 * (smaller(a) + smaller(b))
    with pytest.raises(LossError, match="not growing"):
        OWA(weights=(0.3, 0.7))
    for weights in ("harmonic", "uniform", (1,), (2, 1, 1)):
        loss = OWA(weights=weights)
        for _ in range(20):
            a, b = rng.normal(size=(2, 3))
            assert loss(0.5 * (a + b), pairs) <= 0.5 * (loss(a, pairs) + loss(b, pairs)) + 1e-12


@pytest.mark.parametrize("weights", ["harmonic", (3, 1)])
def test_a_document_of_weight_2_is_two_copies(weights):
    heavy = RankingDataset.from_arrays(None, Y, sample_weight=np.where(np.arange(14) % 3 == 0, 2.0, 1.0))
    rows = np.concatenate([np.arange(14), np.arange(0, 14, 3)])
    copied = RankingDataset.from_arrays(None, Y[rows])
    assert OWA(weights=weights)(SCORES, heavy) == pytest.approx(OWA(weights=weights)(SCORES[rows], copied))


@pytest.mark.parametrize("weights", ["sharp", (), (0.0, 0.0), (1, -1)])
def test_refusals(weights):
    with pytest.raises(LossError, match="weights="):
        OWA(weights=weights)
