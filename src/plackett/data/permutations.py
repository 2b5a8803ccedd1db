"""The orders that agree with a judgement: the equivalent permutation set."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett.data.estimators import scores_of

if TYPE_CHECKING:
    from plackett.data.dataset import RankingDataset
    from plackett.data.preferences import Preferences

__all__ = ["PermutationSet", "best_order", "sample_order"]

#: Longest list for which linear extensions are counted: 2^20 subsets, and 20! still fits into 64 bits.
MAX_COUNTED = 20
#: Longest list whose orders are enumerated.
MAX_ENUMERATED = 8


class PermutationSet:
    r"""All orders of the documents of one query that agree with its judgements, :math:`\Omega_y`.

    :math:`\Omega_y` holds the orders in which :math:`u` comes before :math:`v` whenever :math:`l_u > l_v`, or
    whenever the pair :math:`(u, v)` is a preference. An order is an array of documents from the top down. An
    unjudged document (label below 0) may be anywhere.

    Create one from labels, or with `from_preferences`.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, sections 1.2.2 and 1.3.3.3.

    Examples
    --------
    >>> orders = PermutationSet([1, 0, 1])
    >>> len(orders), [o.tolist() for o in orders]
    (2, [[0, 2, 1], [2, 0, 1]])
    >>> [0, 1, 2] in orders
    False
    >>> orders.best([0.1, 0.9, 0.5]).tolist()
    [2, 0, 1]
    """

    def __init__(self, labels: Any) -> None:
        self.labels: np.ndarray | None = np.asarray(labels, np.float64)
        if self.labels.ndim != 1:
            raise DataError(f"labels of one query must be one-dimensional, got shape {self.labels.shape}")
        judged = self.labels >= 0
        above = (self.labels[:, None] > self.labels) & judged[:, None] & judged
        self.n_documents = self.labels.size
        self._above = above  # above[u, v]: u must come before v

    @classmethod
    def from_preferences(cls, n_documents: int, preferences: Preferences) -> PermutationSet:
        """Orders of ``n_documents`` documents, numbered from 0, that agree with all pairs; none if these form a cycle.

        >>> from plackett.data.preferences import Preferences
        >>> len(PermutationSet.from_preferences(3, Preferences.from_pairs([(0, 1)])))
        3
        """
        preferences = preferences.regrouped(None, np.array([0, n_documents]))
        self = cls.__new__(cls)
        self.labels = None
        self.n_documents = n_documents
        self._above = np.zeros((n_documents, n_documents), bool)
        self._above[preferences.winner, preferences.loser] = True
        return self

    @property
    def size(self) -> int:
        r"""Number of orders.

        For labels :math:`\prod_k m_k!` with :math:`m_k` documents of level :math:`k`, times
        :math:`m! / (m - m_?)!` for :math:`m_?` unjudged ones. For preferences the number of linear extensions, by
        dynamic programming over subsets, for at most 20 documents.
        """
        if self.labels is None:
            return int(self._completions()[0])
        judged = self.labels[self.labels >= 0]
        levels = np.unique(judged, return_counts=True)[1].tolist()
        free = math.perm(self.n_documents, self.n_documents - judged.size)
        return math.prod(math.factorial(m) for m in levels) * free

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        return self.size > 0

    def __contains__(self, order: Any) -> bool:
        order = np.asarray(order)
        if not np.array_equal(np.sort(order), np.arange(self.n_documents)):
            return False
        rank = np.argsort(order)
        return not (self._above & (rank[:, None] > rank)).any()

    def __iter__(self) -> Iterator[np.ndarray]:
        """All orders, in lexicographic order; for at most 8 documents."""
        if self.n_documents > MAX_ENUMERATED:
            raise DataError(
                f"{self.n_documents} documents have too many orders to enumerate (the limit is {MAX_ENUMERATED}); "
                "use sample()"
            )
        yield from self._extend([])

    def _extend(self, prefix: list[int]) -> Iterator[np.ndarray]:
        if len(prefix) == self.n_documents:
            yield np.array(prefix, np.int64)
            return
        rest = np.setdiff1d(np.arange(self.n_documents), prefix)
        for u in rest[~self._above[np.ix_(rest, rest)].any(axis=0)].tolist():
            yield from self._extend([*prefix, u])

    def sample(self, n: int, random_state: Any = None) -> np.ndarray:
        """``n`` orders drawn uniformly and independently, shape ``(n, n_documents)``.

        With labels ``O(m log m)`` per order; with preferences for at most 20 documents.

        >>> PermutationSet([0, 2, 1]).sample(2, random_state=0).tolist()
        [[1, 2, 0], [1, 2, 0]]
        """
        rng = np.random.default_rng(random_state)
        m = self.n_documents
        if self.labels is not None:
            orders = _draw(np.tile(self.labels, n), np.arange(n + 1) * m, rng)
            return orders.reshape(n, m) - (np.arange(n) * m)[:, None]
        completions = self._completions()
        if completions[0] == 0:
            raise DataError("the preferences contradict each other: no order agrees with all of them")
        orders = np.empty((n, m), np.int64)
        _walk(completions, self._before(), rng.random((n, m)), orders)
        return orders

    def best(self, scores: Any) -> np.ndarray:
        """The greedy order: at each position, the document with the highest score that may come next.

        For labels, this sorts by label, then by score. Equal scores: the smaller number first.
        """
        scores = np.asarray(scores, np.float64)
        if scores.shape != (self.n_documents,):
            raise DataError(f"scores of shape {scores.shape} for {self.n_documents} documents")
        order: list[int] = []
        blocked_by = self._above.sum(axis=0)
        waiting = np.ones(self.n_documents, bool)
        while waiting.any():
            free = np.flatnonzero(waiting & (blocked_by == 0))
            if not free.size:
                raise DataError("the preferences contradict each other: no order agrees with all of them")
            u = int(free[np.argmax(scores[free])])
            order.append(u)
            waiting[u] = False
            blocked_by = blocked_by - self._above[u]
        return np.array(order, np.int64)

    def _before(self) -> np.ndarray:
        """Documents that must come before each one, as bits."""
        return (self._above * (1 << np.arange(self.n_documents, dtype=np.int64))[:, None]).sum(axis=0, dtype=np.int64)

    def _completions(self) -> np.ndarray:
        if self.n_documents > MAX_COUNTED:
            raise DataError(
                f"orders that agree with preferences are counted for at most {MAX_COUNTED} documents, "
                f"there are {self.n_documents}"
            )
        completions = np.zeros(1 << self.n_documents, np.int64)
        _count(self._before(), completions)
        return completions


def sample_order(data: RankingDataset, random_state: Any = None) -> np.ndarray:
    """For every query, draw one order uniformly from those that agree with the labels: rows, from the top down.

    The result is a permutation of the rows of ``data``, query by query.

    >>> from plackett import RankingDataset
    >>> data = RankingDataset.from_arrays(None, [0, 1, 2, 1, 0], group=[3, 2])
    >>> sample_order(data, random_state=0).tolist()
    [2, 1, 0, 3, 4]

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 1.3.3.3.
    """
    return _draw(data.labels, data.offsets, np.random.default_rng(random_state))


def best_order(data: RankingDataset, scores: Any) -> np.ndarray:
    """For every query, the order that agrees with the labels and best fits the scores: rows, from the top down.

    It sorts by label, then by score, then by row. Unjudged documents come last.

    >>> from plackett import RankingDataset
    >>> data = RankingDataset.from_arrays(None, [0, 1, 1], group=[3])
    >>> best_order(data, [3.0, 1.0, 2.0]).tolist()
    [2, 1, 0]
    """
    return np.lexsort((-scores_of(data, scores), -np.maximum(data.labels, -1), data.query_of_row))


def _draw(labels: np.ndarray, offsets: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Uniform orders of all queries: a random order, whose judged positions are then filled in order of the labels."""
    query = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    order = np.lexsort((rng.random(labels.size), query))
    judged_at = np.flatnonzero(labels[order] >= 0)
    judged = order[judged_at]
    order[judged_at] = judged[np.lexsort((-labels[judged], query[judged]))]  # stable: ties stay in random order
    return order


@kernel
def _count(before, completions):  # type: ignore[no-untyped-def]
    """Number of ways to complete a list whose placed documents are a set (its bits)."""
    m = before.size
    completions[-1] = 1
    for placed in range(completions.size - 2, -1, -1):
        total = 0
        for u in range(m):
            if not (placed >> u) & 1 and before[u] & ~placed == 0:
                total += completions[placed | (1 << u)]
        completions[placed] = total


@kernel
def _walk(completions, before, uniform, orders):  # type: ignore[no-untyped-def]
    """Fill lists from the top, each next document in proportion to the completions it leaves."""
    n, m = orders.shape
    for i in range(n):
        placed = 0
        for r in range(m):
            left = uniform[i, r] * completions[placed]
            chosen = -1
            for u in range(m):
                if not (placed >> u) & 1 and before[u] & ~placed == 0 and completions[placed | (1 << u)] > 0:
                    chosen = u
                    left -= completions[placed | (1 << u)]
                    if left < 0:
                        break
            orders[i, r] = chosen
            placed |= 1 << chosen
