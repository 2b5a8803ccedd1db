"""Read datasets for commands: any format, columns as the user named them, features as the model expects them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._names.nearest import plural
from plackett.cli.arguments import TableColumns
from plackett.data.dataset import RankingDataset
from plackett.data.files import LETOR, TABLES, format_of, read


def read_data(
    path: Path, columns: TableColumns, *, labels_needed: bool | str = True, drop_text: bool = False
) -> RankingDataset:
    """Read a dataset from a file; ``drop_text`` leaves out columns that are not numbers, where they do not matter."""
    options = columns.options()
    if format_of(path) in TABLES:
        options |= {"labels_needed": labels_needed, "drop_text": drop_text}
    data = read(path, **options)
    if labels_needed is True and data.y is None and data.preferences is None:
        raise DataError(f"{path}: the dataset has no labels, which this command needs")
    return completed(data, columns)


def completed(data: RankingDataset, columns: TableColumns) -> RankingDataset:
    """The dataset with the relations and query features that the command line asks for."""
    from plackett.cli.side_data import with_query_features, with_relations

    if columns.query_features_file is not None:
        data = with_query_features(data, columns.query_features_file)
    return with_relations(data, columns.relations) if columns.relations else data


def read_like(
    path: Path,
    columns: TableColumns,
    n_features: int,
    names: Sequence[str] | None,
    categories: Iterable[str] | None = (),
    *,
    labels_needed: bool = True,
) -> RankingDataset:
    """Read a dataset with the same features as another dataset or a model.

    LETOR text lists only non-zero features, so their number has to be known. In a table, features are found by column
    name, in any order, and those that hold categories there hold categories here.
    """
    format = format_of(path)
    if format is LETOR:
        return completed(read(path, n_features=n_features, **columns.options()), columns)
    if format in TABLES:
        columns = replace(columns, categories=(*dict.fromkeys((*columns.categories, *(categories or ()))),))
    if format not in TABLES or names is None or columns.features:
        return read_data(path, columns, labels_needed=labels_needed)
    try:
        dataset = read(path, **columns.options(), features=list(names), labels_needed=labels_needed)
    except DataError as error:
        try:  # lists of numbers in one column are several features
            data = read_data(path, columns, labels_needed=labels_needed)
        except DataError:
            raise error from None
        if data.feature_names != tuple(names):
            raise error from None
        return data
    return completed(dataset, columns)


def scores_of(scores: Path, dataset: RankingDataset, data: Path) -> np.ndarray:
    """Read a file of scores, one line per document of the data, into the order of the dataset."""
    from plackett.data.scores import read_scores

    values = read_scores(scores)
    if values.size != dataset.n_rows:
        given, expected = plural(values.size, "score"), plural(dataset.n_rows, "document")
        raise DataError(f"{scores} has {given}, but {data} has {expected}; a score file has one line per document")
    return dataset.from_input_order(values)


def load_with(model: Path, data: Path, columns: TableColumns, *, estimator: bool = False) -> tuple[Any, RankingDataset]:
    """Load what scores of a saved model, or with ``estimator`` the ranker itself, and the dataset to score.

    Labels are not needed. Models of other tools do not record the number of features: it is taken from the data, or
    from the features used if those are more.
    """
    from plackett._load import foreign_reader, load, load_to_score

    foreign = foreign_reader(model)
    if foreign is None:
        ranker = load(model) if estimator else load_to_score(model)
        first = ranker.steps[0][1] if hasattr(ranker, "steps") else ranker
        names = getattr(first, "feature_names_in_", None)
        categories = getattr(first, "categories_", None)
        return ranker, read_like(data, columns, first.n_features_in_, names, categories, labels_needed=False)
    used, dataset = foreign(model).n_features_in_, read_data(data, columns, labels_needed=False)
    if dataset.n_features < used:
        dataset = read_like(data, columns, used, None, labels_needed=False)
    return foreign(model, n_features=dataset.n_features), dataset
