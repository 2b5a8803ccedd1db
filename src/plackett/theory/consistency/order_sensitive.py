"""Losses that change in the right direction when two documents are swapped."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from plackett.theory.consistency.order_losses import order_loss
from plackett.theory.consistency.permutation_space import all_orders, exchange_table

__all__ = ["order_sensitivity"]

_SLACK = 1e-9


@dataclass(frozen=True)
class OrderSensitivity:
    """Violations found of each condition, and an example of the first one.

    Conditions: ``exchange`` (putting two documents in the order of their scores never raises the loss), ``lowers``
    (and lowers it for some order), ``slope`` (at equal scores the loss falls at least as fast in the score of the
    document that stands above), ``steeper`` (and faster for some order); for top-k also ``symmetry`` (exchanging two
    documents in the truth and in the scores changes nothing) and ``blind`` (orders with the same first k have the same
    loss).
    """

    violations: dict[str, int]
    example: dict[str, Any] | None

    @property
    def holds(self) -> bool:
        """Whether no condition was violated."""
        return not any(self.violations.values())


def order_sensitivity(
    loss: Any, m: int = 4, *, k: int | None = None, n_scores: int = 20, random_state: int = 0
) -> OrderSensitivity:
    """Test numerically whether a loss is order sensitive, or top-k order sensitive.

    All orders of m documents and all pairs of documents are tried at random scores. A violation at one point disproves
    a condition; no violation makes it likely.

    Parameters
    ----------
    loss
        As `order_loss` takes it: a loss of the library or a user's own.
    k
        Test the top-k conditions, with which the loss must not see how documents are ordered beyond rank k.

    References
    ----------
    Xia, Liu, Wang, Zhang, Li: Listwise approach to learning to rank: theory and algorithm. ICML 2008.
    Xia, Liu, Li: Statistical consistency of top-k ranking. NIPS 2009.

    Examples
    --------
    >>> from plackett.losses import ListMLELoss
    >>> order_sensitivity(ListMLELoss()).holds, order_sensitivity(ListMLELoss(), k=1).violations["blind"]
    (True, 720)
    >>> order_sensitivity(ListMLELoss(k=1), k=1).holds
    True
    """
    evaluate = order_loss(loss, m)
    orders = all_orders(m)
    position = np.argsort(orders, axis=1)
    first = orders[:, : k or m]
    rng = np.random.default_rng(random_state)
    counts = dict.fromkeys(("exchange", "lowers", "slope", "steeper") + (("symmetry", "blind") if k else ()), 0)
    example: dict[str, Any] | None = None

    def note(condition: str, wrong: np.ndarray, scores: np.ndarray, pair: tuple[int, int]) -> None:
        nonlocal example
        counts[condition] += int(wrong.sum())
        if example is None and wrong.any():
            first_wrong = int(np.flatnonzero(np.atleast_1d(wrong))[0])
            order = orders[first_wrong].tolist() if wrong.ndim else None
            example = {"condition": condition, "scores": scores.tolist(), "documents": pair, "order": order}

    for _ in range(n_scores):
        scores = rng.normal(0, 1.5, m)
        values, _ = evaluate(scores)
        slack = _SLACK * (1 + np.abs(values).max())
        for i, j in combinations(range(m), 2):
            swapped = exchange_table(m, i, j)
            same_top = (first == first[swapped]).all(axis=1)
            high, low = (i, j) if scores[i] > scores[j] else (j, i)
            wrong_way = (position[:, low] < position[:, high]) & ~same_top
            gain = values - values[swapped]
            note("exchange", wrong_way & (gain < -slack), scores, (high, low))
            note("lowers", np.array(not (gain[wrong_way] > slack).any()), scores, (high, low))
            if k:
                other = scores.copy()
                other[[i, j]] = scores[[j, i]]
                moved, _ = evaluate(other)
                note("symmetry", np.abs(moved[swapped] - values) > slack, scores, (i, j))
                blind = same_top & (position[:, i] < position[:, j])  # each two orders once
                note("blind", blind & (np.abs(gain) > slack), scores, (i, j))
            tied = scores.copy()
            tied[j] = tied[i]
            _, gradient = evaluate(tied)
            above = position[:, i] < position[:, j]
            slope = np.where(above, gradient[:, i] - gradient[:, j], gradient[:, j] - gradient[:, i])
            note("slope", slope > slack, tied, (i, j))
            note("steeper", np.array(not (slope < -slack).any()), tied, (i, j))
    return OrderSensitivity(counts, example)
