"""Folds as in LETOR, MSLR and many others: one folder per fold, with files train, vali and test."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.files import LETOR, format_of, read
from plackett.data.splits import Fold

__all__ = ["read_folds"]

#: File names that releases use for the parts of a fold.
PART_NAMES = {"train": ("train", "training"), "valid": ("vali", "valid", "validation"), "test": ("test",)}


def read_folds(folder: str | os.PathLike[str], **options: Any) -> list[Fold]:
    r"""Read the folds in a folder: one fold if the files are in it, otherwise one per subfolder that has them.

    A part is a file called train (or training), vali (or valid, validation) or test, in any format that
    `plackett.read` knows, compressed or not. A fold needs train and test; ``valid`` is None if there is no such
    file. Folds come in the order of their numbers.

    Parameters
    ----------
    options
        Passed on to `plackett.read`, such as the columns of tables.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for fold in (1, 2, 10):
    ...     path = folder / f"Fold{fold}"
    ...     path.mkdir()
    ...     for qid, part in enumerate(("train", "vali", "test")):
    ...         _ = (path / f"{part}.txt").write_text(f"1 qid:{100 * fold + qid} 1:0.5\n")
    >>> [fold.test.qids.tolist() for fold in read_folds(folder)]
    [[102], [202], [1002]]
    """
    path = Path(folder)
    if not path.is_dir():
        raise DataError(f"{path} is not a folder")
    folders = [path] if _parts(path) else sorted((p for p in path.iterdir() if p.is_dir() and _parts(p)), key=_number)
    if not folders:
        entries = ", ".join(sorted(entry.name for entry in path.iterdir())[:5]) or "nothing"
        raise DataError(
            f"{path} has no folds: no files train, vali and test, nor folders (Fold1, Fold2, …) with these; it has "
            f"{entries}. Pass a file to split it into folds"
        )
    return [_read(_parts(each), each, options) for each in folders]


def _parts(folder: Path) -> dict[str, Path]:
    """The files of a fold by role; empty if there is no train file."""
    files: dict[str, Path] = {}
    for entry in sorted(folder.iterdir()):
        stem = entry.name.lower().partition(".")[0]
        for role, names in PART_NAMES.items():
            if entry.is_file() and stem in names:
                if role in files:
                    raise DataError(f"{folder} has two files for {role}: {files[role].name} and {entry.name}")
                files[role] = entry
    return files if "train" in files else {}


def _number(folder: Path) -> tuple[list[int], str]:
    """Fold2 comes before Fold10."""
    return [int(digits) for digits in re.findall(r"\d+", folder.name)], folder.name


def _read(paths: dict[str, Path], folder: Path, options: dict[str, Any]) -> Fold:
    if "test" not in paths:
        raise DataError(f"{folder} has {paths['train'].name} but no test file")
    parts = {role: read(path, **options) for role, path in paths.items()}
    n = max(part.n_features for part in parts.values())

    def whole(role: str) -> RankingDataset:
        """LETOR text lists only nonzero features, so a part may seem to have fewer than the others."""
        narrow = parts[role].n_features < n and format_of(paths[role]) is LETOR
        return read(paths[role], **options, n_features=n) if narrow else parts[role]

    return Fold(whole("train"), whole("valid") if "valid" in parts else None, whole("test"))
