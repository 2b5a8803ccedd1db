"""The errors and warnings of the package."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

__all__ = ["ClusterError", "DataError", "LossError", "MeasureError", "MissingExtraError", "PlackettWarning", "reading"]


class PlackettWarning(UserWarning):
    """The input was accepted, but perhaps not as intended."""


class DataError(ValueError):
    """Bad data; the message names the location, what was found and what to do."""


class MeasureError(ValueError):
    """A measure that does not exist, or a parameter that it does not have."""


class LossError(ValueError):
    """A loss that does not fit the data, the model or the solver it was given."""


class ClusterError(RuntimeError):
    """A worker that holds a part of the data failed and could not be replaced."""


class MissingExtraError(ImportError):
    """An optional library is not installed; the message has the command that installs it."""


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
        raise DataError(text if text.startswith(f"{path}: ") else f"{path}: {text}") from None
    except Exception as error:
        raise DataError(f"{path}: {what} is damaged ({_short(error)})") from None


def _short(error: Exception) -> str:
    text = repr(error)
    text = text if len(text) <= 300 else f"{text[:300]}…"
    return text.encode("ascii", "backslashreplace").decode()
