"""Features of queries: given, taken from columns, or computed from the documents of each list."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError, in_shell
from plackett.data.dense import dense
from plackett.data.mapped import query_blocks
from plackett.scorers.fields import Arrays, Sizes, Stored, StoredField, array, choice, declared, number, part_of

_SOURCES = ("given", "columns", "computed")


#: Rows that are in memory at a time.
_ROWS = 8_192


def list_statistics(X: Any, offsets: np.ndarray, reference: int = -1, top: int = 0) -> np.ndarray:
    """Mean and standard deviation of each feature over the best documents of each list, queries × 2 features.

    The best documents are the ``top`` ones by the column ``reference``; all of them if either is not given. Missing
    values are left out. Sums are rounded to float32, so that the order of documents hardly matters.
    """
    blocks = list(query_blocks(offsets, _ROWS)) or [(0, 0)]
    tables = []
    for lo, hi in blocks:
        rows = slice(int(offsets[lo]), int(offsets[hi]))
        tables.append(_statistics(X[rows], offsets[lo : hi + 1] - rows.start, reference, top))
    return np.concatenate(tables)


def _statistics(X: Any, offsets: np.ndarray, reference: int, top: int) -> np.ndarray:
    from scipy.sparse import csr_matrix

    from plackett.scorers.nested import best_rows

    sizes = np.diff(offsets)
    rows = np.arange(offsets[-1])
    if reference >= 0 and top > 0:
        column = np.asarray(dense(X[:, [reference]])[:, 0], np.float64)
        rows = best_rows(np.nan_to_num(column, nan=-1e300), np.arange(column.size), offsets, top)
        sizes = np.diff(np.searchsorted(rows, offsets))
    values = np.asarray(dense(X[rows]), np.float64)
    bounds = np.concatenate(([0], np.cumsum(sizes)))
    pick = csr_matrix((np.ones(rows.size), np.arange(rows.size), bounds), shape=(sizes.size, rows.size))
    known = ~np.isnan(values)
    count = np.maximum(pick @ known, 1.0)
    filled = np.where(known, values, 0.0)
    mean = pick @ filled / count
    far = np.where(known, filled - np.repeat(mean, sizes, axis=0), 0.0)
    return np.hstack([mean, np.sqrt(pick @ far**2 / count)]).astype(np.float32)


@dataclass(frozen=True)
class QueryMap(Stored):
    """How the standardised features of queries are made.

    Parameters
    ----------
    source
        ``"given"`` (those of the dataset), ``"columns"`` (columns of X, constant in a query) or ``"computed"``
        (`list_statistics`).
    columns
        The columns, for ``"columns"``.
    reference, top
        For ``"computed"``.
    kept, mean, scale
        Which features differ between training queries, and how they are standardised. Others are left out.
    width
        How many features there are before some are left out.
    """

    kind: ClassVar[str] = "query_map"
    source: str = choice(lambda: _SOURCES)
    columns: np.ndarray = array("columns", np.int64, least=0)
    reference: int = number(least=-1)
    top: int = number()
    kept: np.ndarray = array("kept", np.int64, least=0)
    mean: np.ndarray = array("kept")
    scale: np.ndarray = array("kept", positive=True)
    width: int = number()

    @classmethod
    def fitted(
        cls,
        source: str,
        X: Any,
        offsets: np.ndarray,
        given: np.ndarray | None,
        *,
        columns: np.ndarray | None = None,
        reference: int = -1,
        top: int = 0,
    ) -> QueryMap:
        """The map, standardised on training queries."""
        none: np.ndarray = np.empty(0)
        columns = np.empty(0, np.int64) if columns is None else columns
        unscaled = cls(source, columns, reference, top, np.empty(0, np.int64), none, none, 0)
        raw = unscaled.raw(X, offsets, given)
        known = np.where(np.isnan(raw), 0.0, raw)
        count = np.maximum((~np.isnan(raw)).sum(axis=0), 1)
        mean = known.sum(axis=0) / count
        spread = np.sqrt(np.where(np.isnan(raw), 0.0, (raw - mean) ** 2).sum(axis=0) / count)
        # the spread of a constant column is rounding noise
        kept = np.flatnonzero(spread > 1e-6 * np.maximum(np.abs(mean), 1e-30))
        return replace(unscaled, kept=kept, mean=mean[kept], scale=spread[kept], width=raw.shape[1])

    def raw(self, X: Any, offsets: np.ndarray, given: np.ndarray | None) -> np.ndarray:
        """The features before standardising, float64."""
        if self.source == "given":
            if given is None:
                advice = (
                    "pass the --query-features of training"
                    if in_shell()
                    else "score a RankingDataset with query_features (RankingDataset.from_arrays(X, qid=qid, "
                    "query_features=…))"
                )
                raise DataError(f"this ranker was trained with query features, which the data do not have: {advice}")
            return np.asarray(given, np.float64)
        if self.source == "columns":
            table = np.full((offsets.size - 1, self.columns.size), np.nan)
            some = np.flatnonzero(np.diff(offsets))
            table[some] = dense(X[offsets[:-1][some]][:, self.columns])
            return table
        return list_statistics(X, offsets, self.reference, self.top).astype(np.float64)

    def __call__(self, X: Any, offsets: np.ndarray, given: np.ndarray | None = None) -> np.ndarray:
        """Standardised features, queries × kept features; 0 (the mean) where missing."""
        raw = self.raw(X, offsets, given)
        if raw.shape[1] != self.width:
            raise DataError(f"query_features has {raw.shape[1]} columns, but {self.width} in training")
        z = (raw[:, self.kept] - self.mean) / self.scale
        return np.nan_to_num(z, nan=0.0)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.kept.size

    def check(self) -> None:
        """Features that are kept are there, in ascending order."""
        ascend = (self.kept[1:] > self.kept[:-1]).all() and self.kept.max(initial=-1) < self.width
        self.check_that(ascend, "it keeps query features that are not there")


@dataclass(frozen=True)
class _QueryMap(StoredField):
    def write(self, name: str, value: Any) -> Arrays:
        return {f"z.{key}": entry for key, entry in value.to_arrays().items()}

    def read(self, name: str, arrays: Arrays, sizes: Sizes) -> Any:
        value = QueryMap.from_arrays(part_of(arrays, "z"))
        sizes["z"] = value.n_features
        return value

    def is_absent(self, name: str, arrays: Arrays) -> bool:
        return "z.kept" not in arrays


def query_features(*, optional: bool = False) -> Any:
    """How the features of a query are made; their number is the dimension ``z``."""
    return declared(_QueryMap(optional=optional))
