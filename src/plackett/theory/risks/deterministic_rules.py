"""No deterministic rule from preferences to an order guarantees less than twice the loss of the preferences."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from plackett.theory.risks.preference_losses import preference_loss, ranking_loss

__all__ = ["worst_case_of_rule"]

#: 1 is preferred to 0, 2 to 1, and 0 to 2.
_CYCLE = np.array([[0.5, 0.0, 1.0], [1.0, 0.5, 0.0], [0.0, 1.0, 0.5]])


class WorstCase(NamedTuple):
    """Labels of three documents, the loss of the preferences and that of the order."""

    labels: tuple[int, ...]
    preference: float
    ranking: float


def worst_case_of_rule(rule: Callable[[np.ndarray], Any]) -> WorstCase:
    """Labels for which a deterministic rule loses twice what the preferences lose.

    The preferences of three documents form a cycle. Whichever order the rule returns, there are labels 0 and 1 for
    which it gets two pairs wrong and the preferences only one: for example, a positive document that it puts last.

    Parameters
    ----------
    rule
        From a table of preferences to row numbers, best first.

    References
    ----------
    Ailon, Mohri: Preference-based learning to rank. Machine Learning 2010.

    Examples
    --------
    >>> from plackett.aggregation.orderings import GreedyOrder
    >>> worst = worst_case_of_rule(GreedyOrder().order)
    >>> round(worst.ranking / worst.preference, 6)
    2.0
    """
    order = rule(_CYCLE.copy())
    cases = [
        WorstCase(labels, preference_loss(_CYCLE, labels), ranking_loss(order, labels))
        for labels in product((0, 1), repeat=3)
        if 0 < sum(labels) < 3
    ]
    return max(cases, key=lambda case: case.ranking / case.preference)
