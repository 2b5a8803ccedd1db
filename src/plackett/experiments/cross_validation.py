"""The result of cross-validation, per fold and per query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.cached import cached_property
from plackett.evaluation.evaluate import Evaluation
from plackett.evaluation.tables import Renderable, Table
from plackett.measures.base import Measure

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Trial:
    """One ranker trained in one fold with one setting."""

    fold: Any
    setting: dict[str, Any]
    validation: float | None
    seconds: float

    @property
    def label(self) -> str:
        """The setting as text."""
        return ", ".join(f"{name}={value!r}" for name, value in self.setting.items())


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(Renderable):
    """Result of `cross_validate`. `compare_evaluations` takes several of them.

    Attributes
    ----------
    evaluations
        The test result of each fold.
    chosen
        The trial of each fold whose setting was selected.
    tried
        All trials.
    select
        Name of the measure used to select settings.
    rankers
        The selected ranker of each fold, with ``keep_rankers``; otherwise None.
    """

    evaluations: list[Evaluation]
    chosen: list[Trial]
    tried: list[Trial]
    select: str
    rankers: list[Any] | None = None

    @property
    def measures(self) -> dict[str, Measure]:
        """The measures by name."""
        return self.evaluations[0].measures

    @cached_property
    def qids(self) -> np.ndarray:
        """The tested queries, fold after fold."""
        return np.concatenate([evaluation.qids for evaluation in self.evaluations])

    @cached_property
    def values(self) -> dict[str, np.ndarray]:
        """For each measure, one number per tested query, fold after fold."""
        return {name: np.concatenate([e.values[name] for e in self.evaluations]) for name in self.measures}

    @cached_property
    def mean(self) -> dict[str, float]:
        """Mean over folds of each fold's mean, as in the LETOR tables; folds of any size count the same."""
        return {name: float(np.mean([e.mean[name] for e in self.evaluations])) for name in self.measures}

    @cached_property
    def mean_over_queries(self) -> dict[str, float]:
        """Mean over all tested queries; every query counts the same."""
        return {name: measure.mean(self.values[name]) for name, measure in self.measures.items()}

    @property
    def best_settings(self) -> list[dict[str, Any]]:
        """The setting selected in each fold."""
        return [trial.setting for trial in self.chosen]

    @cached_property
    def folds(self) -> pl.DataFrame:
        """One row per fold: the selected setting, its validation value, the test means, seconds of training."""
        import polars as pl

        means = {name: [e.mean[name] for e in self.evaluations] for name in self.measures}
        return pl.DataFrame(
            self._columns(self.chosen) | means | {"seconds": [trial.seconds for trial in self.chosen]},
            schema_overrides={"validation": pl.Float64},
        )

    @cached_property
    def trials(self) -> pl.DataFrame:
        """One row per fold and setting: validation value, seconds of training, whether it was selected."""
        import polars as pl

        rest = {"seconds": [trial.seconds for trial in self.tried], "selected": [t in self.chosen for t in self.tried]}
        return pl.DataFrame(self._columns(self.tried) | rest, schema_overrides={"validation": pl.Float64})

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """One row per tested query: ``fold``, ``qid`` and a column per measure."""
        import polars as pl

        frames = [
            e.per_query.select(pl.lit(trial.fold).alias("fold"), pl.all())
            for trial, e in zip(self.chosen, self.evaluations, strict=True)
        ]
        return pl.concat(frames)

    @staticmethod
    def _columns(trials: list[Trial]) -> dict[str, list[Any]]:
        return {
            "fold": [trial.fold for trial in trials],
            "setting": [trial.label for trial in trials],
            "validation": [trial.validation for trial in trials],
        }

    def __repr__(self) -> str:
        means = ", ".join(f"{name}={value:.4f}" for name, value in self.mean.items())
        return f"CrossValidation({len(self.evaluations)} folds: {means})"

    # ------------------------------------------------------------------------------------------------------- render

    def _layout(self, *, digits: int = 4) -> Table:  # type: ignore[override]
        rows = [
            (str(trial.fold), trial.label, *(f"{e.mean[name]:.{digits}f}" for name in self.measures))
            for trial, e in zip(self.chosen, self.evaluations, strict=True)
        ]
        rows.append(("mean", "", *(f"{self.mean[name]:.{digits}f}" for name in self.measures)))
        notes = (
            () if len(self.tried) == len(self.chosen) else (f"Settings selected by {self.select} on validation data.",)
        )
        return Table.of(("fold", "setting", *self.measures), rows, notes=notes, n_names=2)

    def _frame(self) -> pl.DataFrame:
        return self.folds

    def _record(self) -> dict[str, Any]:
        return {
            "mean": self.mean,
            "mean_over_queries": self.mean_over_queries,
            "select": self.select,
            "folds": self.folds.to_dicts(),
            "trials": self.trials.to_dicts(),
            "per_query": self.per_query.to_dicts(),
        }
