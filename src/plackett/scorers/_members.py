"""Trained rankers inside a scorer: how they score, and how they are stored."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.scorers.base import Scorer, Size
from plackett.scorers.fields import Arrays, Sizes, StoredField, declared
from plackett.scorers.member import Member


class Trainable(Protocol):
    """What a scorer that trains while it predicts asks of the ranker to train."""

    def trained_copy(self, data: RankingDataset) -> Member:
        """A copy that is trained on a dataset."""


def is_trainable(value: Any) -> bool:
    """Whether this is a ranker to train.

    >>> is_trainable("LinearRegression")
    False
    """
    return hasattr(value, "trained_copy")


def unlabelled(
    X: Any, offsets: np.ndarray, query_features: np.ndarray | None = None, relations: Any = None
) -> RankingDataset:
    """Lists to score, as a dataset."""
    queries = np.arange(offsets.size - 1)
    return RankingDataset(
        X=X, y=None, offsets=offsets, qids=queries, query_features=query_features, relations=relations
    )


def member_scores(ranker: Member, data: RankingDataset, n_jobs: int | None) -> np.ndarray:
    """Scores of a member, computed with this many threads."""
    member = copy(ranker)
    member.n_jobs = n_jobs
    return member.score_rows(data)


class WithMembers(Scorer):
    """Base class of scorers with trained rankers inside, which may need all there is to know about the lists."""

    reads_queries: ClassVar[bool] = True
    reads_relations: ClassVar[bool] = True

    @property
    def list_aware(self) -> bool:
        """Whether a document's score depends on its list: true if it does for any member."""
        return any(member.scorer_.list_aware for member in self.members)

    @property
    def size(self) -> Size | None:
        """What it takes and gives."""
        return Size("members", self.members[0].n_features_in_)

    def predict(
        self,
        X: Any,
        offsets: np.ndarray,
        n_jobs: int | None = None,
        query_features: np.ndarray | None = None,
        relations: Any = None,
    ) -> np.ndarray:
        """Score of each row."""
        return self.score_lists(unlabelled(X, offsets, query_features, relations), n_jobs)

    def score_lists(self, data: RankingDataset, n_jobs: int | None) -> np.ndarray:
        """Score of each row of a dataset without labels."""
        raise NotImplementedError


def pack_members(rankers: Sequence[Member]) -> dict[str, np.ndarray]:
    """The rankers as named arrays, those of member i with the prefix ``i.``."""
    packed = [ranker.pack() for ranker in rankers]
    headers = json.dumps([header for header, _ in packed], ensure_ascii=False).encode()
    arrays = {"members": np.frombuffer(headers, np.uint8)}
    for i, (_, parts) in enumerate(packed):
        arrays |= {f"{i}.{name}": array for name, array in parts.items()}
    return arrays


def unpack_members(arrays: dict[str, np.ndarray]) -> tuple[Member, ...]:
    """The rankers that `pack_members` wrote, as models that score."""
    from plackett.scorers.model import ScoringModel

    headers = json.loads(arrays["members"].tobytes())
    if not isinstance(headers, list) or not 0 < len(headers) <= len(arrays):  # every member has arrays
        raise DataError("the members of the model are damaged")
    parts: list[dict[str, np.ndarray]] = [{} for _ in headers]
    for name, array in arrays.items():
        number, dot, rest = name.partition(".")
        if dot and number.isdecimal() and int(number) < len(parts):
            parts[int(number)][rest] = array
    return tuple(ScoringModel(header, part) for header, part in zip(headers, parts, strict=True))


def same_features(rankers: Sequence[Member]) -> tuple[Member, ...]:
    """The members of a file, which score the same features."""
    for ranker in rankers:
        if ranker.n_features_in_ != rankers[0].n_features_in_:
            numbers = [each.n_features_in_ for each in rankers]
            raise DataError(f"array 'members' has rankers of different numbers of features: {numbers}")
    return tuple(rankers)


@dataclass(frozen=True)
class _Members(StoredField):
    same_features: bool

    def write(self, name: str, value: Any) -> Arrays:
        return pack_members(value)

    def read(self, name: str, arrays: Arrays, sizes: Sizes) -> Any:
        value = unpack_members(arrays)
        sizes["members"] = len(value)
        return same_features(value) if self.same_features else value


def trained(*, same_features: bool = True) -> Any:
    """Trained rankers; their number is the dimension ``members``."""
    return declared(_Members(same_features))
