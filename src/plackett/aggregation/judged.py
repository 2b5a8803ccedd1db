"""Judgements joined with lists, to measure many aggregations of the same lists quickly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.aggregation.lists import RankLists
from plackett.data.dataset import RankingDataset
from plackett.data.trec_join import join_run
from plackett.measures.base import Measure
from plackett.measures.ranking import Scored


@dataclass(frozen=True, eq=False)
class Judged:
    """A dataset of labels; ``rows`` maps its rows to rows of the lists, -1 for judged but not listed."""

    data: RankingDataset
    rows: np.ndarray

    def value(self, scores: np.ndarray, measure: Measure, n_jobs: int | None = None) -> float:
        """Mean of a measure over the judged queries, negated if smaller is better.

        Documents with a score of minus infinity count as not retrieved.
        """
        judged_scores = np.where(self.rows >= 0, scores[self.rows], -np.inf)
        scored = Scored(self.data, judged_scores, judged_scores > -np.inf, n_jobs=n_jobs)
        value = measure.mean(measure.per_query(scored))
        return measure.worth(value)

    def labels(self, n_rows: int) -> np.ndarray:
        """Label of each row of the lists; -2 if it has none."""
        labels = np.full(n_rows, -2.0)
        listed = self.rows >= 0
        labels[self.rows[listed]] = self.data.labels[listed]
        return labels


def judge(lists: RankLists, judgements: Any) -> Judged:
    """Join lists with labels of their rows, or with qrels (a path, a frame, a dict of dicts, triples).

    >>> lists = RankLists.from_runs([{"q": {"a": 2.0, "b": 1.0}}])
    >>> judge(lists, {"q": {"b": 1, "c": 2}}).labels(2).tolist()
    [-2.0, 1.0]
    """
    if isinstance(judgements, Judged):
        return judgements
    if isinstance(judgements, (np.ndarray, list)) and np.asarray(judgements).dtype.kind in "iufb":
        labels = np.asarray(judgements, float)
        if labels.shape != (lists.n_rows,):
            raise DataError(f"labels have shape {labels.shape}, but the lists have {lists.n_rows} documents")
        data = RankingDataset.from_arrays(None, labels, group=lists.group)
        return Judged(data, np.arange(lists.n_rows))
    numbered = lists.run(-np.arange(lists.n_rows, dtype=float))  # the score encodes the row
    joined = join_run(judgements, numbered, complete=True)
    if not joined.retrieved.any():
        raise DataError("no query of the lists is judged: do the query ids agree?")
    rows = np.where(joined.retrieved, -np.where(joined.retrieved, joined.scores, 0.0), -1.0)
    return Judged(joined.data, rows.astype(np.int64))
