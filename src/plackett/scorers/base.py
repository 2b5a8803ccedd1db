"""What a fitted ranker predicts with."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, Self

import numpy as np

__all__ = ["Scorer"]


class Scorer(Protocol):
    """A trained scoring function. It lives on disk as plain arrays; loading one runs no code from the file."""

    kind: ClassVar[str]

    @property
    def list_aware(self) -> bool:
        """Whether a document's score depends on the other documents of its list."""

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row, or one score per output; ``offsets`` matter to list-aware models only."""

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays."""

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        """The scorer that `to_arrays` wrote."""
