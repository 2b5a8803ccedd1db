"""The frames of an experiment, one function each; the leaderboard has a file of its own.

A frame always has the same columns; if no cell is finished, it has no rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett.experiments.cells.cell import Cell

if TYPE_CHECKING:
    import polars as pl

    from plackett.experiments.result import Experiment

_SECONDS = ("search", "train", "score")
_PARTS = ("train", "valid", "test")


def per_query(experiment: Experiment) -> pl.DataFrame:
    """One row per cell and tested query; see `Experiment.per_query`."""
    import polars as pl

    frames = [
        cell.evaluation.per_query.select(
            pl.lit(cell.dataset).alias("dataset"),
            pl.lit(cell.fold).cast(pl.String).alias("fold"),
            pl.lit(cell.ranker).alias("ranker"),
            pl.col("qid").cast(pl.String),
            *experiment.measures,
        )
        for cell in experiment.cells
    ]
    columns = {"dataset": pl.String, "fold": pl.String, "ranker": pl.String, "qid": pl.String}
    return pl.concat([pl.DataFrame(schema=columns | dict.fromkeys(experiment.measures, pl.Float64)), *frames])


def trials(experiment: Experiment) -> pl.DataFrame:
    """One row per trial; see `Experiment.trials`."""
    import polars as pl

    rows = [
        _names(cell)
        | {"trial": number, "setting": _setting_text(trial.setting)}
        | {name: getattr(trial, name) for name in ("validation", "seconds", "share", "selected", "error")}
        for cell in experiment.cells
        for number, trial in enumerate(cell.trials, 1)
    ]
    figures = {"validation": pl.Float64, "seconds": pl.Float64, "share": pl.Float64}
    return _frame(
        rows, {"trial": pl.Int64, "setting": pl.String} | figures | {"selected": pl.Boolean, "error": pl.String}
    )


def selection(experiment: Experiment) -> pl.DataFrame:
    """One row per cell, with what was chosen; see `Experiment.selection`."""
    import polars as pl

    rows = [_names(cell) | {"setting": _setting_text(cell.setting)} | cell.chosen_by for cell in experiment.cells]
    return _frame(rows, {"setting": pl.String} | dict.fromkeys(_PARTS, pl.Float64))


def curves(experiment: Experiment) -> pl.DataFrame:
    """One row per cell and round of training; see `Experiment.curves`."""
    import polars as pl

    frames = [
        pl.DataFrame(_names(cell) | {"round": np.arange(1, cell.history.size + 1), "value": cell.history})
        for cell in experiment.cells
        if cell.history.size
    ]
    return pl.concat([_frame([], {"round": pl.Int64, "value": pl.Float64}), *frames])


def times(experiment: Experiment) -> pl.DataFrame:
    """One row per cell, with its seconds; see `Experiment.times`."""
    import polars as pl

    rows = [_names(cell) | cell.seconds for cell in experiment.cells]
    return _frame(rows, dict.fromkeys(_SECONDS, pl.Float64))


def _names(cell: Cell) -> dict[str, Any]:
    return {"dataset": cell.dataset, "fold": str(cell.fold), "ranker": cell.ranker}


def _frame(rows: list[dict[str, Any]], columns: Mapping[str, Any]) -> pl.DataFrame:
    """A frame of these columns, preceded by those that identify the cell."""
    import polars as pl

    return pl.DataFrame(rows, schema={"dataset": pl.String, "fold": pl.String, "ranker": pl.String} | dict(columns))


def _setting_text(setting: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in setting.items())
