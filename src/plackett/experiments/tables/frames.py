"""The frames of an experiment.

A frame always has the same columns; if no cell is finished, it has no rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.cached import cached_property
from plackett.experiments.cells.cell import Cell
from plackett.experiments.cells.finished import Finished
from plackett.experiments.tables.leaderboard import leaderboard

if TYPE_CHECKING:
    import polars as pl

_SECONDS = ("search", "train", "score")
_PARTS = ("train", "valid", "test")


class Frames(Finished):
    """What the finished cells hold, one frame for each kind of figure."""

    @cached_property
    def leaderboard(self) -> pl.DataFrame:
        """One row per dataset, ranker and measure, rankers in the order of the first measure.

        ``mean_over_folds`` (the mean of the folds' means, LETOR's figure) and ``mean_over_queries``; ``low`` and
        ``high`` bound the latter (95 %, over queries); ``best`` marks the best of the measure, and ``p``,
        ``p_corrected`` (Fisher's randomisation test against the best, Holm's correction) and
        ``significantly_worse`` compare the others with it. ``validation`` is the mean over folds of the selecting
        measure, and ``chosen`` marks the ranker that is best by it. Times are sums over folds. Rankers that failed in a
        fold are left out.
        """
        return leaderboard(self)

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """One row per dataset, ranker, fold and tested query, with a column per measure; skipped queries are null."""
        import polars as pl

        frames = [
            cell.evaluation.per_query.select(
                pl.lit(cell.dataset).alias("dataset"),
                pl.lit(cell.fold).cast(pl.String).alias("fold"),
                pl.lit(cell.ranker).alias("ranker"),
                pl.col("qid").cast(pl.String),
                *self.measures,
            )
            for cell in self.cells
        ]
        columns = {"dataset": pl.String, "fold": pl.String, "ranker": pl.String, "qid": pl.String}
        return pl.concat([pl.DataFrame(schema=columns | dict.fromkeys(self.measures, pl.Float64)), *frames])

    @cached_property
    def trials(self) -> pl.DataFrame:
        """One row per trial: cell, ``setting``, validation value, seconds, ``share`` of the effort, ``selected``."""
        import polars as pl

        rows = [
            _names(cell)
            | {"trial": number, "setting": _setting_text(trial.setting)}
            | {name: getattr(trial, name) for name in ("validation", "seconds", "share", "selected", "error")}
            for cell in self.cells
            for number, trial in enumerate(cell.trials, 1)
        ]
        figures = {"validation": pl.Float64, "seconds": pl.Float64, "share": pl.Float64}
        return _frame(
            rows, {"trial": pl.Int64, "setting": pl.String} | figures | {"selected": pl.Boolean, "error": pl.String}
        )

    @cached_property
    def selection(self) -> pl.DataFrame:
        """One row per cell: the chosen ``setting``, and the selecting measure on ``train``, ``valid`` and ``test``.

        A training value far above the other two means overfitting to the documents; a validation value far above the
        test value means overfitting by the search.
        """
        import polars as pl

        rows = [_names(cell) | {"setting": _setting_text(cell.setting)} | cell.chosen_by for cell in self.cells]
        return _frame(rows, {"setting": pl.String} | dict.fromkeys(_PARTS, pl.Float64))

    @cached_property
    def curves(self) -> pl.DataFrame:
        """Learning curves: the selecting measure on the validation part after each round, where rankers have rounds."""
        import polars as pl

        frames = [
            pl.DataFrame(_names(cell) | {"round": np.arange(1, cell.history.size + 1), "value": cell.history})
            for cell in self.cells
            if cell.history.size
        ]
        return pl.concat([_frame([], {"round": pl.Int64, "value": pl.Float64}), *frames])

    @cached_property
    def times(self) -> pl.DataFrame:
        """Seconds of each cell: ``search``, ``train`` and ``score``."""
        import polars as pl

        rows = [_names(cell) | cell.seconds for cell in self.cells]
        return _frame(rows, dict.fromkeys(_SECONDS, pl.Float64))


def _names(cell: Cell) -> dict[str, Any]:
    return {"dataset": cell.dataset, "fold": str(cell.fold), "ranker": cell.ranker}


def _frame(rows: list[dict[str, Any]], columns: Mapping[str, Any]) -> pl.DataFrame:
    """A frame of these columns, preceded by those that identify the cell."""
    import polars as pl

    return pl.DataFrame(rows, schema={"dataset": pl.String, "fold": pl.String, "ranker": pl.String} | dict(columns))


def _setting_text(setting: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in setting.items())
