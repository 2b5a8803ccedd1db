"""Where the time of a query-dependent ranker goes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.scorers.routed import features_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["response_times"]


def response_times(ranker: Any, data: RankingDataset) -> pl.DataFrame:
    """Seconds that a query-dependent ranker takes for each query, one query at a time.

    Parameters
    ----------
    ranker
        A fitted query-dependent ranker (`KNNOnline`, `KNNOffline1`, `KNNOffline2`, `ClassRankers`, `SubspaceClusters`,
        `ModelClusters`, `TwoLayer`, `CoupleNet`).
    data
        Queries to rank.

    Returns
    -------
    polars.DataFrame
        One row per query: ``qid``, the seconds for the ``features`` of the query, for the ``choice`` of the ranker
        (with its training, for `KNNOnline`), for ``scoring``, and their sum ``total``.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 7.3.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=20, docs_per_query=8, n_features=5, random_state=0)
    >>> times = response_times(pk.KNNOffline2(base="LinearRegression", k=5).fit(data), data)
    >>> times.columns
    ['qid', 'features', 'choice', 'scoring', 'total']
    """
    import polars as pl

    ranker.check_fitted()
    scorer = ranker.scorer_
    if not hasattr(scorer, "choose"):
        raise DataError(f"{type(ranker).__name__} does not use features of the query; time its predict instead")
    data = ranker.columns_in.aligned(data)
    ranker.check_features(data)
    rows = []
    for q in range(data.n_queries):
        one = data.select([q])
        begin = time.perf_counter()
        z = features_of(scorer, one.X, one.offsets, one.query_features)
        described = time.perf_counter()
        chosen = scorer.choose(one.X, one.offsets, z)
        decided = time.perf_counter()
        more = {"relations": one.relations} if scorer.reads_relations else {}
        scorer.score(chosen, one.X, one.offsets, ranker.n_jobs, query_features=one.query_features, **more)
        end = time.perf_counter()
        rows.append((described - begin, decided - described, end - decided))
    frame = pl.DataFrame(rows, schema=["features", "choice", "scoring"], orient="row")
    ids = pl.Series("qid", data.qids.tolist())
    return frame.insert_column(0, ids).with_columns(total=pl.sum_horizontal("features", "choice", "scoring"))
