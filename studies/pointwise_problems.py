"""A weakness of the pointwise approach: a query with many documents takes over the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from studies._tilted import tilted_queries
from studies.base import Study, named_folds_of, of_queries, per_query


def pointwise_problems(data: Any = None, *, factors: Sequence[int] = (1, 10, 100), random_state: int = 0) -> Study:
    r"""How far does one query with many documents pull the model towards itself?

    The documents of the one query that differs most from the others are repeated 10 and 100 times, which does not
    change how they should be ranked. The study reports the cosine between the weights of the model (for standardised
    features) and the weights without repetition, and nDCG@10 on the other queries. Linear models of all three
    approaches take part; those whose loss is a sum over documents or pairs follow the long query, those that normalise
    by query do not.

    Parameters
    ----------
    data
        Folds (the first is used): the query with the lowest nDCG@10 under linear regression, among those that have
        anything to rank, is enlarged, and the test part is measured. None generates queries that all agree with each
        other, except one.
    factors
        How often the documents are repeated.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 2.5.2.
    """
    import polars as pl

    if data is None:
        name, queries = "made-up data", tilted_queries(40, 20, 0.0, random_state)
        odd, test = tilted_queries(1, 20, np.pi / 2, random_state + 1), tilted_queries(100, 20, 0.0, random_state + 2)
    else:
        name, folds = named_folds_of(data)
        fold = next(iter(folds.values()))
        ranker = _methods()["LinearRegression"].fit(fold.train)
        values = per_query(fold.train, ranker.predict(fold.train), "nDCG@10")
        worst = int(np.argmin(np.where(_has_pairs(fold.train), values, np.inf)))
        others = np.arange(fold.train.n_queries) != worst
        queries, odd, test = fold.train.select(others), fold.train.select(~others), fold.test
    rows = []
    for method, ranker in _methods().items():
        first = None
        for factor in factors:
            ranker.fit(_with_odd(queries, odd, factor))
            weights = ranker.scorer_.weights[:, 0] * queries.X.std(axis=0)
            first = weights if first is None else first
            rows.append(
                {
                    "method": method,
                    "documents repeated": factor,
                    "cosine to the first weights": float(_cosine(weights, first)),
                    "nDCG@10 on other queries": float(per_query(test, ranker.predict(test), "nDCG@10").mean()),
                }
            )
    return Study(pl.DataFrame(rows), f"One query grows: how far does it pull the model? ({name})")


def _has_pairs(data: RankingDataset) -> np.ndarray:
    """Whether the labels of each query differ."""
    first = data.offsets[:-1]
    return np.maximum.reduceat(data.labels, first) > np.minimum.reduceat(data.labels, first)


def _with_odd(queries: RankingDataset, odd: RankingDataset, factor: int) -> RankingDataset:
    """The queries, and one more whose documents are repeated."""
    X = np.vstack([queries.X, np.tile(odd.X, (factor, 1))])
    y = np.append(queries.labels, np.tile(odd.labels, factor))
    return of_queries(X, y, [*queries.group, factor * odd.n_rows])


def _methods() -> dict[str, Any]:
    from plackett.rankers.listwise.listnet import ListNet
    from plackett.rankers.pairwise.ir_svm import IRSVM
    from plackett.rankers.pairwise.rank_svm import RankSVM
    from plackett.rankers.pointwise.linear_regression import LinearRegression
    from plackett.rankers.pointwise.rankcosine import RankCosine

    return {
        "LinearRegression": LinearRegression(alpha=1e-3),
        "RankCosine": RankCosine(alpha=1e-3),
        "RankSVM": RankSVM(C=0.01),
        "IRSVM": IRSVM(C=0.1),
        "ListNet": ListNet(alpha=1e-3),
    }


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), np.finfo(float).tiny))
