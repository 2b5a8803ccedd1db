"""Scores by a ranker trained anew for each list, with extra features computed from its documents."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.scorers._members import Member, member_scores, unlabelled, unpack_base
from plackett.scorers._training_data import pack_data, unpack_data
from plackett.scorers.base import Size
from plackett.scorers.kernel_pca import KERNELS, kernel_components
from plackett.scorers.plain_values import to_plain

__all__ = ["TransductiveScorer"]


@dataclass(frozen=True)
class TransductiveScorer:
    """The training data, a copy of the base ranker to train, and the kernels that compute the extra features."""

    kind: ClassVar[str] = "transductive"
    list_aware: ClassVar[bool] = True
    #: Whether `predict` takes the features of the queries and the relations of the documents.
    reads_queries: ClassVar[bool] = True
    reads_relations: ClassVar[bool] = True
    base: Member
    data: RankingDataset
    kernels: tuple[str, ...]
    n_components: int
    scale: np.ndarray

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("X", self.data.n_features)

    def predict(
        self,
        X: Any,
        offsets: np.ndarray,
        n_jobs: int | None = None,
        query_features: np.ndarray | None = None,
        relations: Any = None,
    ) -> np.ndarray:
        """Score of each row; trains once per list."""
        scores = np.zeros(X.shape[0])
        whole = unlabelled(X, offsets, query_features, relations)
        for q, (lo, hi) in enumerate(pairwise(offsets.tolist())):
            if hi > lo:
                one = whole.select([q])
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

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays."""
        head = {"base": to_plain(self.base, "base"), "kernels": list(self.kernels), "n": self.n_components}
        text = json.dumps(head, ensure_ascii=False).encode()
        return {"head": np.frombuffer(text, np.uint8), "scale": self.scale} | pack_data(self.data)

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> TransductiveScorer:
        """The scorer that `to_arrays` wrote."""
        head = json.loads(arrays["head"].tobytes())
        base, kernels, n = unpack_base(head["base"]), tuple(head["kernels"]), int(head["n"])
        data, scale = unpack_data(arrays), np.array(arrays["scale"])
        if not set(kernels) <= set(KERNELS) or not 0 <= n < 1000:
            raise DataError("the kernels of the model are damaged")
        if scale.shape != (data.n_features,) or not (scale > 0).all():
            raise DataError(f"{data.n_features} features with scales of shape {scale.shape}")
        return cls(base, data, kernels, n, scale)
