"""Shared by the diversity measures: subtopics, their weights, and gains that shrink with repetition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import MeasureError
from plackett._kernels.kernel import kernel, over_queries
from plackett.data.dataset import RankingDataset
from plackett.measures.base import Measure
from plackett.measures.ranking import Ranking, Scored, docid_key


@dataclass(frozen=True, kw_only=True, repr=False)
class DiversityMeasure(Measure):
    """Base of measures that read ``data.subtopics``; a dataset without subtopics is rejected."""

    reads_subtopics: ClassVar[bool] = True

    def per_query(self, scored: Scored) -> np.ndarray:
        """One number per query, after the rules for ties and for queries with nothing relevant."""
        data = scored.data
        if data.subtopics is None or data.subtopics.ndim != 2 or data.subtopics.shape[1] == 0:
            raise MeasureError(
                f"{self} measures diversity, but the dataset has no subtopics; give "
                "RankingDataset.from_arrays(..., subtopics=...) a column per subtopic"
            )
        if data.y is None:  # only the tie rules use these labels: the more subtopics, the better
            labels = np.nansum(np.maximum(data.subtopics, 0.0), axis=1, dtype=np.float64)
            scored = Scored(
                data.replace(y=labels),
                scored.scores,
                scored.retrieved,
                random_state=scored.random_state,
                n_jobs=scored.n_jobs,
            )
        return super().per_query(scored)


def relevant_subtopics(ranking: Ranking, rel: float) -> np.ndarray:
    """1 where the document at a position is relevant to a subtopic, uint8 ``(n_rows, T)``."""
    return _relevant(ranking.data, rel)[ranking.rows]


def known_subtopics(data: RankingDataset, rel: float) -> np.ndarray:
    """Number of subtopics of each query with a relevant document."""
    return _any_row(data, _relevant(data, rel) > 0).sum(axis=1)


def subtopic_weights(data: RankingDataset) -> np.ndarray:
    """Probability of each subtopic, ``(n_queries, T)``: as given, or uniform over the subtopics of a query."""
    if data.subtopic_weight is not None:
        return np.nan_to_num(data.subtopic_weight)
    has = _any_row(data, ~np.isnan(np.asarray(data.subtopics)))
    return has / np.maximum(has.sum(axis=1, keepdims=True), 1)


def _relevant(data: RankingDataset, rel: float) -> np.ndarray:
    return (np.asarray(data.subtopics) >= rel).astype(np.uint8)  # NaN is not


def _any_row(data: RankingDataset, flags: np.ndarray) -> np.ndarray:
    """Whether any row of each query has the flag, by column."""
    return np.stack([np.bincount(data.query_of_row, column, data.n_queries) > 0 for column in flags.T], axis=1)


#: Which of equally good documents the greedy ideal order takes first.
IDEAL_TIES = {
    "subtopics": "the one whose first subtopics come first: the order of the rows does not matter",
    "docid": "the one with the larger document id, as ndeval does",
}


def check_ideal_ties(ideal_ties: str, measure: str) -> None:
    """Reject an unknown rule."""
    choice(f"{measure}: ideal_ties", ideal_ties, IDEAL_TIES, error=MeasureError)


def greedy_ideal(
    data: RankingDataset, rel: float, kernel: Callable[..., Any], *parameters: Any, ideal_ties: str = "subtopics"
) -> np.ndarray:
    """Values per query of ``kernel(lo, hi, offsets, relevant, *parameters, out)`` over rows that a greedy choice reads.

    The rows of each query are sorted by the subtopics they cover (or by document id), so that taking the first of
    several equally good ones does not depend on the order of the rows of the dataset.
    """
    key = ("rows of the greedy choice", rel, ideal_ties)
    if key not in data.memo:
        relevant = _relevant(data, rel)
        if ideal_ties == "docid":
            order = np.lexsort((-docid_key(data, "ideal_ties='docid'"), data.query_of_row))
        else:
            order = np.lexsort((*(1 - relevant.T[::-1]), data.query_of_row))
        data.memo[key] = relevant[order]
    out = np.empty(data.n_queries)
    over_queries(kernel, data.offsets, data.memo[key], *parameters, out)
    return out


@kernel
def novelty(a, stop, tie_end, relevant, keep, discount, worth, drawn):
    """Σ discount · Σ_t [relevant to t] · keep^(relevant to t above) over the positions a..stop: mean over ties.

    ``worth`` (a value per subtopic) and ``drawn`` (as long as a list) are scratch.
    """
    total = 0.0
    worth[:] = 1.0
    i = a
    while i < stop:
        end = tie_end[i]
        size = end - i
        for t in range(worth.size):
            if size == 1:
                if relevant[i, t]:
                    total += worth[t] * discount[i - a]
                    worth[t] *= keep
                continue
            among = 0
            for j in range(i, end):
                among += relevant[j, t]
            if among == 0:
                continue
            # A relevant document at the j-th position of the block has j of the others above it, drawn at random:
            # drawn[h] is the probability that h of them are relevant too.
            others = among - 1
            drawn[:among] = 0.0
            drawn[0] = 1.0
            for j in range(min(size, stop - i)):
                mean = 0.0
                power = worth[t]
                for h in range(min(j, others) + 1):
                    mean += drawn[h] * power
                    power *= keep
                total += discount[i - a + j] * mean * among / size
                left = size - 1 - j
                for h in range(min(j + 1, others), -1, -1) if left > 0 else range(0):
                    drawn[h] *= (left - (others - h)) / left
                    if h > 0:
                        drawn[h] += drawn[h - 1] * (others - h + 1) / left
            worth[t] *= keep**among
        i = end
    return total
