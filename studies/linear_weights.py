"""The weights that different methods give to the same features."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett.datasets.generate import make_ranking
from plackett.evaluation.importance import feature_names, single_feature_importance
from studies.base import Study, named_folds_of, per_query


def linear_weights(data: Any = None, *, n_features: int = 12, random_state: int = 0) -> Study:
    r"""Which features do linear methods use, and how do their weights differ?

    Each method is trained on the training part of the first fold. Its weights are multiplied by the features' standard
    deviations and scaled to length 1, so that they are comparable. Next to them, the table shows how well each feature
    ranks on its own: nDCG@10 with large values first and with small values first. The notes give, for each method,
    nDCG@10 on the test part and the cosine of its weights with those of the others.

    A feature that is the same for all documents of a query cannot help to rank them. Methods that compare documents of
    a query give it no weight; regression uses it to explain the level of a query's labels.

    Parameters
    ----------
    data
        Folds; None generates data with features of all these kinds.
    n_features
        How many features to show: those that rank best on their own.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, exercise 11.2.
    """
    import polars as pl

    given = make_ranking(150, (10, 40), 12, random_state=random_state) if data is None else data
    name, folds = named_folds_of(given)
    fold = next(iter(folds.values()))
    spread = np.asarray(fold.train.X, np.float64).std(axis=0)
    weights, quality = {}, {}
    for method, ranker in _methods(random_state).items():
        ranker.fit(fold.train)
        scaled = ranker.scorer_.weights[:, 0] * spread
        weights[method] = scaled / max(np.linalg.norm(scaled), np.finfo(float).tiny)
        quality[method] = per_query(fold.test, ranker.predict(fold.test), "nDCG@10").mean()
    alone = single_feature_importance(fold.train, "nDCG@10")
    weight_columns = pl.DataFrame({"feature": feature_names(fold.train)} | weights)
    alone = alone.select("feature", pl.col("high_first").alias("alone"), pl.col("low_first").alias("alone, reversed"))
    frame = alone.join(weight_columns, on="feature", how="left", maintain_order="left")
    table = np.array(list(weights.values()))
    cosines = table @ table.T
    notes = [
        f"{method}: nDCG@10 {quality[method]:.4f}; cosine with "
        + ", ".join(f"{other} {cosines[i, j]:.2f}" for j, other in enumerate(weights) if j != i)
        for i, method in enumerate(weights)
    ]
    return Study(frame.head(n_features), f"Weights of linear methods on {name}, scaled to length 1", tuple(notes))


def _methods(random_state: int) -> dict[str, Any]:
    from plackett.rankers.listwise.adarank import AdaRank
    from plackett.rankers.listwise.listmle import ListMLE
    from plackett.rankers.listwise.listnet import ListNet
    from plackett.rankers.listwise.svm_map import SVMMAP
    from plackett.rankers.pairwise.rank_svm import RankSVM
    from plackett.rankers.pointwise.linear_regression import LinearRegression

    return {
        "LinearRegression": LinearRegression(alpha=1e-2),
        "RankSVM": RankSVM(C=0.01),
        "ListNet": ListNet(alpha=1e-2),
        "ListMLE": ListMLE(alpha=1e-2),
        "AdaRank": AdaRank(random_state=random_state),
        "SVMMAP": SVMMAP(C=1.0),
    }
