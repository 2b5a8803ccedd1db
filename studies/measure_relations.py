"""How the measures are related."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.evaluation.evaluate import evaluate
from studies.base import Study, named_folds_of, of_queries

MEASURES = ("P@1", "P@5", "P@10", "RR", "AP", "nDCG@1", "nDCG@5", "nDCG@10", "nDCG", "ERR", "RC")


def measure_relations(
    data: Any = None, *, measures: Sequence[str] = MEASURES, n_orders: int = 20, random_state: int = 0
) -> Study:
    """Which measures agree about rankings?

    Every query is ranked ``n_orders`` times by its labels plus noise of random strength, from nearly perfect to nearly
    random. The study reports the rank correlation (Spearman's ρ) of the measures over the rankings of a query: values
    are replaced by their ranks within the query, so that easy and hard queries do not make measures look alike.

    Parameters
    ----------
    data
        Folds, of which the first training part is used; None generates lists of 20 documents with grades 0 to 3.
    measures
        The measures to compare.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, exercise 1.7.
    """
    import polars as pl
    from scipy.stats import rankdata

    name, queries = _queries(data, random_state)
    rng = np.random.default_rng(random_state)
    per_order = []
    for strength in np.linspace(0.2, 4.0, n_orders):
        result = evaluate(queries, queries.labels + strength * rng.standard_normal(queries.n_rows), list(measures))
        per_order.append(np.array(list(result.values.values())))
    values = np.array(per_order)  # orders, measures, queries
    values = values[:, :, ~np.isnan(values).any(axis=(0, 1))]
    ranks = rankdata(values, axis=0) - (n_orders + 1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):  # a measure that never changes has no correlation
        table = np.corrcoef(ranks.transpose(1, 0, 2).reshape(len(measures), -1))
    rows = [{"ρ": name} | dict(zip(measures, row, strict=True)) for name, row in zip(measures, table, strict=True)]
    note = f"{n_orders} rankings of each of {values.shape[2]} queries"
    return Study(pl.DataFrame(rows), f"Rank correlation of measures over random rankings of {name}", (note,))


def _queries(data: Any, random_state: int) -> tuple[str, RankingDataset]:
    if data is not None:
        name, folds = named_folds_of(data)
        return name, next(iter(folds.values())).train
    labels = np.random.default_rng(random_state).choice(4, (100, 20), p=[0.6, 0.25, 0.1, 0.05])
    return "made-up lists", of_queries(np.zeros((2000, 1)), labels.ravel(), [20] * 100)
