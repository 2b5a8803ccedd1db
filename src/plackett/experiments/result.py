"""The result of an experiment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plackett.evaluation.tables import Renderable, Table
from plackett.experiments.cells.cell import Failure
from plackett.experiments.cells.folder import CellFolder, StoredFold
from plackett.experiments.tables import frames as frames
from plackett.experiments.tables.frames import Frames
from plackett.experiments.tables.leaderboard_text import leaderboard_table
from plackett.experiments.verdict import verdict
from plackett.measures.language import parse
from plackett.measures.presets import with_preset

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Experiment"]

#: What an experiment has from the manifest of its folder.
SHARED = ("rankers", "select", "preset", "protocol", "versions")


@dataclass(frozen=True, eq=False, repr=False)
class Experiment(Frames, Renderable):
    """Result of `experiment`; `Experiment.load` reads it from its folder.

    Attributes
    ----------
    cells
        One per finished dataset, fold and ranker: scores, values per query, trials, learning curve, model.
    failures
        The cells that failed, with their errors.
    folds
        The data: folds with ``train``, ``valid`` and ``test`` by dataset and name.
    rankers
        What each ranker is: class and parameters, by name.
    measures
        The reported measures by name, including the preset's rules.
    select
        The measure used for selection, including its rules.
    preset, protocol, versions
        How the experiment was run.
    folder
        Where it is stored.
    """

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Experiment:
        """Load an experiment from its folder, with the cells that are finished.

        Data is opened on first use.
        """
        store = CellFolder(folder)
        manifest = store.read_manifest()
        cells = []
        for entry in manifest["cells"]:
            cell = store.finished(entry["key"])
            if cell is not None:
                cells.append(replace(cell, **{name: entry[name] for name in ("dataset", "fold", "ranker")}))
        folds: dict[str, dict[Any, Any]] = {}
        for entry in manifest["folds"]:
            folds.setdefault(entry["dataset"], {})[entry["fold"]] = StoredFold(store, entry)
        measures = {name: with_preset(parse(name), manifest["preset"]) for name in manifest["measures"]}
        return cls(
            cells=tuple(cell for cell in cells if set(measures) <= set(cell.values)),
            failures=tuple(Failure(**entry) for entry in manifest["failures"]),
            folds=folds,
            measures=measures,
            folder=store.path,
            **{name: manifest[name] for name in SHARED},
        )

    def headline(self, dataset: str | None = None) -> str:
        """The answer in one line, about the first measure: which ranker is reliably better and by how much, or none."""
        return verdict(self, self._dataset(dataset))

    def report(self, folder: str | PathLike[str], *, title: str | None = None, max_rows: int = 20_000) -> Path:
        """Write ``report.html``, one page that works offline, ``report.md`` and ``report.tex`` into a folder.

        Needs ``pip install 'plackett[report]'``. Parameters as in `plackett.experiments.report.write_report`; returns
        the path of the page.
        """
        from plackett.experiments.report import write_report

        return write_report(self, folder, title=title, max_rows=max_rows)

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return (
            f"Experiment({len(self.datasets)} datasets, {len(self.rankers)} rankers, {len(self.cells)} cells{failed})"
        )

    def _layout(self, *, digits: int = 4) -> Table:  # type: ignore[override]
        return leaderboard_table(self, digits=digits)

    def _frame(self) -> pl.DataFrame:
        return self.leaderboard

    def _record(self) -> dict[str, Any]:
        return {
            "versions": self.versions,
            "measures": {name: str(measure) for name, measure in self.measures.items()},
            "select": self.select,
            "preset": self.preset,
            "protocol": self.protocol,
            "rankers": self.rankers,
            "best": {name: self.chosen(name) for name in self.datasets if self.complete(name)},
            "headline": {name: self.headline(name) for name in self.datasets if self.complete(name)},
            "leaderboard": self.leaderboard.to_dicts(),
            "selection": self.selection.to_dicts(),
            "trials": self.trials.to_dicts(),
            "per_query": self.per_query.to_dicts(),
            "failures": [vars(failure) for failure in self.failures],
        }
