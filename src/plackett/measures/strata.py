"""The strata of a sample of judgements, known by their weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plackett.data.dataset import RankingDataset


class Strata(NamedTuple):
    """Weight and number of the stratum of each row; of each stratum, how many documents it has and how many judged."""

    weight: np.ndarray
    number: np.ndarray
    pooled: np.ndarray
    judged: np.ndarray


def strata_of(data: RankingDataset) -> Strata:
    """Strata of a dataset: the rows of a query with the same ``sample_weight``; without weights, the query."""

    def make() -> Strata:
        weight = np.ones(data.n_rows) if data.sample_weight is None else data.sample_weight.astype(np.float64)
        order = np.lexsort((weight, data.query_of_row))
        new = np.ones(data.n_rows, bool)
        new[1:] = (np.diff(weight[order]) != 0) | (np.diff(data.query_of_row[order]) != 0)
        number = np.empty(data.n_rows, np.int64)
        number[order] = np.cumsum(new) - 1
        n = int(new.sum())
        pooled = np.bincount(number, data.labels >= -1, minlength=n)
        return Strata(weight, number, pooled, np.bincount(number, data.labels >= 0, minlength=n))

    if "strata" not in data.memo:
        data.memo["strata"] = make()
    return data.memo["strata"]
