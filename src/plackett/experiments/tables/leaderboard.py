"""The leaderboard of an experiment: means, confidence intervals, and what is significantly worse than the best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett.evaluation.compare_evaluations import compare_evaluations
from plackett.evaluation.evaluate import Evaluation
from plackett.evaluation.significance.intervals import confidence_interval
from plackett.measures.base import Measure

if TYPE_CHECKING:
    import polars as pl

    from plackett.experiments.cells.finished import Finished

_COLUMNS = (
    "dataset", "ranker", "measure", "mean_over_folds", "mean_over_queries", "low", "high", "best", "p", "p_corrected",
    "significantly_worse", "validation", "chosen", "n_queries", "n_folds", "search_seconds", "train_seconds",
    "score_seconds",
)  # fmt: skip
_FIGURES = (
    "mean_over_folds", "mean_over_queries", "low", "high", "p", "p_corrected", "validation", "search_seconds",
    "train_seconds", "score_seconds",
)  # fmt: skip


def leaderboard(finished: Finished) -> pl.DataFrame:
    """One row per dataset, ranker and measure; see `plackett.experiments.tables.frames.Frames.leaderboard`."""
    import polars as pl

    rows = [row for dataset in finished.datasets for row in _dataset(finished, dataset)]
    # a full schema, so that an empty leaderboard has its columns too
    names, figures = dict.fromkeys(("dataset", "ranker", "measure"), pl.String), dict.fromkeys(_FIGURES, pl.Float64)
    marks = dict.fromkeys(("best", "significantly_worse", "chosen"), pl.Boolean)
    kinds = names | figures | marks | {"n_queries": pl.Int64, "n_folds": pl.Int64}
    return pl.DataFrame(rows, schema={name: kinds[name] for name in _COLUMNS})


def _dataset(finished: Finished, dataset: str) -> list[dict[str, Any]]:
    rankers = finished.complete(dataset)
    evaluations = {name: finished.evaluation(dataset, name) for name in rankers}
    best_by_validation = finished.chosen(dataset)
    rows: list[dict[str, Any]] = []
    for number, (name, measure) in enumerate(finished.measures.items()):
        values = {ranker: evaluations[ranker].values[name] for ranker in rankers}
        statistics = _statistics(name, measure, values, finished.protocol["random_state"])
        for ranker in rankers:
            cells = finished.of(dataset, ranker)
            rows.append(
                {
                    "dataset": dataset,
                    "ranker": ranker,
                    "measure": name,
                    "mean_over_folds": float(np.mean([measure.mean(cell.values[name]) for cell in cells])),
                    "mean_over_queries": measure.mean(values[ranker]),
                }
                | statistics[ranker]
                | {
                    "validation": finished.validation(dataset, ranker),
                    "chosen": ranker == best_by_validation,
                    "n_queries": int(values[ranker].size),
                    "n_folds": len(cells),
                    "search_seconds": sum(cell.seconds["search"] for cell in cells),
                    "train_seconds": sum(cell.seconds["train"] for cell in cells),
                    "score_seconds": sum(cell.seconds["score"] for cell in cells),
                }
            )
        if number == 0:  # the first measure determines the order for all
            worth = measure.worth
            rows.sort(key=lambda row: -worth(row["mean_over_folds"]))
            rankers = [row["ranker"] for row in rows]
    return rows


def _statistics(
    name: str,
    measure: Measure,
    values: dict[str, np.ndarray],
    random_state: int,
) -> dict[str, dict[str, Any]]:
    """Interval of each mean over queries, and the test against the best mean; None if a measure has neither."""
    empty = {"low": None, "high": None, "best": False, "p": None, "p_corrected": None, "significantly_worse": None}
    kept = ~np.isnan(np.column_stack(list(values.values()))).any(axis=1) if values else np.zeros(0, bool)
    if type(measure).mean is not Measure.mean or not kept.any():
        return dict.fromkeys(values, empty)
    means = {ranker: float(column[kept].mean()) for ranker, column in values.items()}
    best = (max if measure.ascending else min)(means, key=lambda ranker: means[ranker])
    if len(values) == 1:
        interval = confidence_interval(values[best][kept], random_state=random_state)
        low, high = np.clip(interval, *measure.bounds).tolist()
        return {best: empty | {"low": low, "high": high, "best": True}}
    queries = np.arange(kept.size)
    systems = {ranker: Evaluation({name: measure}, queries, {name: column}) for ranker, column in values.items()}
    compared = compare_evaluations(systems, test="fisher", correction="holm", baseline=best, random_state=random_state)
    out = {
        row["system"]: empty | {"low": row["low"], "high": row["high"], "best": row["best"]}
        for row in compared.table.iter_rows(named=True)
    }
    for row in compared.pairs.iter_rows(named=True):
        out[row["a"]] |= {
            "p": row["p"],
            "p_corrected": row["p_corrected"],
            "significantly_worse": row["better"] == best,
        }
    return out
