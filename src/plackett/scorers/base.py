"""Base class of scorers, the predictors of fitted rankers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from plackett._base.errors import DataError


class Size(NamedTuple):
    """How many features a scorer takes and how many scores it gives per document, and the arrays that decide it."""

    array: str
    n_features: int
    n_outputs: int = 1
    #: Where another array decides the number of scores.
    output_array: str | None = None


class Scorer(Protocol):
    """A trained scoring function. It is stored as plain arrays; loading one never runs code from the file.

    A scorer has a property ``size``, by which a model file is checked when it is loaded. Only that of a cascade has
    none: its stages see different features, and each is checked as a ranker.
    """

    kind: ClassVar[str]

    @property
    def list_aware(self) -> bool:
        """Whether a document's score depends on the other documents of its list."""

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row, or one score per output; ``offsets`` matter only to list-aware models."""

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays."""

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        """The scorer that `to_arrays` wrote."""


def check_finite(arrays: Mapping[str, np.ndarray]) -> None:
    """Reject arrays of a file with entries that are not finite numbers."""
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise DataError(f"array {name!r} has an entry that is not finite")


def _one(n_outputs: int) -> bool:
    return n_outputs == 1


def check_size(scorer: Any, owner: str, n_features: int | None, takes: Callable[[int], bool] = _one) -> None:
    """Reject a scorer of a file that does not fit its owner.

    Parameters
    ----------
    n_features
        Number of features that it must take; None if it does not matter.
    takes
        Whether the owner makes one score per document of this number of outputs; by default, of one only.
    """
    size = getattr(scorer, "size", None)
    if size is None:
        return
    if n_features is not None and size.n_features != n_features:
        raise DataError(f"array {size.array!r} is for {size.n_features} features, but the {owner} has {n_features}")
    query_map = getattr(scorer, "query_map", None)
    if query_map is not None and max(query_map.columns.max(initial=-1), query_map.reference) >= size.n_features:
        raise DataError(f"array 'z.columns' or 'z.head' names a feature beyond the {size.n_features} of the {owner}")
    if not takes(size.n_outputs):
        array = size.output_array or size.array
        raise DataError(f"array {array!r} gives {size.n_outputs} score(s) per document, which do not fit the {owner}")
