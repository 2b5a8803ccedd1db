"""How rankers compare as nDCG@k looks further down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plackett.datasets.generate import make_ranking
from plackett.experiments.experiment import experiment
from studies.base import Study

RANKERS = ("LinearRegression", "RankSVM", "RankBoost", "ListNet", "AdaRank", "LambdaMART")


def cutoffs(
    data: Any = None,
    *,
    rankers: Any = RANKERS,
    cuts: Sequence[int] = (1, 2, 3, 5, 10, 20),
    preset: str | None = None,
    n_trials: int = 4,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Study:
    """Does the order of the rankers change with k in nDCG@k?

    Rankers are tuned with the same budget, selected by nDCG@10 on the validation parts, and measured at each k on the
    test parts (means over folds). The last row is the rank correlation (Kendall's τ) between the order of the rankers
    at k and at the last k.

    Parameters
    ----------
    data
        One dataset, in any form that `plackett.experiment` accepts; None generates one.
    rankers
        As in `plackett.experiment`.
    cuts
        The values of k.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, exercise 11.6.
    """
    import polars as pl
    from scipy.stats import kendalltau

    given = make_ranking(80, (20, 40), 12, random_state=random_state) if data is None else data
    measures = [f"nDCG@{k}" for k in cuts]
    settings: dict[str, Any] = {"preset": preset, "n_trials": n_trials, "random_state": random_state, "n_jobs": n_jobs}
    entries = rankers if isinstance(rankers, dict) else list(rankers)
    comparison = experiment(given, entries, measures, select="nDCG@10", **settings)
    (dataset,) = comparison.datasets
    columns = {name: comparison.results(name)[dataset] for name in measures}
    names = list(columns[measures[0]])
    values = np.array([[columns[m][name] for m in measures] for name in names])
    order = np.argsort(-values[:, -1], kind="stable")
    rows = [{"ranker": names[i]} | dict(zip(measures, values[i].tolist(), strict=True)) for i in order]
    tau = [float(kendalltau(column, values[:, -1])[0]) for column in values.T]
    rows.append({"ranker": f"τ with {measures[-1]}"} | dict(zip(measures, tau, strict=True)))
    return Study(pl.DataFrame(rows), f"nDCG@k of rankers on {dataset}, k growing")
