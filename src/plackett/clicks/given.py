"""Columns of a log from what a caller gives: tables, lists of lists, or flat arrays with lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.grouping import as_given, ids_array


class GivenPages:
    """The shape of pages, by that of their documents: it makes columns with one entry per row or per page."""

    def __init__(self, documents: Any, lengths: Any, n_pages: int) -> None:
        self.lengths = lengths
        self.documents, self.sizes = _flat(documents, lengths, "documents")
        if self.sizes.size != n_pages:
            raise DataError(f"{self.sizes.size} lists of documents for {n_pages} queries")

    def rows(self, values: Any, name: str, dtype: Any) -> np.ndarray:
        """Numbers of the rows."""
        flat_values, sizes = _flat(values, self.lengths, name)
        if not np.array_equal(sizes, self.sizes):
            raise DataError(f"{name} does not have the shape of documents")
        return _numbers(flat_values, name, dtype)

    def pages(self, values: Any, name: str, dtype: Any = None) -> np.ndarray:
        """One entry per page, of any type or as numbers."""
        per_page = np.asarray(values)
        if per_page.shape != self.sizes.shape:
            raise DataError(f"{name} has shape {per_page.shape}, but there are {self.sizes.size} pages")
        return per_page if dtype is None else _numbers(per_page, name, dtype)


def _flat(values: Any, lengths: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Values of all pages one after another, and how many each page has."""
    if lengths is not None:
        flat, sizes = as_given(values), np.asarray(lengths, np.int64)
        if flat.ndim != 1 or sizes.ndim != 1 or sizes.sum() != flat.size or (sizes < 0).any():
            raise DataError(f"{name}: the lengths must be whole numbers that sum to the {flat.size} entries")
        return flat, sizes
    if isinstance(values, np.ndarray) and values.dtype != object:
        if values.ndim != 2:
            raise DataError(f"{name} must be a table of pages × ranks, or flat with lengths; got shape {values.shape}")
        return values.reshape(-1), np.full(values.shape[0], values.shape[1], np.int64)
    lists: Sequence[Any] = [as_given(page) for page in values]
    sizes = np.array([page.size for page in lists], np.int64)
    kept = [page for page in lists if page.size]
    return (np.concatenate(kept) if kept else ids_array(np.zeros(0, np.int64))), sizes


def _numbers(values: Any, name: str, dtype: Any) -> np.ndarray:
    try:
        numbers = np.asarray(values).astype(np.float64 if dtype is np.int32 else dtype)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be numbers") from None
    if dtype is not np.int32:
        return numbers
    too_large = np.flatnonzero(np.abs(numbers) > np.iinfo(np.int32).max)
    if too_large.size:
        raise DataError(f"{name}[{too_large[0]}] is {numbers[too_large[0]]:.0f}, which is too large")
    if not (np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all()):
        raise DataError(f"{name} must be whole numbers")
    return numbers.astype(np.int32)
