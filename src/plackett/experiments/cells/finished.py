"""The finished cells of an experiment, which ranker is best by its validation data, and how rankers compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plackett._base.arguments import choice
from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett.evaluation.compare_evaluations import compare_evaluations
from plackett.evaluation.comparison import Comparison
from plackett.evaluation.evaluate import Evaluation
from plackett.evaluation.friedman import FriedmanTest, Nemenyi, friedman, mean_ranks, nemenyi
from plackett.evaluation.winning_number import winning_number
from plackett.experiments.cells.cell import Cell, Failure
from plackett.measures.base import Measure
from plackett.measures.language import parse


@dataclass(frozen=True, eq=False, repr=False)
class Finished:
    """Cells by dataset, ranker and fold; `plackett.experiments.result.Experiment` says what the fields are."""

    cells: tuple[Cell, ...]
    failures: tuple[Failure, ...]
    folds: Mapping[str, Mapping[Any, Any]]
    rankers: dict[str, dict[str, Any]]
    measures: dict[str, Measure]
    select: str
    preset: str | None
    protocol: dict[str, Any]
    versions: dict[str, str]
    folder: Path
    _owner: Any = None  # keeps a temporary folder alive

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the datasets."""
        return tuple(self.folds)

    @cached_property
    def _by_names(self) -> dict[tuple[str, str, Any], Cell]:
        return {(cell.dataset, cell.ranker, cell.fold): cell for cell in self.cells}

    def cell(self, ranker: str, fold: Any, dataset: str | None = None) -> Cell:
        """The cell of a ranker in a fold."""
        names = self._dataset(dataset), ranker, fold
        if names not in self._by_names:
            raise DataError(f"no finished cell of {ranker!r} in fold {fold!r} of {names[0]!r}")
        return self._by_names[names]

    def of(self, dataset: str, ranker: str) -> list[Cell]:
        """The finished cells of a ranker on a dataset, in the order of the folds."""
        wanted = ((dataset, ranker, fold) for fold in self.folds[dataset])
        return [self._by_names[names] for names in wanted if names in self._by_names]

    def complete(self, dataset: str) -> list[str]:
        """The rankers that are finished in every fold of a dataset."""
        return [ranker for ranker in self.rankers if len(self.of(dataset, ranker)) == len(self.folds[dataset])]

    def evaluation(self, dataset: str, ranker: str) -> Evaluation:
        """Values of a ranker on all tested queries of a dataset, fold after fold."""
        cells = self.of(dataset, ranker)
        if not cells:
            raise DataError(f"no finished cell of {ranker!r} on {dataset!r}")
        values = {name: np.concatenate([cell.values[name] for cell in cells]) for name in self.measures}
        return Evaluation(self.measures, np.concatenate([cell.qids for cell in cells]), values)

    def validation(self, dataset: str, ranker: str) -> float | None:
        """Mean over folds of the selecting measure on the validation parts; None if there are none."""
        values = [cell.validation for cell in self.of(dataset, ranker)]
        return None if not values or None in values else float(np.mean(values))  # type: ignore[arg-type]

    def best(self, dataset: str | None = None) -> str:
        """The ranker with the best mean of the selecting measure on the validation parts, the first one if tied.

        Test figures are not used, so the test figure of the chosen ranker is unbiased. Without validation parts there
        is nothing to choose by, which is an error unless there is only one ranker.
        """
        dataset = self._dataset(dataset)
        complete = self.complete(dataset)
        if not complete:
            raise DataError(f"no ranker is finished in every fold of {dataset!r}")
        select = parse(self.select)
        worth = {}
        for ranker in complete:
            value = self.validation(dataset, ranker)
            worth[ranker] = -np.inf if value is None or np.isnan(value) else select.worth(value)
        best = max(complete, key=lambda ranker: worth[ranker])
        if worth[best] == -np.inf and len(complete) > 1:
            raise DataError(f"{dataset!r} has no validation values to choose by")
        return best

    def chosen(self, dataset: str) -> str | None:
        """The same as `best`, but None if there is nothing to choose by."""
        try:
            return self.best(dataset)
        except DataError:
            return None

    def _dataset(self, dataset: str | None) -> str:
        if dataset is None and len(self.folds) == 1:
            return next(iter(self.folds))
        choice("dataset", dataset, self.folds)
        return str(dataset)

    # -------------------------------------------------------------------------------------------------- comparisons

    def comparison(self, dataset: str | None = None, **options: Any) -> Comparison:
        """Compare all pairs of rankers on a dataset with `compare`; ``options`` are passed on to it."""
        dataset = self._dataset(dataset)
        evaluations = {ranker: self.evaluation(dataset, ranker) for ranker in self.complete(dataset)}
        queries = np.concatenate([[f"{fold}/{q}" for q in c.qids.tolist()] for fold, c in self._tested(dataset)])
        plain = [name for name, measure in self.measures.items() if type(measure).mean is Measure.mean]
        systems = {
            ranker: Evaluation({n: self.measures[n] for n in plain}, queries, {n: evaluation.values[n] for n in plain})
            for ranker, evaluation in evaluations.items()
        }
        return compare_evaluations(systems, **({"random_state": self.protocol["random_state"]} | options))

    def _tested(self, dataset: str) -> list[tuple[Any, Cell]]:
        """A cell of each fold: all rankers were tested on the same queries."""
        complete = self.complete(dataset)
        if not complete:
            raise DataError(f"no ranker is finished in every fold of {dataset!r}")
        return [(cell.fold, cell) for cell in self.of(dataset, complete[0])]

    def results(self, measure: str | None = None) -> dict[str, dict[str, float]]:
        """Mean over folds by dataset and ranker, for `winning_number` and similar functions."""
        name = next(iter(self.measures)) if measure is None else measure
        choice("measure", name, self.measures)
        mean = self.measures[name].mean
        return {
            dataset: {
                ranker: float(np.mean([mean(cell.values[name]) for cell in self.of(dataset, ranker)]))
                for ranker in self.complete(dataset)
            }
            for dataset in self.datasets
        }

    def _ascending(self, measure: str | None) -> bool:
        return self.measures[next(iter(self.measures)) if measure is None else measure].ascending

    def winning_numbers(self, measure: str | None = None) -> dict[str, int]:
        """How many other rankers each ranker beats, summed over datasets (`plackett.winning_number`)."""
        return winning_number(self.results(measure), ascending=self._ascending(measure))

    def mean_ranks(self, measure: str | None = None) -> dict[str, float]:
        """Mean over datasets of each ranker's rank, 1 being best."""
        return mean_ranks(self.results(measure), ascending=self._ascending(measure))

    def friedman(self, measure: str | None = None) -> FriedmanTest:
        """Friedman's test over datasets: do all rankers have the same mean rank?"""
        return friedman(self.results(measure), ascending=self._ascending(measure))

    def critical_difference(self, measure: str | None = None, *, alpha: float = 0.05) -> Nemenyi:
        """Mean ranks over datasets, and how far apart they must be to differ (Nemenyi)."""
        return nemenyi(self.results(measure), alpha=alpha, ascending=self._ascending(measure))
