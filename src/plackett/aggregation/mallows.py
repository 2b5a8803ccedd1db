"""Rank aggregation by the Mallows model with one concentration per list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett.aggregation.base import Aggregation
from plackett.aggregation.kemeny import consensus
from plackett.aggregation.lists import RankLists
from plackett.permutation_models.kendall import fit_theta

__all__ = ["MallowsConsensus"]

#: The iteration stops when no θ changes by more than this share of the largest.
_SETTLED = 1e-6


@dataclass(frozen=True, kw_only=True)
class MallowsConsensus(Aggregation):
    r"""Mallows model: every list is a draw around an unknown order π of its query, with its own concentration.

    .. math:: P(\sigma_1, \dots, \sigma_M \mid \pi) \propto \exp\Big(-\sum_m \theta_m\, d(\sigma_m, \pi)\Big)

    with d the number of pairs in opposite order; a partial list is the first ranks of a draw. No labels are needed: the
    method alternates between the most probable orders for given θ (Kemeny's, with weights θ) and the most probable θ
    for given orders (`Mallows`), shared by all queries. Lists that agree less with the others get less weight.
    Aggregate many queries in one call, so that there is enough data to estimate θ.

    Parameters
    ----------
    max_iter
        Maximum number of iterations; 0 leaves all θ equal, which is Kemeny's order. Stops early when no θ changes by
        more than a millionth of the largest.
    prior
        Number of pseudo-queries added to each list, of mean length and in random order. It keeps θ finite if a list
        agrees completely with the orders.
    exact
        As in `Kemeny`.
    weights
        Multiplies θ.

    Notes
    -----
    The iteration maximises over the orders, while the paper sums over them by sampling. Orders of blocks longer than
    ``exact`` come from `Kemeny`'s local search, which starts from the previous order and makes at most 100 passes, so
    they may not be optimal. For a query of n documents, an iteration costs n² steps per list and n² per pass.

    Examples
    --------
    >>> lists = RankLists.from_orders({q: [list("abcd"), list("abdc"), list("dcba")] for q in "xyz"})
    >>> theta = MallowsConsensus().concentrations(lists)
    >>> bool(theta[2] < theta[1])
    True

    References
    ----------
    Klementiev, Roth, Small: Unsupervised rank aggregation with distance-based models. ICML 2008.
    """

    name: ClassVar[str] = "MallowsConsensus"
    aliases: ClassVar[tuple[str, ...]] = ("Mallows",)

    max_iter: int = 20
    prior: float = 1.0
    exact: int = 12

    def __post_init__(self) -> None:
        if not (self.prior > 0 and self.max_iter >= 0):
            raise DataError("MallowsConsensus: prior must be above 0, and max_iter 0 or more")

    def _scores(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        return self._turns(lists, weights, n_jobs)[1]

    def concentrations(self, lists: RankLists, *, n_jobs: int | None = None) -> np.ndarray:
        """θ of each list."""
        return self._turns(lists, self.list_weights(lists), n_jobs)[0]

    def _turns(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        theta = np.ones(lists.n_lists)
        scores = consensus(lists, weights, self.exact, "below", n_jobs)
        sizes = np.arange(1, int(lists.group.max()) + 1)
        draws = np.zeros((lists.n_lists, sizes.size))
        before = lists.places().before
        _count_draws(lists.offsets, before, draws)
        lengths = np.rint((before >= 0).sum(axis=0) / lists.n_queries).astype(np.int64)
        mean = max(round(lists.n_rows / lists.n_queries), 2)
        for _ in range(self.max_iter):
            distances = np.zeros((lists.n_queries, lists.n_lists))
            over_queries(_distances, lists.offsets, before, scores, distances, n_jobs=n_jobs)
            updated = np.empty_like(theta)
            for m in range(theta.size):
                added = (sizes <= mean) & (sizes > mean - max(lengths[m], 1))  # the draws of one list of mean length
                chance = self.prior * float(((sizes - 1) / 2 * added).sum())
                updated[m] = fit_theta(distances[:, m].sum() + chance, sizes, draws[m] + self.prior * added)
            updated = np.maximum(updated, 1e-9)  # a list as good as random still breaks ties
            moved = np.abs(updated - theta).max()
            theta = updated
            scores = consensus(lists, weights * theta, self.exact, "below", n_jobs, start=scores)
            if moved < _SETTLED * theta.max():
                break
        return theta, scores


@kernel
def _count_draws(offsets, before, draws):
    """How many ranks of each list were drawn out of each number of documents."""
    for q in range(offsets.size - 1):
        n = offsets[q + 1] - offsets[q]
        for m in range(before.shape[1]):
            rank = 0
            for row in range(offsets[q], offsets[q + 1]):
                if before[row, m] >= 0:
                    draws[m, n - rank - 1] += 1.0
                    rank += 1


@kernel
def _distances(lo, hi, offsets, before, scores, out):
    """Pairs that each list has in opposite order; documents it lacks rank below, in no order.

    Documents are visited in the order of their scores, and a Fenwick tree counts those visited earlier that the list
    ranks lower: n log n steps instead of n².
    """
    n_max = longest(lo, hi, offsets)
    keys, rows, spare, spare_order = sorting_memory(n_max)
    tree = np.empty(n_max + 1, np.int64)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        keys[:n] = scores[a : a + n]
        argsort_descending(keys, rows[:n], spare, spare_order, n)
        for m in range(before.shape[1]):
            tree[: n + 1] = 0
            wrong = 0
            for n_visited in range(n):
                position = before[a + rows[n_visited], m]
                if position >= 0:
                    wrong += n_visited
                    j = position + 1  # positions up to this one, including ties
                    while j > 0:
                        wrong -= tree[j]
                        j -= j & -j
                    j = position + 1
                    while j <= n:
                        tree[j] += 1
                        j += j & -j
            out[q, m] = wrong
