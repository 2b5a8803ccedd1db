"""Queries on which two rankers differ most, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from plackett import DataError
from plackett.datasets.generate import make_ranking
from plackett.evaluation.significance.effects import TOLERANCE, win_tie_loss
from plackett.experiments.experiment import experiment
from plackett.experiments.result import Experiment
from studies._case import Case
from studies.base import Study


def case_studies(
    data: Any = None,
    *,
    rankers: Mapping[str, Any] | Iterable[Any] = ("ListNet", "LinearRegression"),
    measure: str = "AP",
    preset: str | None = None,
    n_cases: int = 1,
    n_trials: int = 4,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Study:
    """On which queries do two rankers differ most, and why do they order them differently?

    Both are tuned and tested by `plackett.experiment`. The cases are the test queries on which the first ranker wins
    and loses by most. Each case has two tables. The first shows both rankings side by side. The second explains one
    pair of documents: the relevant one that the winner moves up most (by the reciprocal of its position), and the
    first less relevant one in the loser's list that the winner ranks below it. For each feature, it shows the values of
    both documents, the feature's contribution to the difference of their scores in each ranker (`plackett.explain`; in
    standard deviations of the ranker's scores in this list, so that rankers are comparable; positive values favour the
    relevant document), and how well the feature alone ranks this list, compared with its mean over the test part. A
    feature that is good on average but bad here misleads the ranker that relies on it.

    The last table shows whether the cases are typical: means on queries with short and long lists, with few and many
    relevant documents.

    Parameters
    ----------
    data
        One dataset, in any form that `plackett.experiment` accepts; None generates one.
    rankers
        Two rankers, in any form that `plackett.experiment` accepts. The default is the best and the worst of the book's
        tables by winning number.
    measure, preset
        The measure used for selection and comparison, and its rules.
    n_cases
        Number of queries on either side.
    n_trials
        Number of settings per ranker and fold.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, exercise 11.3.
    """
    import polars as pl

    given = make_ranking(150, (10, 40), 12, random_state=random_state) if data is None else data
    entries = dict(rankers) if isinstance(rankers, Mapping) else list(rankers)
    if len(entries) != 2:
        raise DataError(f"a case study is of two rankers, got {len(entries)}")
    settings: dict[str, Any] = {"preset": preset, "n_trials": n_trials, "random_state": random_state, "n_jobs": n_jobs}
    result = experiment(given, entries, [measure], select=measure, **settings)
    if len(result.datasets) != 1:
        raise DataError(f"this study takes one dataset, got {', '.join(result.datasets)}")
    if result.failures:
        raise DataError(f"{result.failures[0].ranker} failed: {result.failures[0].error}")
    queries = _queries(result)
    cases = [Case(result, queries.row(i, named=True)) for i in _extremes(queries["difference"].to_numpy(), n_cases)]
    a, b = result.rankers
    rows = [{"query": str(case.qid), **{k: case.row[k] for k in queries.columns[2:]}} for case in cases]
    wins, _, losses = win_tie_loss(queries["difference"], np.zeros(queries.height))
    note = f"{a} is better on {wins} of {queries.height} queries, worse on {losses}."
    name = next(iter(result.measures))
    return Study(
        pl.DataFrame(rows, schema={"query": pl.String} | dict(list(queries.schema.items())[2:])),
        f"Queries of {result.datasets[0]} that {a} wins and loses by most against {b}, by {name}",
        (note,),
        (*(part for case in cases for part in case.parts()), _kinds(queries, a, b)),
    )


def _queries(result: Experiment) -> Any:
    """One row per test query: its fold and list, the values of both rankers and their difference."""
    import polars as pl

    (dataset,), (a, b) = result.datasets, result.rankers
    ((name, measure),) = result.measures.items()
    frames = []
    for one, other in zip(result.of(dataset, a), result.of(dataset, b), strict=True):
        test = result.folds[dataset][one.fold].test
        values = [cell.values[name] for cell in (one, other)]
        frames.append(
            pl.DataFrame(
                {
                    "number": np.arange(test.n_queries),
                    "fold_key": one.fold,
                    "fold": str(one.fold),
                    "documents": test.group.astype(np.int64),
                    "relevant": np.add.reduceat(test.labels > 0, test.offsets[:-1]).astype(np.int64),
                    a: values[0],
                    b: values[1],
                    "difference": measure.worth(np.nan_to_num(values[0] - values[1])),
                }
            )
        )
    return pl.concat(frames)


def _extremes(difference: np.ndarray, n: int) -> list[int]:
    """The queries won and lost by most, excluding those without a difference."""
    order = np.argsort(-difference, kind="stable")
    won = (i for i in order[:n] if difference[i] > TOLERANCE)
    return [*won, *(i for i in order[::-1][:n][::-1] if difference[i] < -TOLERANCE)]


def _kinds(queries: Any, a: str, b: str) -> Study:
    import polars as pl

    rows = []
    for column, below, above in (
        ("documents", "short lists", "long lists"),
        ("relevant", "few relevant documents", "many relevant documents"),
    ):
        middle = int(queries[column].median())
        for kind, part in (
            (f"{below} (up to {middle})", queries.filter(pl.col(column) <= middle)),
            (f"{above} (over {middle})", queries.filter(pl.col(column) > middle)),
        ):
            means = {name: part[name].fill_nan(None).mean() for name in (a, b, "difference")}
            rows.append({"queries with": kind, "number": part.height, **means})
    return Study(pl.DataFrame(rows, schema_overrides={a: pl.Float64, b: pl.Float64}), "Are the cases typical?")
