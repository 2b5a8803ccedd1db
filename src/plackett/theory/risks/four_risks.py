"""Empirical and expected risk of a true loss and of its surrogate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.theory.risks.finite_world import FiniteWorld
from plackett.theory.risks.risk import Risk

__all__ = ["four_risks"]


class FourRisks(NamedTuple):
    """The four risks of each scoring function of a finite class, and what follows for the one that is learned.

    ``chosen`` minimises the empirical surrogate risk. ``gap`` is the largest distance of the empirical from the
    expected surrogate risk over the class; ``excess`` the expected surrogate risk of the chosen function above the
    least one of the class, which is at most twice the gap.
    """

    empirical_true: np.ndarray
    expected_true: np.ndarray
    empirical_surrogate: np.ndarray
    expected_surrogate: np.ndarray
    chosen: int
    gap: float
    excess: float


def four_risks(
    true: Any,
    surrogate: Any,
    functions: Sequence[Callable[[np.ndarray], np.ndarray]],
    world: FiniteWorld,
    sample: RankingDataset,
    *,
    framework: str = "two-layer",
    view: str = "average",
    scale: float = 1.0,
) -> FourRisks:
    """The four risks of scoring functions, exactly, in a world that is known.

    Generalisation is about empirical against expected, consistency about surrogate against true.

    Parameters
    ----------
    true, surrogate
        Losses as `Risk` takes them.
    functions
        Scoring functions of a table of features: the class to learn from.
    world, sample
        The distribution, and a sample of it.
    scale
        Factor of the surrogate.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 15.2.

    Examples
    --------
    >>> from plackett.losses import Hinge
    >>> world = FiniteWorld([[[0.0], [1.0]]], [[0, 1]])
    >>> both = [lambda X: X[:, 0], lambda X: -X[:, 0]]
    >>> risks = four_risks("pairwise 0-1", Hinge(), both, world, world.sample(5, 8, random_state=0))
    >>> risks.expected_true.tolist(), risks.expected_surrogate.tolist(), risks.chosen
    ([0.0, 1.0], [0.0, 2.0], 0)
    """
    if not functions:
        raise DataError("give at least one scoring function")
    risks = Risk(true, framework, view), Risk(surrogate, framework, view, scale=scale)
    scores = [np.asarray(f(np.asarray(sample.X, np.float64))) for f in functions]
    empirical = [np.array([risk(s, sample) for s in scores]) for risk in risks]
    expected = [np.array([world.expected(risk, f) for f in functions]) for risk in risks]
    chosen = int(np.argmin(empirical[1]))
    gap = float(np.abs(expected[1] - empirical[1]).max())
    return FourRisks(
        empirical[0],
        expected[0],
        empirical[1],
        expected[1],
        chosen,
        gap,
        float(expected[1][chosen] - expected[1].min()),
    )
