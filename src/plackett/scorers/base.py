"""Base class of scorers, the predictors of fitted rankers."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, Self

import numpy as np

__all__ = ["Scorer"]


class Scorer(Protocol):
    """A trained scoring function. It is stored as plain arrays; loading one never runs code from the file."""

    kind: ClassVar[str]

    @property
    def list_aware(self) -> bool:
        """Whether a document's score depends on the other documents of its list."""

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row, or one score per output; ``offsets`` matter only to list-aware models."""

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays."""

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        """The scorer that `to_arrays` wrote."""
