"""Expected true loss of every ranking of a few documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.theory.consistency.permutation_space import PermutationSpace, all_orders
from plackett.theory.risks.associate_losses import as_associate_loss

__all__ = ["true_risks"]


def true_loss_table(true: Any, m: int) -> np.ndarray:
    """True loss of each ranking (row) against each order (column) of m documents."""
    orders = all_orders(m)
    n = orders.shape[0]
    position = np.argsort(orders, axis=1)
    scores = np.repeat(-position.astype(np.float64), n, axis=0)
    labels = np.tile((m - 1.0) - position, (n, 1))
    data = RankingDataset.from_arrays(None, labels.ravel(), np.repeat(np.arange(n * n), m))
    table = as_associate_loss(true, tie="loss").sums(scores.ravel(), data).reshape(n, n)
    if np.isnan(table).any():
        raise DataError(f"{true} is undefined for some orders of {m} documents: it has no risk")
    return table


def true_risks(true: Any, space: PermutationSpace) -> np.ndarray:
    """Expected true loss of each ranking of the documents, in the order of ``space.orders``.

    Parameters
    ----------
    true
        What `as_associate_loss` takes: ``"permutation 0-1"``, ``"pairwise 0-1"`` (unweighted Kendall's τ),
        `TopKZeroOne`, `WeightedKendall`, a measure (one minus it), …; an order is seen as labels m − 1, …, 0.

    References
    ----------
    Xia, Liu, Wang, Zhang, Li: Listwise approach to learning to rank: theory and algorithm. ICML 2008.
    Xia, Liu, Li: Statistical consistency of top-k ranking. NIPS 2009.

    Examples
    --------
    >>> true_risks("permutation 0-1", PermutationSpace({(0, 1): 0.7, (1, 0): 0.3})).round(4).tolist()
    [0.3, 0.7]
    """
    return true_loss_table(true, space.m) @ space.probabilities
