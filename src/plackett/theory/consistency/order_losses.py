"""Losses of one score vector against every order of the documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss
from plackett.theory.consistency.permutation_space import all_orders

#: Scores to the loss against each order, and its gradient: arrays of shapes (m!,) and (m!, m).
OrderLoss = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def order_loss(loss: Any, m: int) -> OrderLoss:
    """A loss as a function of the scores of m documents, against each of their orders.

    Parameters
    ----------
    loss
        A loss of the library or a user's own, which sees an order as labels m − 1, …, 0; or a function of scores and a
        table of orders that gives values and gradients.

    Examples
    --------
    >>> from plackett.losses import ListMLELoss
    >>> values, gradient = order_loss(ListMLELoss(), 2)(np.zeros(2))
    >>> values.round(4).tolist(), gradient.tolist()
    ([0.6931, 0.6931], [[-0.5, 0.5], [0.5, -0.5]])
    """
    orders = all_orders(m)
    n = orders.shape[0]
    if not isinstance(loss, Loss):
        if not callable(loss):
            raise LossError(f"{loss!r} is not a loss: give one of plackett.losses, or a function of scores and orders")
        return lambda scores: loss(np.asarray(scores, np.float64), orders)
    if not loss.has_value:
        raise LossError(f"{loss.name} is a gradient without a value: it has no minimiser")
    labels = np.empty((n, m))
    np.put_along_axis(labels, orders, np.broadcast_to(np.arange(m - 1.0, -1.0, -1.0), (n, m)), axis=1)
    data = RankingDataset.from_arrays(None, labels.ravel(), np.repeat(np.arange(n), m))
    bound = loss.bind(data, n_jobs=1)
    if bound.n_outputs != 1:
        raise LossError(f"{loss.name} has several outputs per document")

    def evaluate(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, gradient, _ = bound.evaluate(np.tile(np.asarray(scores, np.float64), n))
        return value, gradient.reshape(n, m)

    return evaluate
