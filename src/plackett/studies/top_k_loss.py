"""What ListMLE is right for: the whole order, but not its top."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

import numpy as np

from plackett._provenance import fulfils
from plackett.data.dataset import RankingDataset
from plackett.losses.listwise.listmle import ListMLELoss
from plackett.studies.base import Study

__all__ = ["best_scores", "top_k_loss"]

Order = tuple[int, ...]

#: A distribution over orders of three documents whose most probable first document ListMLE does not find.
MIXED: Mapping[Order, float] = {(0, 2, 1): 0.52, (1, 2, 0): 0.33, (2, 0, 1): 0.10, (2, 1, 0): 0.05}


@fulfils("exercise.4.1–4.9", paper="Xia, Liu, Li 2009, Statistical consistency of top-k ranking; exercises 4.8 and 4.9")
def top_k_loss() -> Study:
    """Does the minimiser of the expected ListMLE loss rank best?

    For two distributions over the orders of three documents the scores are found that minimise the expected ListMLE
    loss, over all positions and over the first one only. If the orders come from a Plackett–Luce model, the minimiser
    sorts like the most probable order, so that the expected permutation-level 0–1 loss is least too. A mixed
    distribution is made such that the full loss puts document 2 first, which is first with probability .15 only; the
    loss of the first position puts document 0 first, as is right when only the top counts.
    """
    import polars as pl

    worth = np.array([2.0, 1.0, 0.5])
    model = {order: _plackett_luce(worth, order) for order in permutations(range(3))}
    rows = []
    for name, chances in (("Plackett–Luce", model), ("mixed", dict(MIXED))):
        for what, k in (("all positions", None), ("first position", 1)):
            scores = best_scores(chances, ListMLELoss(k=k))
            order = tuple(np.argsort(-scores).tolist())
            rows.append(
                {
                    "orders": name,
                    "loss": what,
                    "ranking": str(order),
                    "most probable": str(max(chances, key=lambda o: chances[o])),
                    "0–1 loss": 1 - chances.get(order, 0.0),
                    "top-1 loss": 1 - sum(p for o, p in chances.items() if o[0] == order[0]),
                    "least top-1 loss": 1 - max(sum(p for o, p in chances.items() if o[0] == d) for d in range(3)),
                }
            )
    return Study(pl.DataFrame(rows), "Minimisers of the expected ListMLE loss on three documents")


def best_scores(chances: Mapping[Order, float], loss: ListMLELoss) -> np.ndarray:
    """Scores of the documents, with mean 0, that minimise the expected loss of orders with these probabilities."""
    from scipy.optimize import minimize

    orders = np.array(list(chances))
    n, m = orders.shape
    labels = np.empty((n, m))
    np.put_along_axis(labels, orders, np.arange(m, 0, -1.0)[None, :].repeat(n, axis=0), axis=1)
    data = RankingDataset.from_arrays(
        None, labels.ravel(), qid=np.repeat(np.arange(n), m), query_weight=np.array(list(chances.values()))
    )
    bound = loss.bind(data, n_jobs=1)

    def expected(scores: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient, _ = bound.evaluate(np.tile(scores, n))
        return float(value.sum()), gradient.reshape(n, m).sum(axis=0)

    found = minimize(expected, np.zeros(m), jac=True, method="BFGS", options={"gtol": 1e-10}).x
    return found - found.mean()


def _plackett_luce(worth: np.ndarray, order: Order) -> float:
    left = worth[list(order)]
    return float(np.prod(left / np.cumsum(left[::-1])[::-1]))
