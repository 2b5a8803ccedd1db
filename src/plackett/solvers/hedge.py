"""Hedge: weights of experts that follow their losses."""

from __future__ import annotations

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError

__all__ = ["hedge", "hedge_bound"]


class HedgeRun(NamedTuple):
    """Weights before each round and, as the last row, after all; and the loss of the weighted experts in each round."""

    weights: np.ndarray
    losses: np.ndarray


def hedge(losses: Any, beta: float, start: Any = None) -> HedgeRun:
    r"""Hedge: the weight of an expert is multiplied by β to the power of its loss in each round,

    .. math:: w_t \leftarrow w_t\,\beta^{\ell_t} / Z, \qquad 0 < \beta < 1.

    The cumulative loss of the weighted mean of the experts is at most `hedge_bound` of the loss of the best one.

    Parameters
    ----------
    losses
        Table of losses of 0 to 1: rounds by experts.
    beta
        The smaller it is, the faster the weights adapt.
    start
        Initial weights, which sum to 1; equal by default.

    Examples
    --------
    >>> run = hedge([[0.0, 1.0], [0.0, 1.0]], beta=0.5)
    >>> run.weights.round(3).tolist()
    [[0.5, 0.5], [0.667, 0.333], [0.8, 0.2]]
    >>> round(float(run.losses.sum()), 4), round(hedge_bound(0.0, n_experts=2, beta=0.5), 4)
    (0.8333, 1.3863)

    References
    ----------
    Freund, Schapire: A decision-theoretic generalization of on-line learning and an application to boosting. JCSS 1997.
    """
    table = np.asarray(losses, np.float64)
    if table.ndim != 2 or table.shape[1] == 0:
        raise DataError(f"losses must be a table of rounds by experts, got shape {table.shape}")
    _check_beta(beta)
    first = np.full(table.shape[1], 1.0 / table.shape[1]) if start is None else np.asarray(start, np.float64)
    # in logarithms, so that long runs do not end in zeros only
    with np.errstate(divide="ignore"):
        logs = np.log(first) + log(beta) * np.vstack([np.zeros(table.shape[1]), np.cumsum(table, axis=0)])
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return HedgeRun(weights, (weights[:-1] * table).sum(axis=1))


def hedge_bound(best_loss: float, n_experts: int, beta: float) -> float:
    r"""Bound on the cumulative loss of Hedge: :math:`(\ln(1/\beta)\,L + \ln T) / (1 - \beta)`.

    L is the cumulative loss of the best of T experts.

    >>> round(hedge_bound(10.0, n_experts=4, beta=0.5), 4)
    16.6355

    References
    ----------
    Freund, Schapire: A decision-theoretic generalization of on-line learning and an application to boosting. JCSS 1997.
    """
    _check_beta(beta)
    return (log(1.0 / beta) * best_loss + log(n_experts)) / (1.0 - beta)


def hedge_beta(n_rounds: int, n_experts: int) -> float:
    """The β with the best bound on the regret after this many rounds, if the best loss is unknown.

    >>> round(hedge_beta(100, 8), 4)
    0.8306
    """
    return 1.0 / (1.0 + sqrt(2.0 * log(max(n_experts, 2)) / max(n_rounds, 1)))


def _check_beta(beta: float) -> None:
    number("beta", beta, above=0.0, below=1.0)
