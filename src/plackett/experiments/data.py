"""The data of an experiment: one dataset, folds, one split, or several of these by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.required import check_dataset
from plackett.data.splits import Fold
from plackett.experiments.folds import named_folds

#: Folds by dataset and fold.
Folds = dict[str, dict[Any, Any]]


def folds_by_dataset(data: Any, folds: Any = 5, *, validation: bool = True) -> Folds:
    """Folds by dataset and name, checked: every part is a dataset, no query has two roles.

    Parameters
    ----------
    data
        A `RankingDataset`, cut by ``folds``; one split (an object with ``train``, ``valid`` and ``test``, or a tuple of
        these three); a list of splits; the name of a public dataset (`plackett.datasets`), with its official folds; or
        a dict of any of these by name.
    folds
        As in `cross_validate`.
    validation
        Whether a fold without a validation part is an error.

    Examples
    --------
    >>> data = RankingDataset.from_arrays([[0.0]] * 10, [0, 1] * 5, qid=[i // 2 for i in range(10)])
    >>> {name: list(folds) for name, folds in folds_by_dataset({"mine": data}).items()}
    {'mine': [1, 2, 3, 4, 5]}
    """
    named = data if isinstance(data, Mapping) else {_name(data): data}
    folds_of: Folds = {}
    for name, given in named.items():
        try:
            splits, _ = named_folds(_splits(given), folds, validation=validation)
            folds_of[str(name)] = dict(splits)
        except DataError as error:
            known = isinstance(given, str)  # errors about a public dataset already name it
            raise DataError(f"{name}: {error}" if isinstance(data, Mapping) and not known else str(error)) from None
        if not folds_of[str(name)]:
            raise DataError(f"{name} has no folds")
    if not folds_of:
        raise DataError("data is an empty dict; give at least one dataset")
    return folds_of


def _name(data: Any) -> str:
    return data if isinstance(data, str) else "data"


def _splits(given: Any) -> Any:
    """The data in a form that `named_folds` accepts."""
    if isinstance(given, RankingDataset):
        return given
    if isinstance(given, str):
        return _public(given)
    if isinstance(given, tuple) and len(given) == 3 and all(isinstance(p, (RankingDataset, type(None))) for p in given):
        return [Fold(*given)]
    if hasattr(given, "train") and hasattr(given, "test"):
        return [given]
    if isinstance(given, Mapping) or (hasattr(given, "__iter__") and not hasattr(given, "n_rows")):
        splits = given if isinstance(given, Mapping) else list(given)
        parts = splits.values() if isinstance(splits, Mapping) else splits
        if any(isinstance(split, RankingDataset) for split in parts):
            raise DataError("this is a list of datasets; turn parts into folds with plackett.letor_folds(parts)")
        if all(hasattr(split, "train") and hasattr(split, "test") for split in parts):
            return splits
    if hasattr(given, "columns"):
        check_dataset(given)
    raise DataError(
        f"data is {type(given).__name__}; give a RankingDataset, a split with train, valid and test, a list of splits, "
        "the name of a public dataset, or a dict of these by name"
    )


def _public(name: str) -> list[Any]:
    from plackett.datasets import load
    from plackett.datasets.registry import info

    try:
        facts = info(name)
    except DataError:
        if not Path(name).exists():
            raise
        reader = "read_folds" if Path(name).is_dir() else "read"
        raise DataError(
            f"{name!r} is a {'folder' if Path(name).is_dir() else 'file'}, not the name of a public dataset; read it "
            f"first: pk.{reader}({name!r})"
        ) from None
    numbers: list[int | None] = list(range(1, facts.n_folds + 1)) or [None]
    return [load(name, fold=number) for number in numbers]
