"""Score files: one number per line, in the order of the rows they belong to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._files.atomic import replacing
from plackett._files.checks import check_regular


def read_scores(path: str | os.PathLike[str]) -> np.ndarray:
    """Read scores from a text file with one number per line.

    If a line has several columns (RankLib writes query, index, score), the last one is used. Blank lines at the end
    are ignored.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     print(0.5, -1e3, sep=chr(10), file=file, flush=True)
    ...     read_scores(file.name).tolist()
    [0.5, -1000.0]
    """
    path = Path(path)
    check_regular(path, pipes=True)
    try:
        lines = path.read_bytes().rstrip().splitlines()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    if not lines:
        raise DataError(f"{path}: the file has no scores")
    if len(lines[0].split()) > 1:
        lines = [line.split()[-1] if line.strip() else line for line in lines]
    try:
        scores = np.array(lines).astype(np.float64)
    except ValueError:
        scores = np.array([np.nan])  # found again below, with its line
    if np.isnan(scores).any():
        for number, line in enumerate(lines, 1):
            if not _is_number(line):
                shown = line[:40].decode("utf-8", "replace")
                raise DataError(f"{path}:{number}: expected a score, found {shown!r}")
    return scores


def _is_number(text: bytes) -> bool:
    try:
        return not np.isnan(float(text))
    except ValueError:
        return False


def write_scores(scores: Any, path: str | os.PathLike[str]) -> None:
    """Write one score per line, with enough digits to read back the same number."""
    text = "\n".join(map(repr, np.asarray(scores, np.float64).tolist())) + "\n"
    with replacing(path) as file:
        file.write(text.encode())
