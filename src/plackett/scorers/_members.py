"""Trained rankers inside a scorer: how they score, and how they are stored."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from plackett._errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.models.parameters import from_plain
from plackett.rankers.base import Ranker

__all__ = [
    "member_scores",
    "pack_members",
    "same_features",
    "trained_member",
    "unlabelled",
    "unpack_base",
    "unpack_members",
]


def unlabelled(
    X: Any, offsets: np.ndarray, query_features: np.ndarray | None = None, relations: Any = None
) -> RankingDataset:
    """Lists to score, as a dataset."""
    queries = np.arange(offsets.size - 1)
    return RankingDataset(
        X=X, y=None, offsets=offsets, qids=queries, query_features=query_features, relations=relations
    )


def member_scores(ranker: Ranker, data: RankingDataset, n_jobs: int | None) -> np.ndarray:
    """Scores of a member, computed with this many threads."""
    member = copy(ranker)
    member.n_jobs = n_jobs
    return member._score_rows(data)


def trained_member(base: Ranker, data: RankingDataset) -> Ranker:
    """A trained copy of a ranker, for scorers that train at prediction time."""
    from plackett.rankers.wrapper import train_quietly

    return train_quietly(base, data)


def unpack_base(text: Any) -> Ranker:
    """An untrained ranker, from its parameters as `to_plain` writes them."""
    base = from_plain(text)
    if not isinstance(base, Ranker):
        raise DataError("the base ranker of the model is damaged")
    return base


def pack_members(rankers: Sequence[Ranker]) -> dict[str, np.ndarray]:
    """The rankers as named arrays, those of member i with the prefix ``i.``."""
    from plackett.rankers.storage import pack

    packed = [pack(ranker) for ranker in rankers]
    headers = json.dumps([header for header, _ in packed], ensure_ascii=False).encode()
    arrays = {"members": np.frombuffer(headers, np.uint8)}
    for i, (_, parts) in enumerate(packed):
        arrays |= {f"{i}.{name}": array for name, array in parts.items()}
    return arrays


def unpack_members(arrays: dict[str, np.ndarray]) -> tuple[Ranker, ...]:
    """The rankers that `pack_members` wrote."""
    from plackett.rankers.storage import unpack

    headers = json.loads(arrays["members"].tobytes())
    if not isinstance(headers, list) or not 0 < len(headers) <= len(arrays):  # every member has arrays
        raise DataError("the members of the model are damaged")
    parts: list[dict[str, np.ndarray]] = [{} for _ in headers]
    for name, array in arrays.items():
        number, dot, rest = name.partition(".")
        if dot and number.isdecimal() and int(number) < len(parts):
            parts[int(number)][rest] = array
    return tuple(unpack(header, part) for header, part in zip(headers, parts, strict=True))


def same_features(rankers: Sequence[Ranker]) -> tuple[Ranker, ...]:
    """The members of a file, which score the same features."""
    for ranker in rankers:
        if ranker.n_features_in_ != rankers[0].n_features_in_:
            numbers = [each.n_features_in_ for each in rankers]
            raise DataError(f"array 'members' has rankers of different numbers of features: {numbers}")
    return tuple(rankers)
