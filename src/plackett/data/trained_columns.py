"""The columns of a frame as seen in training: their names, their order and the meaning of category codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.categories import category_codes, refuse_categories, with_codes_of
from plackett.data.dataset import RankingDataset

#: How many names an error message lists.
_LISTED = 5


@dataclass(frozen=True)
class TrainedColumns:
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
            advice = f"; leave {'it' if len(extra) == 1 else 'them'} out" if extra and not missing else ""
            twice = f"has {len(names)} columns, some of them twice"
            raise DataError(f"{where} {' and '.join(differences) or twice}{advice}")
        position = {name: i for i, name in enumerate(names)}
        return [position[name] for name in self.names]

    def aligned(self, data: RankingDataset, where: str = "X") -> RankingDataset:
        """The dataset with its features in training order, if both have names, and with the codes seen in training.

        What comes of it has plain numbers: which of them are codes is known from ``categories`` alone.
        """
        if data.feature_names is None:
            return data
        order = self.order(data.feature_names, where)
        data = data if order is None else data.replace(X=data.X[:, order], feature_names=self.names)
        if not data.categories:
            return data
        refuse_categories(
            {name: data.categories[name] for name in data.categories.keys() - self.categories}, self.ranker
        )
        return with_codes_of(data, self.categories).replace(categories=None)

    def codes(self, column: Any, name: str) -> np.ndarray:
        """A categorical column as codes; NaN for missing and unknown values."""
        return category_codes(column, self.categories[name])


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    word = "the column" if len(names) == 1 else "the columns"
    return f"{word} {', '.join(map(repr, names[:_LISTED]))}{more}"
