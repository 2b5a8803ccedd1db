"""The cells of an experiment: finished ones are loaded, the others computed, here or in other processes."""

from __future__ import annotations

import traceback
from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from typing import Any

from plackett.experiments.cells.cell import Cell, Failure
from plackett.experiments.cells.cluster import run_on_cluster
from plackett.experiments.cells.folder import CellFolder, StoredFold
from plackett.experiments.cells.task import CellTask
from plackett.experiments.cells.workers import run_in_processes
from plackett.experiments.data import Folds
from plackett.experiments.live import Board


class CellQueue:
    """Cells by key, computed or loaded; the same cell under two names is computed once."""

    def __init__(
        self,
        tasks: list[CellTask],
        splits: Folds,
        folder: CellFolder,
        threads: int,
        *,
        keep_data: bool,
        cluster: Any = None,
    ) -> None:
        self.tasks = tasks
        self.splits = splits
        self.folder = folder
        self.threads = threads
        self.keep_data = keep_data
        self.cluster = cluster
        self.cells: dict[str, Cell] = {}
        self.computed: set[str] = set()
        self.failures: list[Failure] = []

    def run(self, board: Board) -> None:
        """Load finished cells and compute the rest."""
        todo: dict[str, CellTask] = {}
        for task in self.tasks:
            cell = self.cells.get(task.key) or self.folder.finished(task.key)
            if cell is not None:
                self.cells[task.key] = cell
                board.note(task.names, "kept", cell.validation, len(cell.trials))
            else:
                todo.setdefault(task.key, task)
        workers = min(self.threads, len(todo))
        if self.keep_data or workers > 1 or self.cluster is not None:
            self._store()
        if self.cluster is not None:
            self._follow(run_on_cluster(list(todo.values()), self.cluster, self.threads), board)
        elif workers > 1:
            self._in_processes(list(todo.values()), workers, board)
        else:
            for task in todo.values():
                self._here(task, self.threads, board)

    def cell(self, task: CellTask) -> Cell:
        """The cell of a task, with its names and measures; a file with different ones is updated.

        Cells computed in this run are already measured. Cells loaded from disk are measured again: the measures may be
        different now, or the code of one may have changed.
        """
        finished = self.cells[task.key]
        names = {"dataset": task.dataset, "fold": task.fold, "ranker": task.contestant.name}
        cell = replace(finished, **names)
        if task.key not in self.computed:
            test = self.splits[task.dataset][task.fold].test
            cell = cell.measured(test, list(task.measures), task.preset, task.protocol.random_state)
        if cell.measures != finished.measures or any(getattr(finished, name) != value for name, value in names.items()):
            self.folder.write(cell)
        return cell

    def _store(self) -> None:
        """Write the parts of the folds as native files, for the workers and for later use of the folder."""
        for task in self.tasks:
            split = self.splits[task.dataset][task.fold]
            for role, digest in task.parts.items():
                if digest is not None:
                    self.folder.store(getattr(split, role), digest)
        for task in self.tasks:  # data on disk need not stay in memory
            self.splits[task.dataset][task.fold] = StoredFold(self.folder, task.parts)

    def _here(self, task: CellTask, threads: int, board: Board) -> None:
        board.note(task.names, "running")
        try:
            cell = task.run(
                threads,
                lambda number, best: board.note(task.names, "running", best, number),
                self.splits[task.dataset][task.fold],
            )
        except Exception as error:
            line = f"{type(error).__name__}: {' '.join(str(error).split())}"
            self._ended(task, ("failed", line, traceback.format_exc()), board)
        else:
            self._ended(task, ("done",), board, cell)

    def _in_processes(self, tasks: list[CellTask], workers: int, board: Board) -> None:
        share = max(1, self.threads // workers)
        self._follow(run_in_processes(tasks, workers, share, lambda task: self._here(task, share, board)), board)

    def _follow(self, run: Generator[tuple[CellTask, tuple[Any, ...]], None, None], board: Board) -> None:
        with closing(run) as events:
            for task, message in events:
                if message[0] == "begun":
                    board.note(task.names, "running")
                elif message[0] == "trial":
                    board.note(task.names, "running", message[2], message[1])
                else:
                    self._ended(task, message, board)

    def _ended(self, task: CellTask, message: tuple[Any, ...], board: Board, cell: Cell | None = None) -> None:
        """Record the end of a cell; if another process computed it, read it from its file."""
        if message[0] == "done" and cell is None:
            cell = self.folder.finished(task.key)
        cell_names = [other.names for other in self.tasks if other.key == task.key]
        if cell is None:
            line, where = message[1:] if message[0] == "failed" else ("the file of the cell is gone", "")
            self.failures += [Failure(*names, line, where) for names in cell_names]
        else:
            self.cells[task.key] = cell
            self.computed.add(task.key)
        for names in cell_names:
            board.note(names, "failed" if cell is None else "done", None if cell is None else cell.validation)
