"""Whether rankers that look at the query are better than one for all queries."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.experiments.data import folds_by_dataset
from studies._gains import Gains
from studies.base import Study


def query_dependent(
    data: Any = None, *, n_queries: int = 100, measure: str = "nDCG@10", random_state: int = 0, n_jobs: int | None = 1
) -> Study:
    """When is a ranker for each kind of query better than one ranker for all?

    On made-up data the best weights either turn with two features of the query or are the same for all queries. Each
    query-dependent ranker is compared with the global one (a ranking SVM, also the base of the others) on new queries.
    With ``data``, the query features are computed from the lists (mean and spread of each feature), the share of the
    global ranker is chosen on the validation part of each fold, and the figures are those of the test parts.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, chapter 7.
    """
    import polars as pl

    rows: list[dict[str, Any]] = []
    if data is None:
        for name, turn in (("weights turn with the query", 1.0), ("same weights for all", 0.0)):
            train, valid, test = (_planted(n_queries, turn, [random_state, part]) for part in range(3))
            gains = Gains(measure, data=name)
            gains.run(_rankers(train, valid, n_jobs), test)
            rows += gains.rows()
    else:
        for name, folds in folds_by_dataset(data).items():
            gains = Gains(measure, data=name)
            for fold in folds.values():
                gains.run(_rankers(fold.train, fold.valid, n_jobs), fold.test)
            rows += gains.rows()
    notes = (
        "Gain over the global ranker; share of queries that gain minus share that lose; p of Fisher's randomisation "
        "test, not corrected for the number of rankers.",
    )
    return Study(
        pl.DataFrame(rows, infer_schema_length=None),
        "One ranker for all queries, or one that depends on the query",
        notes,
    )


def _rankers(train: RankingDataset, valid: RankingDataset, n_jobs: int | None) -> dict[str, Any]:
    import plackett.rankers as rankers

    def base() -> Any:
        return rankers.RankSVM(n_jobs=n_jobs)

    chosen = base().fit(train)
    settled = base().set_params(**chosen.settled())

    def local(cls: Any, **parameters: Any) -> Any:
        return lambda: cls(base=settled, n_jobs=n_jobs, **parameters).fit(train, eval_set=valid)

    return {
        "global": lambda: chosen,
        "KNN online": local(rankers.KNNOnline),
        "KNN offline 1": local(rankers.KNNOffline1),
        "KNN offline 2": local(rankers.KNNOffline2),
        "classes, hard": local(rankers.ClassRankers, n_classes=4),
        "classes, soft": local(rankers.ClassRankers, n_classes=4, routing="soft"),
        "PCA clusters": local(rankers.SubspaceClusters, n_clusters=4),
        "model clusters": local(rankers.ModelClusters, n_clusters=4),
        "two layers": local(rankers.TwoLayer),
        "CoupleNet": lambda: rankers.CoupleNet(n_jobs=n_jobs, alpha=1e-2).fit(train, eval_set=valid),
    }


def _planted(n: int, turn: float, seed: Any, n_docs: int = 12, n_features: int = 6) -> RankingDataset:
    """Labels follow weights on a circle, at the angle of the query features times ``turn``."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.0, 2.0 * np.pi, n)
    X = rng.normal(size=(n * n_docs, n_features))
    at = np.repeat(angle * turn, n_docs)
    score = X[:, 0] * np.cos(at) + X[:, 1] * np.sin(at) + 0.5 * X[:, 2] + 0.4 * rng.normal(size=len(X))
    y = np.digitize(score, np.quantile(score, [0.6, 0.85])).astype(float)
    z = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return RankingDataset.from_arrays(X, y, np.repeat(np.arange(n), n_docs), query_features=z)
