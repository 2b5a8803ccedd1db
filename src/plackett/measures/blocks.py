"""Measures of data that are larger than memory, one block of queries after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.mapped import query_blocks
from plackett.measures.base import Measure
from plackett.measures.ranking import Scored

#: More rows than this are measured in blocks.
_MANY_ROWS = 1 << 18


def measured(
    measures: Iterable[Measure],
    data: RankingDataset,
    scores: np.ndarray | Callable[[RankingDataset], np.ndarray],
    *,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> list[np.ndarray]:
    """One number per query for each measure. Only one block of a large dataset is ranked at a time.

    Parameters
    ----------
    scores
        One per row, or a function that scores the documents of a part of the dataset.

    Notes
    -----
    Labels that are not grades are ranked as a whole, because gains of some measures depend on the largest label.

    Examples
    --------
    >>> from plackett.measures import AP
    >>> data = RankingDataset.from_arrays([[1.0], [2.0]], [1, 0], qid=[1, 1])
    >>> measured([AP], data, lambda part: part.X[:, 0])
    [array([0.5])]
    """
    chosen = list(measures)
    values = [np.empty(data.n_queries) for _ in chosen]
    for lo, hi, part in _parts(data):
        if callable(scores):
            own = scores(part)
        elif part is data:
            own = scores
        else:
            own = scores[data.offsets[lo] : data.offsets[hi]]
        scored = Scored(part, own, random_state=random_state, n_jobs=n_jobs)
        for measure, out in zip(chosen, values, strict=True):
            out[lo:hi] = measure.per_query(scored)
    return values


def _parts(data: RankingDataset) -> Iterator[tuple[int, int, Any]]:
    if data.n_rows <= _MANY_ROWS or data.y is None or data.max_grade is None:
        yield 0, data.n_queries, data
        return
    for lo, hi in query_blocks(data.offsets):
        part = data.select(np.arange(lo, hi))
        vars(part)["max_grade"] = data.max_grade  # measures are asked about all of the data
        yield lo, hi, part
