"""The three approaches side by side, with the same model and the same tuning effort."""

from __future__ import annotations

from typing import Any

from plackett.datasets.generate import make_ranking
from plackett.experiments.experiment import experiment
from studies.base import Study

#: Linear rankers by approach.
APPROACHES = {
    "LinearRegression": "pointwise",
    "LogisticRegression": "pointwise",
    "AllThreshold": "pointwise",
    "RankSVM": "pairwise",
    "IRSVM": "pairwise",
    "MPRank": "pairwise",
    "ListNet": "listwise",
    "ListMLE": "listwise",
    "ApproxNDCG": "listwise",
}


def approach_comparison(
    data: Any = None,
    *,
    measure: str = "AP",
    preset: str | None = None,
    n_trials: int = 8,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Study:
    """Are listwise rankers better than pairwise ones, and those better than pointwise ones?

    The book reports this as a trend. Here all rankers are linear, and each tries the same number of settings in each
    fold, chosen on the validation part (`plackett.experiment`). The study reports the mean over folds on each dataset,
    the mean rank over datasets, and the winning number; the notes give the mean rank of each approach.

    Parameters
    ----------
    data
        One or several datasets, in any form that `plackett.experiment` accepts; None generates three.
    measure, preset
        The measure used for selection and reporting, and its rules.
    n_trials
        Number of settings per ranker and fold.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 4.4.
    """
    import polars as pl

    given = _made_up(random_state) if data is None else data
    comparison = experiment(
        given,
        list(APPROACHES),
        [measure],
        select=measure,
        preset=preset,
        n_trials=n_trials,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    values, ranks, wins = comparison.results(), comparison.mean_ranks(), comparison.winning_numbers()
    frame = pl.DataFrame(
        [
            {"approach": approach, "ranker": ranker}
            | {f"{measure}, {dataset}": row.get(ranker) for dataset, row in values.items()}
            | {"mean rank": ranks[ranker], "winning number": wins[ranker]}
            for ranker, approach in APPROACHES.items()
            if ranker in ranks
        ]
    ).sort("mean rank", maintain_order=True)
    by_approach = frame.group_by("approach").agg(pl.col("mean rank").mean()).sort("mean rank", "approach")
    failed = tuple(f"{failure.ranker} failed: {failure.error}" for failure in comparison.failures)
    return Study(
        frame,
        "Pointwise, pairwise and listwise linear rankers, tuned alike",
        (*(f"Mean rank of the {name} rankers: {rank:.2f}" for name, rank in by_approach.iter_rows()), *failed),
    )


def _made_up(random_state: int) -> dict[str, Any]:
    sizes: dict[str, Any] = {"short lists": 8, "long lists": 60, "uneven lists": (4, 60)}
    return {
        name: make_ranking(60, docs, 12, random_state=random_state + i) for i, (name, docs) in enumerate(sizes.items())
    }
