"""The errors and warnings of the package."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


class PlackettWarning(UserWarning):
    """The input was accepted, but perhaps not as intended."""


class DataError(ValueError):
    """Bad data; the message names the location, what was found and what to do."""


class CellError(DataError):
    """A bad value in a table: ``row`` counts from 0; a reader of files names the line instead."""

    def __init__(self, column: str, row: int, problem: str) -> None:
        super().__init__(f"column {column!r}, row {row} (counted from 0): {problem}")
        self.column, self.row, self.problem = column, row, problem


class PartsError(DataError):
    """Data that cannot be read part by part, but perhaps as a whole."""


class MeasureError(ValueError):
    """A measure that does not exist, or a parameter that it does not have."""


class LossError(ValueError):
    """A loss that does not fit the data, the model or the solver it was given."""


class ClusterError(RuntimeError):
    """A worker that holds a part of the data failed and could not be replaced."""


class MissingExtraError(ImportError):
    """An optional library is not installed; the message has the command that installs it."""


#: How parameters are set on the command line, by their names in Python; None in Python.
_shell: dict[str, str] | None = None


@contextlib.contextmanager
def shell_options(options: dict[str, str] | None) -> Iterator[None]:
    """Word messages for users of the command line: `parameter` names its options. None: for others, as in a service."""
    global _shell
    before, _shell = _shell, options
    try:
        yield
    finally:
        _shell = before


def in_shell() -> bool:
    """Whether messages are read by a user of the command line."""
    return _shell is not None


def parameter(name: str, value: str = "…") -> str:
    """How the user sets a parameter: ``label=…`` in Python, ``--label …`` on the command line.

    >>> parameter("label"), parameter("refit", "True")
    ('label=…', 'refit=True')
    >>> with shell_options({"label": "--label COLUMN", "drop": "--drop {}"}):
    ...     parameter("label"), parameter("drop", "title"), parameter("refit", "True")
    ('--label COLUMN', '--drop title', '-p refit=True')
    """
    if _shell is None:
        return f"{name}={value}"
    return _shell[name].format(value) if name in _shell else f"-p {name}={value}"


@contextlib.contextmanager
def reading(path: Any, what: str) -> Iterator[None]:
    """Turn any error caused by a damaged or hostile file into a `DataError` that names the file.

    Disk errors and out-of-memory errors are passed on unchanged.
    """
    try:
        yield
    except (OSError, MemoryError):
        raise
    except (DataError, LossError, MeasureError) as error:
        text = str(error)
        named = text.startswith((f"{path}: ", f"{path} "))
        raise DataError(text if named else f"{path}: {text}") from None
    except Exception as error:
        raise DataError(f"{path}: {what} is damaged ({_short(error)})") from None


def _short(error: Exception) -> str:
    text = repr(error)
    text = text if len(text) <= 300 else f"{text[:300]}…"
    return text.encode("ascii", "backslashreplace").decode()
