"""The columns of a frame as seen in training: their names, their order and the meaning of category codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plackett._errors import DataError
from plackett.data.dataset import RankingDataset

__all__ = ["Columns", "category_columns"]

#: How many names an error message lists.
_LISTED = 5


@dataclass(frozen=True)
class Columns:
    """The columns that a fitted ranker expects in a frame.

    Parameters
    ----------
    names
        The features in training order; None if they have no names.
    categories
        The values of each categorical column, in the order of their codes.
    ranker
        Name of the ranker, for error messages.
    """

    names: tuple[str, ...] | None = None
    categories: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    ranker: str = "the ranker"

    def order(self, names: Sequence[str], where: str = "X") -> list[int] | None:
        """Index in ``names`` of each training feature; None if the order already matches."""
        if self.names is None or tuple(names) == self.names:
            return None
        missing = [name for name in self.names if name not in set(names)]
        extra = [name for name in names if name not in set(self.names)]
        if missing or extra or len(names) != len(self.names):
            differences = [f"lacks {_listed(missing)}"] if missing else []
            differences += [f"has {_listed(extra)}, which {self.ranker} was not trained on"] if extra else []
            raise DataError(f"{where} {' and '.join(differences) or f'has {len(names)} columns, some of them twice'}")
        position = {name: i for i, name in enumerate(names)}
        return [position[name] for name in self.names]

    def aligned(self, data: RankingDataset, where: str = "X") -> RankingDataset:
        """The dataset with its features in training order, if both have names."""
        if data.feature_names is None:
            return data
        order = self.order(data.feature_names, where)
        return data if order is None else data.replace(X=data.X[:, order], feature_names=self.names)

    def codes(self, column: Any, name: str) -> np.ndarray:
        """A categorical column as codes; NaN for missing and unknown values."""
        known = list(self.categories[name])
        if hasattr(column, "iloc"):  # pandas
            import pandas as pd

            index = pd.Index(known)
            if isinstance(column.dtype, pd.CategoricalDtype):
                known_codes = np.append(index.get_indexer(column.cat.categories), -1)  # code -1 is a missing value
                codes = known_codes[column.cat.codes]
            else:
                codes = index.get_indexer(column)
            return np.where(codes < 0, np.nan, codes).astype(np.float32)
        import polars as pl

        if column.dtype in (pl.Categorical, pl.Enum):
            column = column.cast(pl.String)
        codes = dict(zip(known, range(len(known)), strict=True))
        unique = column.unique().drop_nulls()
        table = {value: float(codes[value]) for value in unique.to_list() if value in codes}
        if not table:
            return np.full(column.len(), np.nan, np.float32)
        return column.replace_strict(table, default=None, return_dtype=pl.Float32).to_numpy()


def category_columns(frame: Any) -> dict[str, list[Any]]:
    """The categorical columns of a frame (pandas' ``category``, polars' `Categorical` and `Enum`), with values.

    >>> import pandas as pd
    >>> category_columns(pd.DataFrame({"brand": pd.Categorical(["b", "a"]), "price": [1.0, 2.0]}))
    {'brand': ['a', 'b']}
    """
    columns: dict[str, list[Any]] = {}
    for name, dtype in zip(frame.columns, frame.dtypes, strict=True):
        if hasattr(dtype, "categories") and hasattr(frame, "iloc"):
            values = frame[name].cat.categories.tolist()
        elif str(dtype).startswith("Enum"):
            values = dtype.categories.to_list()
        elif str(dtype).startswith("Categorical"):
            # sorted: the order of appearance would make the codes depend on the order of the rows
            values = sorted(frame[name].cast(str).unique().drop_nulls().to_list())
        else:
            continue
        odd = [value for value in values if not isinstance(value, (str, bool, int, float))]
        if odd:
            raise DataError(
                f"the categories of column {name!r} are of type {type(odd[0]).__name__}; convert them to text with "
                "astype(str).astype('category')"
            )
        columns[name] = values
    return columns


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    word = "the column" if len(names) == 1 else "the columns"
    return f"{word} {', '.join(map(repr, names[:_LISTED]))}{more}"
