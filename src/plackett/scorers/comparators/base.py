"""The base class of comparators."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, Self

import numpy as np

from plackett.aggregation.orderings.preference import Preference


class Comparator(Protocol):
    """A learned preference between two documents. It is stored as plain arrays, like a scorer."""

    kind: ClassVar[str]

    def bind(self, X: Any, n_jobs: int | None) -> Preference:
        """The probability that a row of a table belongs before another one, for arrays of rows."""

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The comparator as named arrays."""

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        """The comparator that `to_arrays` wrote."""
