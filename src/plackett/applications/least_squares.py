"""Recommendation from use: factors of users and items by alternating least squares over all pairs.

Written here rather than taken from `implicit`, whose compiled code and threads of its own would serve one model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from plackett._base.arguments import number, whole
from plackett._base.errors import DataError
from plackett._base.progress import progress
from plackett._kernels.kernel import REASSOC, kernel, over_queries
from plackett.applications.ratings import Ratings
from plackett.applications.recommender import Recommender
from plackett.data.grouping import ids_array

__all__ = ["AlternatingLeastSquares"]

#: Ratings that justify one more thread: each costs some passes over its factors.
_ROWS_PER_THREAD = 2_000


@kernel(fastmath=REASSOC)
def _solve(lo, hi, offsets, other, weight, Q, G, penalty, n_steps, P):
    """Conjugate gradients from the present P for (G + λ + Σ w q qᵀ) p = Σ (1 + w) q, for the rows lo to hi."""
    k = Q.shape[1]
    r, d, a = np.empty(k, Q.dtype), np.empty(k, Q.dtype), np.empty(k, Q.dtype)
    for u in range(lo, hi):
        p = P[u]
        begin, end = offsets[u], offsets[u + 1]
        if begin == end:
            p[:] = 0
            continue
        for j in range(k):
            r[j] = -penalty[u] * p[j]
        for i in range(k):
            g, own = G[i], p[i]
            for j in range(k):
                r[j] -= own * g[j]
        for row in range(begin, end):
            q = Q[other[row]]
            dot = Q.dtype.type(0)
            for j in range(k):
                dot += q[j] * p[j]
            step = weight[row] * (1 - dot) + 1
            for j in range(k):
                r[j] += step * q[j]
        old = Q.dtype.type(0)
        for j in range(k):
            d[j] = r[j]
            old += r[j] * r[j]
        for _ in range(n_steps):
            if old < 1e-20:
                break
            for j in range(k):
                a[j] = penalty[u] * d[j]
            for i in range(k):
                g, own = G[i], d[i]
                for j in range(k):
                    a[j] += own * g[j]
            for row in range(begin, end):
                q = Q[other[row]]
                dot = Q.dtype.type(0)
                for j in range(k):
                    dot += q[j] * d[j]
                dot *= weight[row]
                for j in range(k):
                    a[j] += dot * q[j]
            curve = Q.dtype.type(0)
            for j in range(k):
                curve += d[j] * a[j]
            size = old / curve
            new = Q.dtype.type(0)
            for j in range(k):
                p[j] += size * d[j]
                r[j] -= size * a[j]
                new += r[j] * r[j]
            ratio = new / old
            for j in range(k):
                d[j] = r[j] + ratio * d[j]
            old = new


@dataclass(kw_only=True, eq=False)
class AlternatingLeastSquares(Recommender):
    r"""Factors of users and items by least squares over all pairs, used or not; the fast way for plain feedback.

    .. math::

        \min \; \sum_{u, i} c_{ui} \big(1[u \text{ used } i] - p_u^\top q_i\big)^2
        + \sum_u \lambda_u \|p_u\|^2 + \sum_i \lambda_i \|q_i\|^2, \qquad
        \lambda_u = \lambda \, \frac{(n_u + m / c)^{\nu}}{\text{mean over users}}

    :math:`c_{ui}` is ``confidence`` for what was used and 1 for the rest. With fixed items the problem of each user is
    a linear system, and the sum over all unused items is one matrix for everybody: no item is left out or drawn. Users
    and items are solved for in turn, by some steps of conjugate gradients from the last solution. Heavy users are
    penalised more (:math:`\nu`); n and m are numbers of used and of all items (for items, of users).

    Parameters
    ----------
    n_factors
        Length of the factors.
    penalty
        λ: mean of the penalties of users, and of those of items.
    confidence
        c: weight of a used item, where an unused one has 1.
    exponent
        ν: 0 is the same penalty for all, 1 a penalty in proportion to the terms of the sum.
    n_iterations
        How often users and items are solved for.
    n_steps
        Steps of conjugate gradients each time.
    random_state
        Seed of the start.
    n_jobs
        Number of threads; the result does not depend on it.

    Attributes
    ----------
    user_factors_, item_factors_
        p and q.
    users_, items_
        The ids to which they belong.

    Notes
    -----
    Values of ratings are ignored: a rating is use. See `FactorRecommender` for other losses, graded ratings and
    features.

    Examples
    --------
    >>> ratings = Ratings.from_arrays(["ann", "ann", "bob", "bob", "eve"], ["tea", "mate", "rye", "ale", "tea"])
    >>> AlternatingLeastSquares(n_factors=2, penalty=0.1).fit(ratings).recommend("eve", 1)
    ['mate']

    References
    ----------
    Hu, Koren, Volinsky: Collaborative filtering for implicit feedback datasets. ICDM 2008.
    Takács, Pilászy, Tikk: Applications of the conjugate gradient method for implicit feedback collaborative filtering.
    RecSys 2011.
    Rendle, Krichene, Zhang, Koren: Revisiting the performance of iALS on item recommendation benchmarks. RecSys 2022.
    """

    n_factors: int = 32
    penalty: float = 30.0
    confidence: float = 5.0
    exponent: float = 0.5
    n_iterations: int = 10
    n_steps: int = 3
    random_state: int = 0
    n_jobs: int | None = None

    def fit(self, ratings: Ratings, *, verbose: bool = False) -> Self:
        """Train on ratings, whatever their values."""
        if ratings.n_rows == 0:
            raise DataError("there are no ratings")
        for name in ("n_factors", "n_iterations", "n_steps"):
            whole(name, getattr(self, name), least=1)
        if not 0 < self.penalty < np.inf or not 0 < self.confidence < np.inf:
            raise DataError(f"penalty={self.penalty}, confidence={self.confidence}; give numbers above 0")
        number("exponent", self.exponent)
        n, m, k = ratings.n_users, ratings.n_items, self.n_factors
        order = np.argsort(ratings.item, kind="stable")
        offsets = np.searchsorted(ratings.item[order], np.arange(m + 1))
        weight = np.full(ratings.n_rows, self.confidence - 1, np.float32)
        rng = np.random.default_rng(self.random_state)
        P, Q = np.zeros((n, k), np.float32), rng.normal(0.0, 0.1, (m, k)).astype(np.float32)
        by_user = ratings.offsets, ratings.item.astype(np.int32), weight
        by_item = offsets, ratings.user[order].astype(np.int32), weight
        penalties = [
            self._penalties(counts, counts, size).astype(np.float32)
            for counts, size in ((np.diff(ratings.offsets), m), (np.diff(offsets), n))
        ]
        options: dict[str, Any] = {"n_jobs": self.n_jobs, "rows_per_thread": _ROWS_PER_THREAD}
        for _ in progress(range(self.n_iterations), "training factors", self.n_iterations, verbose=verbose):
            over_queries(_solve, *by_user, Q, Q.T @ Q, penalties[0], self.n_steps, P, **options)
            over_queries(_solve, *by_item, P, P.T @ P, penalties[1], self.n_steps, Q, **options)
        return self._learned(ratings, P, Q, np.zeros(m), P.mean(axis=0))

    def fold_in(self, items: Any, values: Any = None) -> np.ndarray:
        """Factors of a new user from the items used: the exact solution with the items' factors held fixed.

        ``values`` are ignored, as they are in training.
        """
        self.check_fitted()
        item = np.unique(self._item_numbers(ids_array(items, "items")))
        Q, own = self.item_factors_, self.item_factors_[item]
        penalty = self._penalties(np.array([item.size]), np.diff(self._seen_offsets), self.items_.size)[0]
        A = Q.T @ Q + (self.confidence - 1) * own.T @ own + penalty * np.eye(Q.shape[1])
        return np.linalg.solve(A, self.confidence * own.sum(axis=0))

    def _penalties(self, counts: np.ndarray, of_training: np.ndarray, size: int) -> np.ndarray:
        """Penalties of users or items with given numbers of ratings; their mean over those of training is λ."""
        even = size / self.confidence
        return self.penalty * (counts + even) ** self.exponent / np.mean((of_training + even) ** self.exponent)
