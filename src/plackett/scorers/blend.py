"""The weighted sum of the scores of several rankers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.rankers.base import Ranker

__all__ = ["BlendScorer", "packed", "unpacked"]


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
        return {"factors": self.factors, **packed(self.rankers)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> BlendScorer:
        """The scorer that `to_arrays` wrote."""
        rankers, factors = unpacked(arrays), np.array(arrays["factors"])
        if factors.dtype != np.float64 or factors.shape != (len(rankers),):
            raise DataError(f"a blend of {len(rankers)} rankers with factors of shape {factors.shape}")
        return cls(rankers, factors)


def packed(rankers: Iterable[Ranker]) -> dict[str, np.ndarray]:
    """Trained rankers as named arrays, those of ranker i with the prefix ``i.``."""
    from plackett.rankers.storage import pack

    parts = [pack(ranker) for ranker in rankers]
    headers = json.dumps([header for header, _ in parts], ensure_ascii=False).encode()
    arrays = {"members": np.frombuffer(headers, np.uint8)}
    for i, (_, own) in enumerate(parts):
        arrays |= {f"{i}.{name}": array for name, array in own.items()}
    return arrays


def unpacked(arrays: dict[str, np.ndarray]) -> tuple[Ranker, ...]:
    """The rankers that `packed` wrote: one or more."""
    from plackett.rankers.storage import unpack

    headers = json.loads(arrays["members"].tobytes())
    if not isinstance(headers, list) or not 0 < len(headers) <= len(arrays):  # every member has arrays
        raise DataError("the rankers inside a ranker are damaged")
    rankers = []
    for i, header in enumerate(headers):
        parts = {name.removeprefix(f"{i}."): a for name, a in arrays.items() if name.startswith(f"{i}.")}
        rankers.append(unpack(header, parts))
    return tuple(rankers)
