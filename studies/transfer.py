"""Whether judgements of another domain help where the target has few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.experiments.data import folds_by_dataset
from studies._gains import Gains
from studies.base import Study


def transfer(
    data: Any = None,
    *,
    n_target: Sequence[int] = (3, 10),
    n_draws: int = 5,
    measure: str = "nDCG@10",
    random_state: int = 0,
    n_jobs: int | None = 1,
) -> Study:
    """How much do judgements of another domain help a domain with few of its own, and when do they harm?

    On made-up data the weights of the target differ a little from those of the source, or are their opposite. With
    ``data``, several datasets with the same features by name, each is the target in turn: ``n_target`` of its training
    queries are used with all training queries of the others, and its test queries decide. A third as many target
    queries, at least three, are the validation data by which negative transfer is detected (last two rows). The
    baseline is the target alone; the base of all is a ranking SVM.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, chapter 9.
    """
    import polars as pl

    rows: list[dict[str, Any]] = []
    if data is None:
        for name, angle in (("a related source", 0.35), ("an opposite source", np.pi)):
            for n in n_target:
                gains = Gains(measure, target=name, queries=str(n))
                for draw in range(n_draws):
                    source, target, valid, test = (
                        _planted(size, 0.0 if i == 0 else angle, [random_state, draw, i])
                        for i, size in enumerate((60, n, max(3, n // 3), 60))
                    )
                    gains.run(_rankers(target, {"source": source}, valid, n_jobs), test)
                rows += gains.rows()
    else:
        folds = folds_by_dataset(data)
        if len(folds) < 2:
            raise ValueError("this study takes several datasets with the same features: give --data for each")
        for name, own in folds.items():
            for n in n_target:
                gains = Gains(measure, target=name, queries=str(n))
                for number, fold in enumerate(own.values()):
                    sources = {
                        other: next(iter(parts.values())).train for other, parts in folds.items() if other != name
                    }
                    order = np.random.default_rng([random_state, number]).permutation(fold.train.n_queries)
                    few = fold.train.select(np.sort(order[:n]))
                    valid = fold.valid.select(np.arange(min(fold.valid.n_queries, max(3, n // 3))))
                    gains.run(_rankers(few, sources, valid, n_jobs), fold.test)
                rows += gains.rows()
    notes = (
        "Gain over the target alone; share of queries that gain minus share that lose; p of Fisher's randomisation "
        "test, not corrected for the number of rankers. Watched: with a fall-back decided on a few validation queries.",
    )
    return Study(
        pl.DataFrame(rows, infer_schema_length=None),
        "Transfer from source domains to a target with few judged queries",
        notes,
    )


def _rankers(
    target: RankingDataset, sources: dict[str, RankingDataset], valid: RankingDataset, n_jobs: int | None
) -> dict[str, Any]:
    import plackett.rankers as rankers

    base = rankers.RankSVM(C=0.01, n_jobs=n_jobs)

    def moved(cls: Any, watched: bool = False, **parameters: Any) -> Any:
        given = {"eval_set": valid} if watched else {}
        return lambda: cls(base=base, n_jobs=n_jobs, **parameters).fit(target, source=sources, **given)

    return {
        "target alone": lambda: base.fit(target),
        "pooled": moved(rankers.PooledTransfer),
        "instance weights": moved(rankers.InstanceTransfer),
        "importance weights": moved(rankers.ImportanceTransfer),
        "mixed scores": moved(rankers.BoostingTransfer, mode="interpolate"),
        "shared features": moved(rankers.FeatureTransfer),
        "features and instances": moved(rankers.CombinedTransfer),
        "pooled, watched": moved(rankers.PooledTransfer, watched=True),
        "shared features, watched": moved(rankers.FeatureTransfer, watched=True),
    }


def _planted(n: int, angle: float, seed: Any, n_docs: int = 12, n_features: int = 20) -> RankingDataset:
    """Labels follow weights in four of the features, turned by an angle in two planes."""
    rng = np.random.default_rng(seed)
    weights = np.zeros(n_features)
    weights[:4] = np.cos(angle), np.sin(angle), 0.7 * np.cos(angle), 0.7 * np.sin(angle)
    X = rng.normal(size=(n * n_docs, n_features))
    score = X @ weights + 0.6 * rng.normal(size=len(X))
    y = np.digitize(score, np.quantile(score, [0.6, 0.85])).astype(float)
    return RankingDataset.from_arrays(X, y, np.repeat(np.arange(n), n_docs))
