"""How much of a ranking a measure sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.estimators import scores_of
from plackett.measures.base import Measure
from plackett.measures.language import parse
from plackett.measures.ranking import Scored

__all__ = ["informativeness"]

#: Rows of swapped lists that are measured at a time.
_ROWS_AT_ONCE = 2**21
#: Changes below this are rounding.
_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class Informativeness:
    """Result of `informativeness`.

    Attributes
    ----------
    seen
        For each query, the number of adjacent swaps that change the measure.
    total
        For each query, the number of adjacent swaps of documents with different labels.
    """

    seen: np.ndarray
    total: np.ndarray

    @property
    def share(self) -> float:
        """Share of the swaps, over all queries, that change the measure; NaN if there are none."""
        return float(self.seen.sum() / self.total.sum()) if self.total.sum() else float("nan")


def informativeness(measure: str | Measure, data: RankingDataset, scores: Any) -> Informativeness:
    """Count the swaps of neighbouring documents with different labels that change a measure.

    A measure that reacts to more swaps tells a learner more. nDCG of the whole list reacts to all of them, AP to those
    between a relevant and an irrelevant document, P@10 only to those across rank 10. So the best measure to optimise
    is not always the one you report.

    Parameters
    ----------
    measure
        A measure or its name.
    data
        Dataset with labels.
    scores
        One score per row; tied documents are kept in row order.

    References
    ----------
    Yilmaz, Robertson: On the choice of effectiveness measures for learning to rank. Information Retrieval 2010.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [1, 0, 2, 0])
    >>> [informativeness(name, data, [4, 3, 2, 1]).seen.tolist() for name in ("nDCG", "nDCG@2", "P@1")]
    [[3], [2], [1]]
    """
    measure = parse(measure)
    scores = scores_of(data, scores)
    data = data.replace(X=np.empty((data.n_rows, 0), np.float32))  # lists are copied below; features are not needed
    ranking = Scored(data, scores).ranking("stable")
    labels, query = ranking.labels, data.query_of_row
    first = np.flatnonzero((labels[1:] != labels[:-1]) & (query[1:] == query[:-1]))  # upper position of each swap
    order = np.empty(data.n_rows)
    order[ranking.rows] = -np.arange(float(data.n_rows))
    before = measure.values(ranking)
    total = np.bincount(query[first], minlength=data.n_queries)
    seen = np.zeros(data.n_queries, np.int64)
    sizes = data.group[query[first]]
    part = np.cumsum(sizes) // _ROWS_AT_ONCE
    for swaps in np.split(first, np.flatnonzero(np.diff(part)) + 1):
        lists = query[swaps]
        copies = data.select(lists)
        rows = np.arange(copies.n_rows) + np.repeat(data.offsets[lists] - copies.offsets[:-1], copies.group)
        swapped = order[rows]
        at = copies.offsets[:-1] - data.offsets[lists]
        upper, lower = ranking.rows[swaps] + at, ranking.rows[swaps + 1] + at
        swapped[upper], swapped[lower] = swapped[lower], swapped[upper]
        after = measure.values(Scored(copies, swapped).ranking("stable"))
        changed = np.abs(after - before[lists]) > _TOLERANCE  # NaN (nothing to measure) counts as no change
        seen += np.bincount(lists[changed], minlength=data.n_queries)
    return Informativeness(seen, total)
