"""Scores by a ranker trained anew for each list, with extra features computed from its documents."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.scorers._members import Trainable, WithMembers, is_trainable, member_scores
from plackett.scorers._training_data import dataset
from plackett.scorers.base import Size
from plackett.scorers.fields import array, number, plain
from plackett.scorers.kernel_pca import KERNELS, kernel_components

__all__ = ["TransductiveScorer"]


@dataclass(frozen=True)
class TransductiveScorer(WithMembers):
    """The training data, a copy of the base ranker to train, and the kernels that compute the extra features."""

    kind: ClassVar[str] = "transductive"
    list_aware: ClassVar[bool] = True  # type: ignore[assignment]
    trains: ClassVar[bool] = True
    base: Trainable = plain(is_trainable)
    data: RankingDataset = dataset()
    kernels: tuple[str, ...] = plain(lambda value: isinstance(value, tuple) and set(value) <= set(KERNELS))
    n_components: int = number(most=999)
    scale: np.ndarray = array("features", positive=True)

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("X", self.data.n_features)

    def score_lists(self, data: RankingDataset, n_jobs: int | None) -> np.ndarray:
        """Score of each row; trains once per list."""
        scores = np.zeros(data.n_rows)
        for q, (lo, hi) in enumerate(pairwise(data.offsets.tolist())):
            if hi > lo:
                one = data.select([q])
                own, train = self.widened(one.X)
                ranker = self.base.trained_copy(train)
                scores[lo:hi] = member_scores(ranker, one.replace(X=own), n_jobs)
        return scores

    def widened(self, part: Any) -> tuple[np.ndarray, RankingDataset]:
        """The documents of a list, and the training data, with the components of the list as extra features."""
        documents, others = (np.asarray(dense(table), np.float64) for table in (part, self.data.X))
        components = [
            kernel_components(name, documents / self.scale, others / self.scale, self.n_components)
            for name in self.kernels
        ]
        own = np.hstack([documents, *(mine for mine, _ in components)]).astype(np.float32)
        train = np.hstack([others, *(theirs for _, theirs in components)]).astype(np.float32)
        return own, self.data.replace(X=train, feature_names=None)
