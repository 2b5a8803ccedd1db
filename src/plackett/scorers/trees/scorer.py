"""Scores of a tree ensemble."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from plackett._base.cached import cached_property
from plackett.scorers.base import Size
from plackett.scorers.trees.arrays import TreeArrays
from plackett.scorers.trees.scoring import TreeKernels
from plackett.scorers.trees.text import parse_trees, write_text

__all__ = ["TreeScorer"]


class TreeScorer:
    """A tree ensemble, scored by our own kernels, bit for bit as LightGBM scores it.

    Parameters
    ----------
    text
        The ensemble as LightGBM writes it.
    """

    kind: ClassVar[str] = "trees"
    list_aware: ClassVar[bool] = False

    def __init__(self, text: str) -> None:
        self.text = text

    @classmethod
    def of(cls, trees: TreeArrays) -> TreeScorer:
        """The scorer of checked trees; their text is written on demand."""
        scorer = cls.__new__(cls)
        scorer.trees = trees
        return scorer

    @cached_property
    def text(self) -> str:
        """The ensemble as LightGBM writes it."""
        return write_text(self.trees)

    @cached_property
    def trees(self) -> TreeArrays:
        """The ensemble as arrays."""
        return parse_trees(self.text)

    @cached_property
    def kernels(self) -> TreeKernels:
        """The ensemble ready to score."""
        return TreeKernels(self.trees)

    @cached_property
    def booster(self) -> Any:
        """The ensemble as a `lightgbm.Booster`, for everything else that LightGBM can do."""
        import lightgbm as lgb

        return lgb.Booster(model_str=self.text)

    @property
    def linear_leaves(self) -> bool:
        """Whether leaves are linear functions (LightGBM's ``linear_tree``), which only LightGBM scores."""
        return "trees" not in self.__dict__ and "\nis_linear=1\n" in self.text

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("n_features", self.trees.n_features, self.trees.n_outputs, "n_outputs")

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row, or one per output."""
        if self.linear_leaves:
            return self._by_lightgbm(X, n_jobs)
        return self.kernels.predict(X, n_jobs)

    def _by_lightgbm(self, X: Any, n_jobs: int | None) -> np.ndarray:
        from plackett._kernels.openmp import scoring_threads

        if X.shape[0] == 0:  # LightGBM refuses an empty table
            outputs = self.booster.num_model_per_iteration()
            return np.empty(0) if outputs == 1 else np.empty((0, outputs))
        threads = scoring_threads(n_jobs, X.shape[0], self.booster.num_trees())
        return self.booster.predict(X, raw_score=True, num_threads=threads)

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("trees", "text") if name in self.__dict__}

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays."""
        return self.trees.to_arrays()

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> TreeScorer:
        """The scorer that `to_arrays` wrote, or that was stored as LightGBM's text; both are checked."""
        if "lightgbm" in arrays:
            return cls.of(parse_trees(arrays["lightgbm"].tobytes().decode("latin-1")))
        return cls.of(TreeArrays.from_arrays(arrays))
