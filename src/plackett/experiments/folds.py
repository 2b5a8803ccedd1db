"""The folds of an experiment: given, cut from a dataset, or made by a splitter."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.added import without_added
from plackett.data.dataset import RankingDataset
from plackett.data.ids import common
from plackett.data.splits import Fold, letor_folds, split_by_time


def named_folds(data: Any, folds: Any, *, validation: bool) -> tuple[Iterator[tuple[Any, Any]], int | None]:
    """Folds with their names (numbered from 1 if they have none), and how many there are, if known.

    Folds are read and checked when needed: every part is a dataset, no query has two roles, and with ``validation``
    there is a validation part. Documents that were added to the candidates stay in the training parts only.
    """
    if isinstance(data, RankingDataset) and folds == "time":
        splits: Any = [Fold(*split_by_time(data))]
    elif isinstance(data, RankingDataset):
        splits = letor_folds(data, int(folds)) if isinstance(folds, (int, np.integer)) else _split(data, folds)
    else:
        splits = data
    named = splits.items() if isinstance(splits, Mapping) else enumerate(splits, 1)
    number = len(splits) if hasattr(splits, "__len__") else None
    return ((name, _checked(name, fold, validation)) for name, fold in named), number


def _split(data: RankingDataset, splitter: Any) -> Iterator[Fold]:
    """Folds without a validation part, from our splitters (whole datasets) or scikit-learn's (row numbers)."""
    if not hasattr(splitter, "get_n_splits"):
        raise TypeError(
            f"folds={splitter!r}; give a number of parts, 'time', or a splitter such as plackett.QueryKFold"
        )
    if "qid" in inspect.signature(splitter.split).parameters:
        for train, test in splitter.split(data):
            yield Fold(train, None, test)
        return
    query = data.query_of_row
    for train, test in splitter.split(data.X, data.y, query):
        both = np.intersect1d(query[train], query[test])
        if both.size:
            raise DataError(
                f"{type(splitter).__name__} cuts query {data.qids[both[0]]} in two; use plackett.QueryKFold"
            )
        yield Fold(data.select(np.unique(query[train])), None, data.select(np.unique(query[test])))


def _checked(name: Any, fold: Any, validation: bool) -> Any:
    """The fold, after checking that its parts are datasets without common queries."""
    parts: dict[str, Any] = {role: getattr(fold, role, None) for role in ("train", "valid", "test")}
    if parts["valid"] is None:
        del parts["valid"]
        if validation:
            raise DataError(
                f"fold {name} has no validation part, which is needed to choose settings and rounds; without a search "
                "it is not needed"
            )
    for role, part in parts.items():
        if not isinstance(part, RankingDataset):
            raise DataError(
                f"fold {name}: {role} is {type(part).__name__}; each fold needs datasets train, valid, test"
            )
    for (one, a), (other, b) in itertools.combinations(parts.items(), 2):
        both = common(a.qids, b.qids)
        if both.size:
            raise DataError(
                f"fold {name}: query {both[0]} is in {one} and in {other} ({both.size} queries are); "
                "each query must have one role"
            )
    measured = {role: without_added(part) for role, part in parts.items() if role != "train"}
    if all(measured[role] is parts[role] for role in measured):
        return fold
    return Fold(parts["train"], measured.get("valid"), measured["test"])
