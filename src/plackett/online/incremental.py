"""Training again near the model in production."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._errors import DataError
from plackett._provenance import fulfils
from plackett.data.dataset import RankingDataset

__all__ = ["incremental_update"]


@fulfils("robust.incremental")
def incremental_update(
    data: RankingDataset, old: Any, *, loss: Any = None, rho: float = 1.0, max_iter: int = 200
) -> np.ndarray:
    """Weights of a linear model for new data that stay near the old ones.

    Minimises loss(Xw) / (number of queries) + rho ‖w − w_old‖² from w_old on. rho = 0 is training afresh, a large rho
    keeps the old model.

    Parameters
    ----------
    data
        New data.
    old
        Weights of the model in production.
    loss
        A smooth loss with a value; ListNet's by default.
    rho
        Weight of the distance.

    Examples
    --------
    >>> from plackett.datasets import make_ranking
    >>> data = make_ranking(n_queries=20, docs_per_query=8, n_features=3, random_state=0)
    >>> old = np.array([1.0, 0.0, 0.0])
    >>> near, far = (incremental_update(data, old, rho=rho) for rho in (10.0, 0.01))
    >>> bool(np.linalg.norm(near - old) < np.linalg.norm(far - old))
    True
    """
    from scipy.optimize import minimize

    from plackett.losses.listwise.listnet import ListNetLoss

    if rho < 0:
        raise DataError(f"rho={rho}; give 0 or more")
    X = np.asarray(data.X if isinstance(data.X, np.ndarray) else data.X.toarray(), np.float64)
    start = np.asarray(old, np.float64)
    if start.shape != (X.shape[1],):
        raise DataError(f"old has {start.size} weights, the data have {X.shape[1]} features")
    chosen = ListNetLoss() if loss is None else loss

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        scores = X @ w
        slope = np.asarray(chosen.gradient(scores, data)[0], np.float64)
        value = float(chosen(scores, data)) / data.n_queries + rho * float((w - start) @ (w - start))
        return value, X.T @ slope / data.n_queries + 2 * rho * (w - start)

    return minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": max_iter}).x
