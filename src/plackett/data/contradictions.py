"""Preferences that no order can satisfy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.preferences import Preferences

__all__ = ["contradictions"]


class Contradictions(NamedTuple):
    """Which pairs contradict others; arrays with an entry per pair of the dataset's preferences.

    Attributes
    ----------
    opposed
        The opposite pair also exists.
    cyclic
        The pair lies on a cycle of preferences (an opposed pair is the shortest one): all pairs on cycles cannot be
        satisfied together.
    """

    opposed: np.ndarray
    cyclic: np.ndarray


def contradictions(data: RankingDataset | Preferences) -> Contradictions:
    """Find preferences that go in both directions or form cycles.

    A pair lies on a cycle if and only if its two documents are in the same strongly connected component of the graph of
    preferences. Every scoring function violates at least one pair of a cycle.

    Parameters
    ----------
    data
        Dataset with preferences, or the preferences alone.

    References
    ----------
    Mohri, Rostamizadeh, Talwalkar: Foundations of machine learning. MIT Press 2018.

    Examples
    --------
    >>> result = contradictions(Preferences.from_pairs([(0, 1), (1, 2), (2, 0), (0, 3), (4, 5), (5, 4)]))
    >>> result.cyclic.tolist(), result.opposed.tolist()
    ([True, True, True, False, True, True], [False, False, False, False, True, True])
    """
    pairs = data.preferences if isinstance(data, RankingDataset) else data
    if pairs is None:
        raise DataError("the dataset has no preferences; labels cannot contradict each other")
    if len(pairs) == 0:
        return Contradictions(np.zeros(0, bool), np.zeros(0, bool))
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n = 1 + int(max(pairs.winner.max(), pairs.loser.max()))
    graph = coo_matrix((np.ones(len(pairs), np.int8), (pairs.winner, pairs.loser)), shape=(n, n))
    component = connected_components(graph, directed=True, connection="strong")[1]
    opposed = np.isin(pairs.winner * n + pairs.loser, pairs.loser * n + pairs.winner)
    return Contradictions(opposed, component[pairs.winner] == component[pairs.loser])
