"""Reading a dataset that goes with another one or with a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plackett.data.dataset import RankingDataset
from plackett.data.files import LETOR, format_of, read

__all__ = ["load_with", "read_like"]


def read_like(path: Path, n_features: int) -> RankingDataset:
    """Dataset with this number of features: LETOR text names only those that are not 0."""
    options = {"n_features": n_features} if format_of(path) is LETOR else {}
    return read(path, **options)


def load_with(model: Path, data: Path) -> tuple[Any, RankingDataset]:
    """A saved ranker and the dataset that it is to score.

    Models of other tools do not say how many features there were: they get as many as the data have, or they use.
    """
    from plackett._load import foreign_reader
    from plackett.rankers.storage import load

    foreign = foreign_reader(model)
    if foreign is None:
        ranker = load(model)
        return ranker, read_like(data, ranker.n_features_in_)
    used, found = foreign(model).n_features_in_, read(data)
    if found.n_features < used:
        found = read_like(data, used)
    return foreign(model, n_features=found.n_features), found
