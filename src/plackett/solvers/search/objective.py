"""The interface of a function for solvers."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Problem(Protocol):
    """A function of weights to maximise, known only by its values."""

    @property
    def size(self) -> int:
        """Number of weights."""

    def values(self, weights: np.ndarray) -> np.ndarray:
        """Value of each row of weights."""

    def normalised(self, weights: np.ndarray) -> np.ndarray:
        """The same weights, or rows of them, in a form that keeps steps of one size meaningful."""
