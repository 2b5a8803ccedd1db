"""The errors and warnings of the package."""

from __future__ import annotations

__all__ = ["DataError", "LossError", "MeasureError", "MissingExtraError", "PlackettWarning"]


class PlackettWarning(UserWarning):
    """Something was understood, but perhaps not as meant."""


class DataError(ValueError):
    """Bad data; the message names the place, what was found there and what to do."""


class MeasureError(ValueError):
    """A measure that does not exist, or a parameter that it does not have."""


class LossError(ValueError):
    """A loss that does not fit the data, the model or the solver it was given."""


class MissingExtraError(ImportError):
    """An optional library is not installed; the message has the command that installs it."""
