"""Conversions between the three kinds of judgements: grades, preferences and total orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.scratch import longest
from plackett.data.preferences import Preferences

if TYPE_CHECKING:
    from plackett.data.dataset import RankingDataset

__all__ = ["order_to_grades", "to_order", "to_pairwise", "to_pointwise"]


def to_pointwise(data: RankingDataset, *, share: bool = False) -> np.ndarray:
    r"""Target of each document for a pointwise method; larger is better.

    With labels the target is the label. With preferences only, it is the number of documents of the query that the
    document beats directly, :math:`y_u = |\{v : (u, v) \in S\}|` (a repeated pair counts once), or with ``share``
    that number divided by :math:`m - 1`. A complete total order of :math:`m` documents thus becomes
    :math:`y = m - \text{rank}`; for an order given by ranks, see `order_to_grades`.

    >>> from plackett import RankingDataset
    >>> pairs = Preferences.from_pairs([(0, 1), (0, 2), (2, 1)])
    >>> data = RankingDataset.from_arrays(None, None, group=[3], preferences=pairs)
    >>> to_pointwise(data).tolist(), to_pointwise(data, share=True).tolist()
    ([2.0, 0.0, 1.0], [1.0, 0.0, 0.5])

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 1.3.3.1.
    """
    if data.y is not None:
        return data.y
    preferences = _preferences(data)
    distinct = np.unique(preferences.winner * data.n_rows + preferences.loser)
    beaten = np.bincount(distinct // max(data.n_rows, 1), minlength=data.n_rows).astype(np.float64)
    return beaten / np.maximum(data.group - 1, 1)[data.query_of_row] if share else beaten


def to_pairwise(data: RankingDataset) -> Preferences:
    """Preferences of a dataset: its own, or else all pairs of unequal labels.

    >>> from plackett import RankingDataset
    >>> to_pairwise(RankingDataset.from_arrays(None, [1, 0, 1], group=[3])).to_pairs().tolist()
    [[0, 1], [2, 1]]

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 1.3.3.2.
    """
    return data.preferences if data.preferences is not None else Preferences.from_labels(data)


def order_to_grades(data: RankingDataset, ranks: Any) -> np.ndarray:
    r"""Grades :math:`y_j = m - \pi(j)` of a total order: the last of :math:`m` documents gets 0.

    ``ranks`` holds the position of each row in the order of its query. Only the order of the numbers matters; equal
    ranks get the same grade, and NaN (not in the order) becomes -1, unjudged.

    >>> from plackett import RankingDataset
    >>> order_to_grades(RankingDataset.from_arrays(None, None, group=[3, 2]), [1, 3, 2, 8, 5]).tolist()
    [2.0, 0.0, 1.0, 0.0, 1.0]
    """
    values = np.asarray(ranks, np.float64)
    if values.shape != (data.n_rows,):
        raise DataError(f"ranks has shape {values.shape}, the dataset {data.n_rows} rows")
    query = data.query_of_row
    order = np.lexsort((-values, query))  # worst first, NaN last
    behind = np.arange(data.n_rows) - data.offsets[query[order]]
    new = np.ones(data.n_rows, bool)
    new[1:] = (values[order][1:] != values[order][:-1]) | (query[order][1:] != query[order][:-1])
    first_of_tie = np.maximum.accumulate(np.where(new, np.arange(data.n_rows), 0))
    grades = np.empty(data.n_rows)
    grades[order] = behind[first_of_tie]
    grades[np.isnan(values)] = -1
    return grades


def to_order(data: RankingDataset) -> np.ndarray:
    """Rank of each document (1 is best) if the judgements of every query form a total order.

    Preferences need not name every pair: a chain of neighbours is enough. Judgements that leave the order of two
    documents open (equal or missing labels, too few pairs) or that contradict each other raise an error that names the
    query.

    >>> from plackett import RankingDataset
    >>> to_order(RankingDataset.from_arrays(None, [5, 7, 6], group=[3])).tolist()
    [3, 1, 2]

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 1.2.2.
    """
    ranks = np.zeros(data.n_rows, np.int64)
    if data.y is not None:
        query = data.query_of_row
        order = np.lexsort((-data.y, query))
        tied = (data.y[order][1:] == data.y[order][:-1]) & (query[order][1:] == query[order][:-1])
        open_rows = np.concatenate((order[1:][tied], np.flatnonzero(data.y < 0)))
        if open_rows.size:
            qid = data.qids[query[open_rows[0]]]
            raise DataError(f"query {qid}: equal or missing labels leave the order of some documents open")
        ranks[order] = np.arange(data.n_rows) - data.offsets[query[order]] + 1
        return ranks
    pairs = _preferences(data)
    by_winner = pairs.take(np.argsort(pairs.winner, kind="stable"))
    first = np.searchsorted(by_winner.winner, np.arange(data.n_rows + 1))
    state = np.zeros(data.n_queries, np.int64)
    over_queries(_unique_order, data.offsets, first, by_winner.loser, ranks, state)
    bad = np.flatnonzero(state)
    if bad.size:
        qid = data.qids[bad[0]]
        reason = "leave the order of some documents open" if state[bad[0]] == _OPEN else "contradict each other"
        raise DataError(f"query {qid}: the preferences {reason}")
    return ranks


_OPEN, _CYCLE = 1, 2


@kernel
def _unique_order(lo, hi, offsets, first, loser, ranks, state):  # type: ignore[no-untyped-def]
    """Topological order of each query; a state other than 0 where there is none or more than one.

    ``first`` has the first pair of each winner. The order is the only one exactly if, at every step, one single
    document is left that nobody left is preferred to.
    """
    n_max = longest(lo, hi, offsets)
    waiting = np.zeros(n_max, np.int64)  # pairs that keep a document from being next
    free = np.empty(n_max, np.int64)
    for q in range(lo, hi):
        a, m = offsets[q], offsets[q + 1] - offsets[q]
        waiting[:m] = 0
        for p in range(first[a], first[a + m]):
            waiting[loser[p] - a] += 1
        n_free = 0
        for u in range(m):
            if waiting[u] == 0:
                free[n_free] = u
                n_free += 1
        placed = 0
        while n_free > 0:
            if n_free > 1:
                state[q] = _OPEN
            n_free -= 1
            u = free[n_free]
            placed += 1
            ranks[a + u] = placed
            for p in range(first[a + u], first[a + u + 1]):
                v = loser[p] - a
                waiting[v] -= 1
                if waiting[v] == 0:
                    free[n_free] = v
                    n_free += 1
        if placed < m:
            state[q] = _CYCLE


def _preferences(data: RankingDataset) -> Preferences:
    if data.preferences is None:
        raise DataError("this dataset has neither labels nor preferences")
    return data.preferences
