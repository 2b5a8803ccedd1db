"""The folder of an experiment: finished cells, models, the data, and a manifest."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from plackett._base.errors import DataError, PlackettWarning
from plackett._files.atomic import being_written, replacing
from plackett._files.lock import lock
from plackett.data.dataset import RankingDataset
from plackett.data.lazy_fold import LazyFold
from plackett.data.native import open_dataset, save_dataset
from plackett.experiments.cells.cell import Cell, read_cell, write_cell

FORMAT_VERSION = 1


class FolderTakenError(DataError):
    """The folder holds the results of another experiment."""


class CellFolder:
    """An experiment on disk.

    ``experiment.json`` lists the cells, ``cells/KEY.plackett`` are the finished ones,
    ``cells/KEY.model.plackett`` their rankers, ``data/DIGEST.plackett`` the parts of the folds. Every file is written
    completely or not at all, and a cell's file is written last: if it exists, the cell is finished.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if str(path) == "":
            raise DataError("the path of the folder for results is empty; give '.' for the current folder")
        self.path = Path(path)
        self.cells = self.path / "cells"
        self.data = self.path / "data"

    def prepare(self) -> None:
        """Create the folders; one with a foreign ``experiment.json`` is rejected, not written to."""
        if self.manifest_path.exists():
            self.read_manifest()
        try:
            for folder in (self.cells, self.data):
                folder.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryFile(dir=folder):  # fail before the work if it is not writable
                    pass
        except OSError as error:
            reason = "it is a file" if self.path.is_file() else error.strerror
            raise DataError(f"results cannot be written to the folder {self.path}: {reason}") from None

    def refuse_another(self, manifest: dict[str, Any]) -> None:
        """Raise if the folder holds an experiment or report other than the one described.

        The same data, protocol and rankers with the same parameters are the same experiment; it may have more rankers.
        """
        report = self.path / "report.html"
        if not self.manifest_path.exists():
            if report.exists():
                raise FolderTakenError(f"{report} exists, but does not belong to an experiment in this folder")
            return
        stored = self.read_manifest()
        for name, what in (("folds", "other data"), ("protocol", "another protocol"), ("select", "another selection")):
            if stored.get(name) != json.loads(json.dumps(manifest[name])):
                raise FolderTakenError(f"{self.path} holds an experiment with {what}")
        rankers = json.loads(json.dumps(manifest["rankers"]))
        lost = [name for name, ranker in stored.get("rankers", {}).items() if rankers.get(name) != ranker]
        if lost:
            raise FolderTakenError(f"{self.path} holds an experiment with other rankers ({', '.join(lost[:3])})")

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder against other experiments; the lock is released with the process at the latest."""
        with open(self.path / ".lock", "a+b") as file:
            if not lock(file):
                raise DataError(
                    f"another experiment is running in {self.path}; wait until it ends, or use another folder"
                )
            yield

    # -------------------------------------------------------------------------------------------------------- cells

    def cell_path(self, key: str) -> Path:
        """File of a cell."""
        return self.cells / f"{key}.plackett"

    def finished(self, key: str) -> Cell | None:
        """The cell, if it is finished. A damaged file counts as not finished."""
        path = self.cell_path(key)
        if not path.exists():
            return None
        try:
            cell = read_cell(path)
            if cell.key != key:
                raise DataError(f"{path}: holds the cell {cell.key}")
        except DataError as error:
            warnings.warn(f"{error}; it is computed again", PlackettWarning, stacklevel=2)
            return None
        return cell

    def forget(self, keys: Iterable[str]) -> None:
        """Remove finished cells, so that they are recomputed."""
        for key in keys:
            self.cell_path(key).unlink(missing_ok=True)

    def write(self, cell: Cell) -> None:
        """Write a cell."""
        write_cell(cell, self.cell_path(cell.key))

    def save_model(self, key: str, ranker: Any) -> Path | None:
        """Save the ranker of a cell; None for rankers of other libraries, which are not saved."""
        from plackett.rankers.storage import save

        path = self.cells / f"{key}.model.plackett"
        try:
            save(ranker, path)
        except DataError:
            return None
        return path

    def clear_leftovers(self, key: str) -> None:
        """Remove the temporary files that a killed process left behind for a cell.

        Those of a running process stay: two experiments may share a folder.
        """
        for path in self.cells.glob(f".{key}.*"):
            if not being_written(path):
                path.unlink(missing_ok=True)

    # --------------------------------------------------------------------------------------------------------- data

    def data_path(self, digest: str) -> Path:
        """File of a part of a fold."""
        return self.data / f"{digest}.plackett"

    def store(self, data: RankingDataset, digest: str) -> None:
        """Write a part of a fold, unless it exists."""
        if not self.data_path(digest).exists():
            save_dataset(data, self.data_path(digest))

    def open(self, digest: str | None) -> RankingDataset | None:
        """A part of a fold, memory-mapped."""
        return None if digest is None else open_dataset(self.data_path(digest))

    # ----------------------------------------------------------------------------------------------------- manifest

    @property
    def manifest_path(self) -> Path:
        """File that lists the contents of the experiment."""
        return self.path / "experiment.json"

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Write the manifest."""
        with replacing(self.manifest_path) as file:
            text = json.dumps({"format_version": FORMAT_VERSION} | manifest, ensure_ascii=False, indent=1)
            file.write(text.encode())

    def read_manifest(self) -> dict[str, Any]:
        """Read the manifest."""
        try:
            manifest = json.loads(self.manifest_path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise DataError(f"{self.path} does not hold an experiment (there is no experiment.json)") from None
        except ValueError as error:
            raise DataError(f"{self.manifest_path}: damaged ({error})") from None
        if not isinstance(manifest, dict) or manifest.get("format_version") != FORMAT_VERSION:
            raise DataError(f"{self.manifest_path}: not written by this version of plackett; use another folder")
        return manifest


class StoredFold(LazyFold):
    """A fold whose parts are opened on first use."""

    def __init__(self, folder: CellFolder, digests: Mapping[str, str | None]) -> None:
        self.__dict__.update(_folder=folder, _digests=digests)  # the class is frozen

    def __repr__(self) -> str:
        return f"Fold in {self.__dict__['_folder'].path}"

    def part(self, role: str) -> RankingDataset | None:
        """Read a part, or None where there is none."""
        return self.__dict__["_folder"].open(self.__dict__["_digests"][role])
