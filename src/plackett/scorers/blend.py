"""The weighted sum of the scores of several rankers."""

from __future__ import annotations

import json
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.rankers.base import Ranker

__all__ = ["BlendScorer"]


@dataclass(frozen=True)
class BlendScorer:
    """Trained rankers, and the factor of each one's score in the sum."""

    kind: ClassVar[str] = "blend"
    rankers: tuple[Ranker, ...]
    factors: np.ndarray

    @property
    def list_aware(self) -> bool:
        """Whether a document's score depends on its list: where that of any member does."""
        return any(ranker.scorer_.list_aware for ranker in self.rankers)

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row."""
        data = RankingDataset(X=X, y=None, offsets=offsets, qids=np.arange(offsets.size - 1))
        scores = np.zeros(X.shape[0])
        for ranker, factor in zip(self.rankers, self.factors, strict=True):
            member = copy(ranker)
            member.n_jobs = n_jobs
            scores += factor * member._score_rows(data)
        return scores

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays, those of member i with the prefix ``i.``."""
        from plackett.rankers.storage import pack

        packed = [pack(ranker) for ranker in self.rankers]
        headers = json.dumps([header for header, _ in packed], ensure_ascii=False).encode()
        arrays = {"factors": self.factors, "members": np.frombuffer(headers, np.uint8)}
        for i, (_, parts) in enumerate(packed):
            arrays |= {f"{i}.{name}": array for name, array in parts.items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> BlendScorer:
        """The scorer that `to_arrays` wrote."""
        from plackett.rankers.storage import unpack

        headers, factors = json.loads(arrays["members"].tobytes()), np.array(arrays["factors"])
        fitting = factors.dtype == np.float64 and factors.shape == (len(headers),)
        if not fitting or not 0 < len(headers) <= len(arrays):  # every member has arrays
            raise DataError(f"a blend of {len(headers)} rankers with factors of shape {factors.shape}")
        rankers = []
        for i, header in enumerate(headers):
            parts = {name.removeprefix(f"{i}."): a for name, a in arrays.items() if name.startswith(f"{i}.")}
            rankers.append(unpack(header, parts))
        return cls(tuple(rankers), factors)
