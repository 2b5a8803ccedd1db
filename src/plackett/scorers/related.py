"""What a relational ranker predicts with: the scores of other rankers, which the relations then change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.scorers._members import pack_members, same_features, unpack_members
from plackett.scorers.base import Size

__all__ = ["RelatedScorer"]


@dataclass(frozen=True)
class RelatedScorer:
    """Trained rankers whose scores are combined with the relations of the documents by the ranker around them."""

    kind: ClassVar[str] = "related"
    list_aware: ClassVar[bool] = True
    rankers: tuple[Any, ...]

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("members", self.rankers[0].n_features_in_)

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Refused: features alone do not say which documents are related."""
        raise DataError("a relational ranker scores whole lists with their relations; call its predict with a dataset")

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The rankers as named arrays."""
        return pack_members(self.rankers)

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> RelatedScorer:
        """The scorer that `to_arrays` wrote."""
        return cls(same_features(unpack_members(arrays)))
