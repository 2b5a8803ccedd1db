"""Decision-theoretic ranking from user behaviour."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett.data.arguments import array
from plackett.measures.gains import check_discount, discount_table

__all__ = ["expected_utility_order"]


class UtilityOrder(NamedTuple):
    """Documents in the order of their expected utility, that utility of each, and the utility of the whole ranking."""

    order: np.ndarray
    utilities: np.ndarray
    value: float


def expected_utility_order(outcomes: Any, utilities: Any, discount: Any = "log2") -> UtilityOrder:
    r"""The ranking that maximises the expected utility :math:`\sum_r \eta(r)\, E[u(\text{outcome at rank } r)]`.

    Implicit feedback gives, for each document, how probable each outcome is (skipped, clicked, read, bought); utilities
    say what each is worth to the user. As the outcomes of a document do not depend on its neighbours and η falls, the
    order by expected utility is the best one.

    Parameters
    ----------
    outcomes
        Probability of each outcome (column) of each document (row).
    utilities
        Worth of each outcome.
    discount
        η, as in nDCG.

    References
    ----------
    Zoeter, Taylor, Snelson, Guiver, Craswell, Szummer: A decision theoretic framework for ranking using implicit
    feedback. SIGIR Workshop on Learning to Rank 2008.

    Examples
    --------
    >>> best = expected_utility_order([[0.9, 0.1], [0.4, 0.6]], [0.0, 1.0])
    >>> best.order.tolist(), best.utilities.tolist()
    ([1, 0], [0.1, 0.6])
    """
    table, worth = array("outcomes", outcomes, 2, least=0.0), array("utilities", utilities)
    if worth.shape != table.shape[1:]:
        raise DataError(
            f"outcomes and utilities have shapes {table.shape} and {worth.shape}; give a column per outcome"
        )
    if not np.allclose(table.sum(axis=1), 1.0):
        raise DataError("the outcomes of each document must be probabilities that sum to 1")
    expected = table @ worth
    order = np.argsort(-expected, kind="stable")
    eta = discount_table(check_discount(discount, "expected_utility_order"), expected.size)
    return UtilityOrder(order, expected, float(expected[order] @ eta))
