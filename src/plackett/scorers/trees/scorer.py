"""Scores of a tree ensemble."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from plackett.models.openmp import scoring_threads
from plackett.scorers.trees.text import check_text, parse_trees

__all__ = ["TreeScorer"]


@dataclass(frozen=True)
class TreeScorer:
    """A LightGBM ensemble, kept as LightGBM's own text."""

    kind: ClassVar[str] = "trees"
    list_aware: ClassVar[bool] = False
    text: str

    @cached_property
    def booster(self) -> Any:
        """The ensemble as a `lightgbm.Booster`."""
        import lightgbm as lgb

        return lgb.Booster(model_str=self.text)

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row, or one per output."""
        if X.shape[0] == 0:  # LightGBM refuses an empty table
            outputs = self.booster.num_model_per_iteration()
            return np.empty(0) if outputs == 1 else np.empty((0, outputs))
        threads = scoring_threads(n_jobs, X.shape[0], self.booster.num_trees())
        return self.booster.predict(X, raw_score=True, num_threads=threads)

    def __getstate__(self) -> dict[str, Any]:
        return {"text": self.text}

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays."""
        check_text(self.text)
        return {"lightgbm": np.frombuffer(self.text.encode(), np.uint8)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> TreeScorer:
        """The scorer that `to_arrays` wrote."""
        return cls(parse_trees(arrays["lightgbm"].tobytes().decode("latin-1")).text())
