"""Scores of a tree ensemble."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from plackett._base.cached import cached_property
from plackett._kernels.cores import n_threads
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.scorers.base import Contributions, Importance, Scorer, Size
from plackett.scorers.parts import Part
from plackett.scorers.trees.arrays import TreeArrays
from plackett.scorers.trees.scoring import TreeKernels
from plackett.scorers.trees.text import parse_trees, write_text

__all__ = ["TreeScorer"]


class TreeScorer(Scorer):
    """A tree ensemble, scored by our own kernels, bit for bit as LightGBM scores it.

    Parameters
    ----------
    text
        The ensemble as LightGBM writes it.
    """

    kind: ClassVar[str] = "trees"
    cheap: ClassVar[bool] = True
    ignores_background: ClassVar[bool] = True
    hypothesis: ClassVar[str] = "sums of regression trees"

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
    def tree_arrays(self) -> TreeArrays:
        """The trees."""
        return self.trees

    def used_features(self, n_features: int) -> np.ndarray:
        """The features of splits."""
        return np.isin(np.arange(n_features), self.trees.feature)

    def contributions(self, X: Any, n_jobs: int | None = None) -> Contributions | None:
        """LightGBM's TreeSHAP, whose base is the mean over the training documents."""
        if self.booster.num_model_per_iteration() != 1:
            return None
        if X.shape[0] == 0:
            return Contributions(np.empty(X.shape), 0.0, "trees")
        parts = np.asarray(dense(self.booster.predict(X, pred_contrib=True, num_threads=n_threads(n_jobs))), np.float64)
        return Contributions(parts[:, :-1], parts[:, -1], "trees")

    def relative_contributions(self, X: np.ndarray, background: np.ndarray) -> Contributions | None:
        """LightGBM's TreeSHAP (Lundberg et al. 2018); the base is the mean over the training documents of each node."""
        if self.booster.num_model_per_iteration() != 1:
            return None
        parts = self.booster.predict(X, pred_contrib=True)
        return Contributions(parts[:, :-1], float(parts[0, -1]), "trees")

    def importance(self, X: Any) -> Importance:
        """Total gain of the splits on each feature."""
        return Importance(np.asarray(self.booster.feature_importance("gain"), np.float64), "total gain of the splits")

    @property
    def not_exportable(self) -> str:
        """Linear leaves and several outputs are no sum of trees."""
        if self.linear_leaves:
            return "has trees with linear leaves (linear_tree), which cannot be exported"
        outputs = self.trees.n_outputs
        return "" if outputs == 1 else f"has {outputs} outputs per document; engines expect one score"

    def export_parts(self) -> list[tuple[float, Part]]:
        """The trees."""
        return [(1.0, self.trees)]

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("n_features", self.trees.n_features, self.trees.n_outputs, "n_outputs")

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row, or one per output."""
        if self.linear_leaves:
            return self._by_lightgbm(X, n_jobs)
        return self.kernels.predict(X, n_jobs)

    def score_sample(self, data: RankingDataset, n_jobs: int | None = None) -> np.ndarray:
        """By LightGBM, which grew the trees: a first training need not compile kernels to score a sample."""
        return self._by_lightgbm(data.X, n_jobs)

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
