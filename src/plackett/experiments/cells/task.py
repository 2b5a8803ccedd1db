"""One cell to compute: everything that the computing process needs to know."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from plackett.data.splits import Fold
from plackett.experiments.cells.cell import Cell
from plackett.experiments.cells.folder import CellFolder
from plackett.experiments.cells.run import run_cell
from plackett.experiments.cells.trials import Notify, Protocol
from plackett.experiments.contestants import Contestant
from plackett.measures.base import Measure


@dataclass(frozen=True)
class CellTask:
    """A ranker in a fold of a dataset; the parts of the fold are named by their digests."""

    dataset: str
    fold: Any
    contestant: Contestant
    protocol: Protocol
    measures: tuple[Measure, ...]
    preset: str | None
    key: str
    parts: dict[str, str | None]
    folder: Path

    @property
    def names(self) -> tuple[str, Any, str]:
        """Dataset, fold and ranker."""
        return self.dataset, self.fold, self.contestant.name

    def run(self, n_jobs: int, notify: Notify, fold: Any = None) -> Cell:
        """Compute the cell and write its files; without ``fold``, the data is opened from the folder."""
        folder = CellFolder(self.folder)
        folder.clear_leftovers(self.key)
        if fold is None:
            fold = Fold(*(folder.open(self.parts[role]) for role in ("train", "valid", "test")))
        names = {"dataset": self.dataset, "fold": self.fold, "ranker": self.contestant.name, "key": self.key}
        cell, ranker = run_cell(self.contestant, fold, self.protocol, names, n_jobs=n_jobs, notify=notify)
        cell = cell.measured(fold.test, list(self.measures), self.preset, self.protocol.random_state)
        cell = replace(cell, model_path=folder.save_model(self.key, ranker))
        folder.write(cell)
        return cell
