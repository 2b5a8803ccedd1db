"""Datasets whose categories have the same codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.categories import recoded
from plackett.data.dataset import RankingDataset


def with_codes_of(data: RankingDataset, known: Mapping[str, Sequence[Any]]) -> RankingDataset:
    """The dataset with the codes of other lists of values, and these lists; values that are not in them become NaN."""
    own = data.categories or {}
    changed = [name for name in own if tuple(known[name]) != own[name]]
    if not changed:
        return data
    X = np.array(data.X)
    for name in changed:
        j = (data.feature_names or ()).index(name)
        X[:, j] = recoded(X[:, j], own[name], known[name])
    return data.replace(X=X, categories={name: known[name] for name in own})


def with_same_codes(parts: Sequence[RankingDataset]) -> list[RankingDataset]:
    """Datasets with one list of values for each feature that holds categories: those of the first, then the others'."""
    maps = [part.categories or {} for part in parts]
    for number, own in enumerate(maps):
        if own.keys() != maps[0].keys():
            name = sorted(own.keys() ^ maps[0].keys())[0]
            first, other = (0, number) if name in maps[0] else (number, 0)
            raise DataError(f"feature {name!r} holds categories in dataset {first}, and numbers in dataset {other}")
    joined = {name: tuple(dict.fromkeys(value for own in maps for value in own[name])) for name in maps[0]}
    return [with_codes_of(part, joined) for part in parts]
