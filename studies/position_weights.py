"""Weights of positions in ListMLE and ListNet."""

from __future__ import annotations

from typing import Any

from plackett.datasets.generate import make_ranking
from plackett.experiments.experiment import experiment
from studies.base import Study


def position_weights(
    data: Any = None,
    *,
    preset: str | None = None,
    n_trials: int = 4,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Study:
    """Do weights of positions make ListMLE and ListNet better at the top of the list?

    ListMLE is a sum of one loss per position, which can be weighted by a discount or cut off after k positions. ListNet
    looks only at the first position, and its top-k form at the first k, weighted or not. All are linear models, the
    penalty is chosen by nDCG@5 on the validation parts, and the figures are means over folds on the test parts.

    Parameters
    ----------
    data
        One or several datasets, in any form that `plackett.experiment` accepts; None generates one.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, exercise 4.7.
    """
    import polars as pl

    given = make_ranking(60, (10, 30), 12, random_state=random_state) if data is None else data
    measures = ["nDCG@1", "nDCG@5", "nDCG@10", "AP"]
    settings: dict[str, Any] = {"preset": preset, "n_trials": n_trials, "random_state": random_state, "n_jobs": n_jobs}
    comparison = experiment(given, _variants(), measures, select="nDCG@5", **settings)
    values = {measure: comparison.results(measure) for measure in measures}
    rows = [
        {"dataset": dataset, "ranker": ranker} | {m: values[m][dataset][ranker] for m in measures}
        for dataset in comparison.datasets
        for ranker in comparison.complete(dataset)
    ]
    failed = tuple(f"{failure.ranker} failed: {failure.error}" for failure in comparison.failures)
    return Study(pl.DataFrame(rows), "ListMLE and ListNet with weights of positions", failed)


def _variants() -> dict[str, Any]:
    from plackett.rankers.listwise.listmle import ListMLE
    from plackett.rankers.listwise.listnet import ListNet
    from plackett.rankers.listwise.listnet_top_k import ListNetTopK

    return {
        "ListMLE": ListMLE(),
        "ListMLE, 1/log2": ListMLE(discount="log2"),
        "ListMLE, 1/rank": ListMLE(discount="reciprocal"),
        "ListMLE, first 5": ListMLE(k=5),
        "ListMLE, first 1": ListMLE(k=1),
        "ListNet": ListNet(),
        "ListNet, top 3": ListNetTopK(k=3),
        "ListNet, top 3, 1/log2": ListNetTopK(k=3, discount="log2"),
    }
