"""Associates of a query: its documents, its pairs, or its list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset

__all__ = ["Associates"]

__home__ = "theory"


@dataclass(frozen=True)
class Associates:
    r"""The part of a query that a loss sees: an associate :math:`\omega^{(q)}` is a document, a pair or a list.

    A subclass says how many there are: `labelled` counts those on which a loss can be above 0, `complete` those that a
    U-statistic divides by. They differ only for pairs: two documents of equal label do not form a labelled pair.

    References
    ----------
    Lan, Liu, Qin, Ma, Li: Query-level stability and generalization in learning to rank. ICML 2008.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [2, 0, 0, 1], qid=[1, 1, 1, 2])
    >>> PAIRS = ASSOCIATES["pair"]
    >>> PAIRS.labelled(data).tolist(), PAIRS.complete(data).tolist()
    ([2.0, 0.0], [3.0, 0.0])
    """

    name: ClassVar[str]

    def labelled(self, data: RankingDataset) -> np.ndarray:
        """Number of labelled associates of each query."""
        raise NotImplementedError

    def complete(self, data: RankingDataset) -> np.ndarray:
        """Number of associates of each query, those of equal labels included."""
        return self.labelled(data)


def judged(data: RankingDataset) -> np.ndarray:
    """Number of judged documents of each query."""
    return np.bincount(data.query_of_row, data.labels >= 0, data.n_queries)


class DocumentAssociates(Associates):
    """Judged documents."""

    name: ClassVar[str] = "document"

    def labelled(self, data: RankingDataset) -> np.ndarray:
        """Number of judged documents of each query."""
        return judged(data)


class PairAssociates(Associates):
    """Pairs of judged documents; the explicit preferences of a dataset where it has them."""

    name: ClassVar[str] = "pair"

    def labelled(self, data: RankingDataset) -> np.ndarray:
        """Number of pairs of unequal labels, or of preferences, of each query."""
        if data.preferences is not None:
            return np.bincount(data.query_of_row[data.preferences.winner], minlength=data.n_queries).astype(np.float64)
        y = data.labels
        rows = np.flatnonzero(y >= 0)
        query = data.query_of_row[rows]
        order = np.lexsort((y[rows], query))
        same = (np.diff(query[order]) == 0) & (np.diff(y[rows][order]) == 0)
        starts = np.flatnonzero(np.concatenate(([True], ~same)))  # blocks of equal query and label
        sizes = np.diff(np.concatenate((starts, [rows.size])))
        m = judged(data)
        if not rows.size:
            return np.zeros(data.n_queries)
        squares = np.bincount(query[order][starts], sizes.astype(np.float64) ** 2, data.n_queries)
        return (m**2 - squares) / 2.0

    def complete(self, data: RankingDataset) -> np.ndarray:
        """Number of pairs of judged documents of each query."""
        if data.preferences is not None:
            raise DataError(
                "a U-statistic is over all pairs of documents, but the dataset has preferences: view='average'"
            )
        m = judged(data)
        return m * (m - 1) / 2.0


class ListAssociates(Associates):
    """The judged documents of a query together."""

    name: ClassVar[str] = "list"

    def labelled(self, data: RankingDataset) -> np.ndarray:
        """1 for each query that has a judged document."""
        return (judged(data) > 0).astype(np.float64)


ASSOCIATES: dict[str, Associates] = {
    "document": DocumentAssociates(),
    "pair": PairAssociates(),
    "list": ListAssociates(),
}
