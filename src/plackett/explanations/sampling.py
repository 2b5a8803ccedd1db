"""Shapley values of any scoring function, estimated with random orders of the features."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

#: Rows scored at once.
BATCH_ROWS = 200_000


def draw_orders(background: np.ndarray, n_orders: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Orders of the features, and for each a background document to start from.

    All documents of a query are explained with the same ones: their contributions then have the same base, and
    differences between documents do not depend on the draws.
    """
    orders = np.array([rng.permutation(background.shape[1]) for _ in range(n_orders)])
    return orders, background[rng.integers(background.shape[0], size=n_orders)]


def sampled_contributions(
    score: Callable[[np.ndarray], np.ndarray], x: np.ndarray, orders: np.ndarray, starts: np.ndarray
) -> np.ndarray:
    """Contribution of each feature to the score of one document by each order, orders × features; their mean counts.

    An order of the features and a background document give one estimate: the features of the background document are
    replaced one by one, and each is credited with the change of the score. Every order is used forwards and
    backwards (Castro, Gómez, Tejada 2009). The estimates of one order add up to the difference of the two scores.

    Parameters
    ----------
    score
        Scores of some rows of features.
    x
        The document.
    orders, starts
        See `draw_orders`.
    """
    n_orders, d = orders.shape
    orders = np.concatenate([orders, orders[:, ::-1]])
    starts = np.concatenate([starts, starts])
    estimates = np.empty((2 * n_orders, d))
    per_batch = max(1, BATCH_ROWS // (d + 1))
    for lo in range(0, 2 * n_orders, per_batch):
        some = orders[lo : lo + per_batch]
        turn = np.argsort(some, axis=1)  # when each feature is replaced
        step = np.arange(d + 1)[None, :, None]
        rows = np.where(turn[:, None, :] < step, x, starts[lo : lo + per_batch, None, :])
        scores = score(rows.reshape(-1, d).astype(x.dtype)).reshape(len(some), d + 1)
        np.put_along_axis(estimates[lo : lo + per_batch], some, np.diff(scores, axis=1), axis=1)
    return 0.5 * (estimates[:n_orders] + estimates[n_orders:])


def standard_error(draws: np.ndarray) -> np.ndarray:
    """Standard error of the mean over orders; NaN for one order."""
    n_orders = draws.shape[0]
    return draws.std(axis=0, ddof=1) / np.sqrt(n_orders) if n_orders > 1 else np.full(draws.shape[1], np.nan)
