"""Base class of comparators, the learned preferences between documents."""

from __future__ import annotations

from typing import Any

from plackett.aggregation.orderings.preference import Preference
from plackett.scorers.base import Size
from plackett.scorers.fields import Stored


class Comparator(Stored):
    """A learned preference between two documents. It is stored as plain arrays, like a scorer."""

    @property
    def size(self) -> Size | None:
        """What it takes and gives; None if it cannot be stored."""
        return None

    def bind(self, X: Any, n_jobs: int | None) -> Preference:
        """The probability that a row of a table belongs before another one, for arrays of rows."""
        raise NotImplementedError
