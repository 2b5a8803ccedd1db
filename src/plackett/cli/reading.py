"""Reading datasets for commands: any format, columns as the user named them, features as a model knows them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plackett._errors import DataError
from plackett.cli.arguments import TableColumns
from plackett.data.dataset import RankingDataset
from plackett.data.files import LETOR, TABLES, format_of, read

__all__ = ["load_with", "read_data", "read_like"]


def read_data(path: Path, columns: TableColumns, *, labels_needed: bool = True) -> RankingDataset:
    """The dataset of a file."""
    options = columns.options()
    if not labels_needed and format_of(path) in TABLES:
        options["labels_needed"] = False
    return read(path, **options)


def read_like(
    path: Path, columns: TableColumns, n_features: int, names: Sequence[str] | None, *, labels_needed: bool = True
) -> RankingDataset:
    """Dataset with the features of another one or of a model.

    LETOR text names only features that are not 0, so their number has to be known. Of a table those columns are
    taken that the features are called, whatever their order.
    """
    format = format_of(path)
    if format is LETOR:
        return read(path, n_features=n_features, **columns.options())
    if format not in TABLES or names is None or columns.features:
        return read_data(path, columns, labels_needed=labels_needed)
    try:
        return read(path, **columns.options(), features=list(names), labels_needed=labels_needed)
    except DataError as error:
        try:  # lists of numbers in one column are several features
            data = read_data(path, columns, labels_needed=labels_needed)
        except DataError:
            raise error from None
        if data.feature_names != tuple(names):
            raise error from None
        return data


def load_with(model: Path, data: Path, columns: TableColumns) -> tuple[Any, RankingDataset]:
    """A saved ranker and the dataset that it is to score; labels are not needed.

    Models of other tools do not say how many features there were: they get as many as the data have, or they use.
    """
    from plackett._load import foreign_reader
    from plackett.rankers.storage import load

    foreign = foreign_reader(model)
    if foreign is None:
        ranker = load(model)
        names = getattr(ranker, "feature_names_in_", None)
        return ranker, read_like(data, columns, ranker.n_features_in_, names, labels_needed=False)
    used, found = foreign(model).n_features_in_, read_data(data, columns, labels_needed=False)
    if found.n_features < used:
        found = read_like(data, columns, used, None, labels_needed=False)
    return foreign(model, n_features=found.n_features), found
