"""The weighted sum of the scores of several rankers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.errors import DataError
from plackett.scorers._members import Member, member_scores, pack_members, same_features, unlabelled, unpack_members
from plackett.scorers.base import Size, check_finite

__all__ = ["BlendScorer"]


@dataclass(frozen=True)
class BlendScorer:
    """Trained rankers, and the factor of each one's score in the sum."""

    kind: ClassVar[str] = "blend"
    #: Whether `predict` takes the features of the queries.
    reads_queries: ClassVar[bool] = True
    #: Whether `predict` takes the relations of the documents, for members that need them.
    reads_relations: ClassVar[bool] = True
    rankers: tuple[Member, ...]
    factors: np.ndarray

    @property
    def list_aware(self) -> bool:
        """Whether a document's score depends on its list: true if it does for any member."""
        return any(ranker.scorer_.list_aware for ranker in self.rankers)

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("members", self.rankers[0].n_features_in_)

    def predict(
        self,
        X: Any,
        offsets: np.ndarray,
        n_jobs: int | None = None,
        query_features: np.ndarray | None = None,
        relations: Any = None,
    ) -> np.ndarray:
        """Score of each row."""
        data = unlabelled(X, offsets, query_features, relations)
        scores = np.zeros(X.shape[0])
        for ranker, factor in zip(self.rankers, self.factors, strict=True):
            scores += factor * self._scaled(member_scores(ranker, data, n_jobs), offsets)
        return scores

    def _scaled(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """The scores of a member as they are added up."""
        return scores

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays, those of member i with the prefix ``i.``."""
        return {"factors": self.factors} | pack_members(self.rankers)

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        """The scorer that `to_arrays` wrote."""
        factors, rankers = np.array(arrays["factors"]), same_features(unpack_members(arrays))
        if factors.dtype != np.float64 or factors.shape != (len(rankers),):
            raise DataError(f"a blend of {len(rankers)} rankers with factors of shape {factors.shape}")
        check_finite({"factors": factors})
        return cls(rankers, factors)
