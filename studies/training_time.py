"""How training time grows with the length of the lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from plackett.datasets.generate import make_ranking
from studies.base import Study


def training_time(
    rankers: Mapping[str, Any] | None = None,
    *,
    lengths: Sequence[int] = (100, 200, 400, 800, 1600),
    n_queries: int = 20,
    n_features: int = 20,
    n_repeats: int = 3,
    random_state: int = 0,
) -> Study:
    """With which power of the list length does training time grow?

    Every ranker is trained on synthetic data with longer and longer lists, once to compile and then ``n_repeats``
    times, of which the fastest counts. The exponent is the slope of the logarithms: 1 is linear, 2 means visiting every
    pair. The number of iterations may change with the data; rankers with a fixed number show the cost of one.

    Parameters
    ----------
    rankers
        Estimators by name; None uses one of each kind.
    lengths, n_queries, n_features
        Size of the data.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, exercise 11.4.
    """
    import polars as pl

    data = {n: make_ranking(n_queries, n, n_features, random_state=random_state) for n in lengths}
    rows = []
    for name, ranker in (rankers or _rankers(random_state)).items():
        ranker.fit(data[lengths[0]])
        seconds = [min(_seconds(ranker, data[n]) for _ in range(n_repeats)) for n in lengths]
        slope = float(np.polyfit(np.log(lengths), np.log(seconds), 1)[0])
        times = {f"n = {n}": second for n, second in zip(lengths, seconds, strict=True)}
        rows.append({"ranker": name} | times | {"exponent": slope})
    return Study(
        pl.DataFrame(rows),
        f"Seconds to train on {n_queries} lists of n documents with {n_features} features",
        ("One thread; the fastest of the repeats.",),
    )


def _seconds(ranker: Any, data: Any) -> float:
    start = perf_counter()
    ranker.fit(data)
    return perf_counter() - start


def _rankers(random_state: int) -> dict[str, Any]:
    from plackett.rankers.gradient_ranker import GradientRanker
    from plackett.rankers.listwise.adarank import AdaRank
    from plackett.rankers.listwise.approx_ndcg import ApproxNDCG
    from plackett.rankers.listwise.listmle import ListMLE
    from plackett.rankers.listwise.listnet import ListNet
    from plackett.rankers.listwise.svm_map import SVMMAP
    from plackett.rankers.pairwise.lambdamart import LambdaMART
    from plackett.rankers.pairwise.rank_boost import RankBoost
    from plackett.rankers.pairwise.rank_svm import RankSVM
    from plackett.rankers.pointwise.linear_regression import LinearRegression

    fixed: dict[str, Any] = {"max_iter": 20, "tol": 0.0, "n_jobs": 1}
    return {
        "LinearRegression": LinearRegression(**fixed),
        "RankSVM": RankSVM(n_jobs=1),
        "RankBoost, 20 rounds": RankBoost(n_estimators=20, n_jobs=1),
        "logistic pairs, 20 iterations": GradientRanker(loss="Logistic", model=_linear(fixed), n_jobs=1),
        "ListNet, 20 iterations": ListNet(**fixed),
        "ListMLE, 20 iterations": ListMLE(**fixed),
        "ApproxNDCG, 20 iterations": ApproxNDCG(**fixed),
        "AdaRank, 20 rounds": AdaRank(n_estimators=20, n_jobs=1, random_state=random_state),
        "SVMMAP": SVMMAP(n_jobs=1),
        "LambdaMART, 20 trees": LambdaMART(n_estimators=20, n_jobs=1, random_state=random_state),
    }


def _linear(parameters: dict[str, Any]) -> Any:
    from plackett.models.linear import Linear

    return Linear(**parameters)
