"""Compilers and interpreters that score an exported file, so that an export is proved by the real thing."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from plackett._base.errors import DataError

#: A compiler that takes longer has hung.
_SECONDS = 600


class MissingToolError(DataError):
    """A program that would score the export is not installed here."""


def tool(name: str) -> str:
    """Path of a program."""
    program = shutil.which(name)
    if program is None:
        raise MissingToolError(f"{name} is not installed")
    return program


def run_tool(command: Sequence[str | Path], folder: Path) -> None:
    """Run a program in a folder; its complaint becomes the error."""
    try:
        subprocess.run(
            [str(word) for word in command], cwd=folder, check=True, capture_output=True, timeout=_SECONDS, text=True
        )
    except subprocess.CalledProcessError as error:
        raise DataError(f"{Path(command[0]).name} failed: {(error.stderr or error.stdout)[-2000:]}") from None
    except subprocess.TimeoutExpired:
        raise DataError(f"{Path(command[0]).name} took more than {_SECONDS} seconds") from None


@contextmanager
def workshop() -> Iterator[Path]:
    """A folder for what compilers leave behind."""
    with tempfile.TemporaryDirectory(prefix="plackett-") as name:
        yield Path(name)


def score_by_program(command: Sequence[str | Path], X: np.ndarray, folder: Path) -> np.ndarray:
    """Scores by a program that reads rows of little-endian float32 from ``rows`` and writes float64 to ``scores``."""
    np.ascontiguousarray(X, "<f4").tofile(folder / "rows")
    run_tool(command, folder)
    scores = np.fromfile(folder / "scores", "<f8")
    if scores.size != len(X):
        raise DataError(f"{Path(command[0]).name} gave {scores.size} scores for {len(X)} rows")
    return scores
