"""Datasets that differ by one query, document or pair."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plackett._base.errors import DataError
from plackett.data.concat import concat
from plackett.data.dataset import RankingDataset
from plackett.data.preferences import Preferences

#: A dataset, the number of a unit, a pool of replacements and a generator to the changed dataset.
Change = Callable[[RankingDataset, int, RankingDataset, np.random.Generator], RankingDataset]


def prepared(data: RankingDataset, unit: str) -> RankingDataset:
    """The dataset with its units made explicit: pairs become preferences."""
    if unit != "pair" or data.preferences is not None:
        return data
    return data.replace(preferences=Preferences.from_labels(data, margin=False))


def units(data: RankingDataset, unit: str) -> np.ndarray:
    """Indices of the units that can be changed: queries with more than one label, documents, pairs."""
    if unit == "query":
        labels = data.labels
        least, most = np.full(data.n_queries, np.inf), np.full(data.n_queries, -np.inf)
        judged = labels >= 0
        np.minimum.at(least, data.query_of_row[judged], labels[judged])
        np.maximum.at(most, data.query_of_row[judged], labels[judged])
        return np.flatnonzero(most > least)
    if unit == "document":
        return np.flatnonzero((data.labels >= 0) & (data.group[data.query_of_row] > 1))
    return np.arange(len(data.preferences) if data.preferences is not None else 0)


def _without_query(data: RankingDataset, j: int, pool: RankingDataset, rng: np.random.Generator) -> RankingDataset:
    return data.select(np.delete(np.arange(data.n_queries), j))


def _other_query(data: RankingDataset, j: int, pool: RankingDataset, rng: np.random.Generator) -> RankingDataset:
    taken = pool.select([int(rng.choice(units(pool, "query")))])
    renamed = RankingDataset.from_arrays(taken.X, taken.labels, np.full(taken.n_rows, -1))
    rest = data.select(np.delete(np.arange(data.n_queries), j))
    others = RankingDataset.from_arrays(rest.X, rest.labels, rest.query_of_row)
    return concat([others, renamed])


def _rows(data: RankingDataset, rows: np.ndarray) -> RankingDataset:
    weight = None if data.sample_weight is None else data.sample_weight[rows]
    return RankingDataset.from_arrays(data.X[rows], data.labels[rows], data.query_of_row[rows], sample_weight=weight)


def _without_document(data: RankingDataset, j: int, pool: RankingDataset, rng: np.random.Generator) -> RankingDataset:
    return _rows(data, np.delete(np.arange(data.n_rows), j))


def _other_document(data: RankingDataset, j: int, pool: RankingDataset, rng: np.random.Generator) -> RankingDataset:
    new = int(rng.choice(np.flatnonzero(pool.labels >= 0)))
    X, y = data.X.copy(), data.labels.copy()
    X[j], y[j] = pool.X[new], pool.labels[new]
    return data.replace(X=X, y=y)


def _without_pair(data: RankingDataset, j: int, pool: RankingDataset, rng: np.random.Generator) -> RankingDataset:
    assert data.preferences is not None
    return data.replace(preferences=data.preferences.take(np.delete(np.arange(len(data.preferences)), j)))


def _other_pair(data: RankingDataset, j: int, pool: RankingDataset, rng: np.random.Generator) -> RankingDataset:
    """The pair reversed: the largest change that one label can cause."""
    assert data.preferences is not None
    pairs = data.preferences.to_pairs().copy()
    pairs[j] = pairs[j, ::-1]
    return data.replace(preferences=Preferences.from_pairs(pairs))


#: What can be changed and how.
CHANGES: dict[tuple[str, str], Change] = {
    ("query", "remove"): _without_query,
    ("query", "replace"): _other_query,
    ("document", "remove"): _without_document,
    ("document", "replace"): _other_document,
    ("pair", "remove"): _without_pair,
    ("pair", "replace"): _other_pair,
}


def change_of(unit: str, mode: str) -> Change:
    """The function that changes a unit; an unknown one raises an error that lists them."""
    if (unit, mode) not in CHANGES:
        known = ", ".join(f"{u}/{m}" for u, m in CHANGES)
        raise DataError(f"unit={unit!r}, mode={mode!r}; there are {known}")
    return CHANGES[unit, mode]
