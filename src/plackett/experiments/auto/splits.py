"""What candidates are trained and compared on: folds of queries (repeated for few queries) or validation data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plackett.data.added import without_added
from plackett.data.dataset import RankingDataset
from plackett.data.kfold import QueryKFold
from plackett.experiments.auto.inspection import Facts

#: Numbers of queries from which one or two rounds of folds are enough.
ONCE, TWICE = 1000, 200


@dataclass(frozen=True, eq=False)
class Splits:
    """Pairs of a training part and a held-out part.

    Attributes
    ----------
    data
        The training data.
    held_out
        The queries of each held-out part: numbers of queries of ``data``, or all of ``valid``.
    rounds
        How often the data is cut into folds; 0 if validation data was given.
    twins
        A number for each query of the held-out parts, in order. Queries with equal numbers are copies of each other and
        stay together when selection is cross-validated.
    judged
        Labels of the held-out parts, one after the other, without features.
    """

    data: RankingDataset
    held_out: tuple[np.ndarray, ...]
    rounds: int
    twins: np.ndarray
    judged: RankingDataset
    valid: RankingDataset | None = None

    def __len__(self) -> int:
        return len(self.held_out)

    def train(self, number: int) -> RankingDataset:
        """Training part of a split."""
        if self.valid is not None:
            return self.data
        kept = np.ones(self.data.n_queries, bool)
        kept[self.held_out[number]] = False
        return self.data.select(kept)

    def test(self, number: int) -> RankingDataset:
        """Held-out part of a split."""
        return without_added(self.data.select(self.held_out[number])) if self.valid is None else self.valid

    def first(self, n: int) -> Splits:
        """Only the first splits."""
        kept = self.held_out[:n]
        queries = sum(part.size for part in kept)
        rounds = min(self.rounds, -(-n * self.rounds // max(len(self), 1)))
        judged = self.judged.select(np.arange(queries))
        return Splits(self.data, kept, rounds, self.twins[:queries], judged, self.valid)


def repeats_for(n_queries: int) -> int:
    """How often to cut this many queries into folds: with few queries, several cuts compare better.

    >>> [repeats_for(n) for n in (60, 500, 5000)]
    [3, 2, 1]
    """
    return 1 if n_queries >= ONCE else 2 if n_queries >= TWICE else 3


def folds(
    data: RankingDataset,
    facts: Facts,
    valid: RankingDataset | None,
    *,
    n_folds: int,
    n_repeats: int | None,
    random_state: int,
) -> Splits:
    """Folds of whole queries, with copies of a query in one fold; or a single split, given validation data."""
    if valid is not None:
        valid = without_added(valid)
        queries = np.arange(valid.n_queries)
        return Splits(data, (queries,), 0, queries, _judged(valid), valid)
    parts: list[np.ndarray] = []
    n_folds = min(n_folds, facts.n_lists)
    rounds = (repeats_for(facts.n_lists) if n_repeats is None else n_repeats) if n_folds > 1 else 0
    for number in range(rounds):
        cut = QueryKFold(n_folds, shuffle=True, random_state=random_state + number)
        # here each query is a row, and the copies of a query form a query
        parts += [test for _, test in cut.split(np.empty((data.n_queries, 0)), qid=facts.twins)]
    order = np.concatenate(parts) if parts else np.empty(0, np.int64)
    return Splits(data, tuple(parts), rounds, facts.twins[order], _judged(without_added(data)).select(order))


def _judged(data: RankingDataset) -> RankingDataset:
    """The dataset without features: all that measures need."""
    return data.replace(X=np.empty((data.n_rows, 0), np.float32), feature_names=None, preferences=None)
