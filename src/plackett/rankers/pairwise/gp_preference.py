"""Gaussian processes for preference learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.preferences import Preferences
from plackett.rankers._laplace import LaplaceRanker
from plackett.solvers.intervals import Intervals

__all__ = ["GPPreference"]


@dataclass(kw_only=True, eq=False, repr=False)
class GPPreference(LaplaceRanker):
    r"""Gaussian process for preference learning: the better document of each pair won a noisy comparison.

    .. math:: P(u \succ v \mid f) = \Phi\Big(\frac{f_u - f_v}{\sqrt 2\,\sigma}\Big)

    The pairs are the explicit preferences of the dataset if it has any (their margins are ignored), otherwise all pairs
    of unequal labels of a query, without unjudged documents. They are kept in memory. The weight of a pair says how
    often it was observed: the product of the weights of its documents, its query and the pair itself.

    Examples
    --------
    >>> ranker = GPPreference().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 2], qid=[1, 1, 1, 1])
    >>> ranker.rank([[0.5], [2.5]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Chu, Ghahramani: Preference learning with Gaussian processes. ICML 2005.
    """

    takes_preferences: ClassVar[bool] = True

    def observations(self, data: RankingDataset) -> tuple[np.ndarray, Any, Intervals, np.ndarray]:
        """The difference of each pair, over √2, is above 0."""
        from scipy.sparse import csr_matrix

        pairs = data.preferences if data.preferences is not None else Preferences.from_labels(data, margin=False)
        weight = np.ones(len(pairs)) if pairs.weight is None else pairs.weight
        if data.sample_weight is not None:
            weight = weight * data.sample_weight[pairs.winner] * data.sample_weight[pairs.loser]
        if data.query_weight is not None:
            weight = weight * data.query_weight[data.query_of_row[pairs.winner]]
        kept = np.flatnonzero(weight > 0)
        ends = np.stack([pairs.winner[kept], pairs.loser[kept]], axis=1)
        values = np.tile([np.sqrt(0.5), -np.sqrt(0.5)], kept.size)
        table = csr_matrix((values, ends.ravel(), 2 * np.arange(kept.size + 1)), (kept.size, data.n_rows))
        one = np.ones(kept.size, np.int64)
        above_zero = Intervals(one, 2 * one, weight[kept], 1, fixed=np.zeros(1))
        return np.arange(data.n_rows), table, above_zero, np.empty(0)
