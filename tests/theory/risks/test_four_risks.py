"""The chain from the gap to the excess risk, in a world that is known."""

from __future__ import annotations

import numpy as np

from plackett.losses import Hinge
from plackett.theory.risks.conventions import Convention
from plackett.theory.risks.finite_world import FiniteWorld
from plackett.theory.risks.four_risks import four_risks


def test_excess_is_at_most_twice_the_gap_and_true_excess_at_most_that_of_the_hinge():
    rng = np.random.default_rng(0)
    angles = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    functions = [lambda X, a=a: 3 * (X @ [np.cos(a), np.sin(a)]) for a in angles]
    positive = 0
    for i in range(25):
        world = FiniteWorld([rng.standard_normal((4, 2)) for _ in range(3)], [rng.integers(0, 2, 4) for _ in range(3)])
        if not any(np.ptp(y) for y in world.labels):
            continue
        sample = world.sample_pairs(6, 3, random_state=i)
        result = four_risks("pairwise 0-1", Hinge(), functions, world, sample)
        assert result.excess <= 2 * result.gap + 1e-12
        assert (result.expected_true <= result.expected_surrogate + 1e-12).all()
        assert (result.empirical_true <= result.empirical_surrogate + 1e-12).all()
        positive += result.excess > 0
    assert positive > 3


def test_conventions_of_the_sources_on_the_same_pairs():
    """A tie, a right and a wrong pair, +1 for the first."""
    first, second = [1.0, 2.0, 0.0], [1.0, 1.0, 1.0]
    assert Convention.BOOK.errors(first, second, [1, 1, 1]).tolist() == [0, 0, 1]
    assert Convention.AUC.errors(first, second, [1, 1, 1]).tolist() == [0.5, 0, 1]
    # Mohri's +1 prefers the second argument
    assert Convention.MOHRI.errors(second, first, [1, 1, 1]).tolist() == [1, 0, 1]
    assert Convention.MOHRI_BIPARTITE.errors(second, first, [1, 1, 1]).tolist() == [0, 0, 1]
    assert np.isnan(Convention.BOOK.margins([1.0], [2.0], [0])).all()
