"""Base class of scorers that do something with the outputs of a trained model: nothing else is different."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett.scorers.base import Importance, Scorer, Size
from plackett.scorers.fields import inner
from plackett.scorers.trees.arrays import TreeArrays


@dataclass(frozen=True)
class FinishedScorer(Scorer):
    """A trained model whose outputs are finished."""

    outputs: Scorer = inner()

    @property
    def list_aware(self) -> bool:
        """Whether a document's score depends on its list: as its outputs do."""
        return self.outputs.list_aware

    @property
    def hypothesis(self) -> str:  # type: ignore[override]
        """That of its model."""
        return self.outputs.hypothesis

    @property
    def cheap(self) -> bool:  # type: ignore[override]
        """As its model."""
        return self.outputs.cheap

    @property
    def model(self) -> Scorer:
        """The trained model."""
        return self.outputs.model

    @property
    def size(self) -> Size | None:
        """The features of the model, and one score."""
        own = self.outputs.size
        return None if own is None else Size(own.array, own.n_features)

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row."""
        return self.finish(self.outputs.predict(X, offsets, n_jobs))

    @property
    def tree_arrays(self) -> TreeArrays | None:
        """The trees of the model."""
        return self.outputs.tree_arrays

    @property
    def booster(self) -> Any:  # type: ignore[override]
        """The trees of the model as a `lightgbm.Booster`."""
        return self.outputs.booster

    @property
    def line(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Weights and intercepts of the model."""
        return self.outputs.line

    def used_features(self, n_features: int) -> np.ndarray:
        """The features of the model."""
        return self.outputs.used_features(n_features)

    def importance(self, X: Any) -> Importance | None:
        """That of the model."""
        return self.outputs.importance(X)
