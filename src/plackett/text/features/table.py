"""A column of a table as a feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from plackett._base.errors import DataError
from plackett._files.checks import check_regular
from plackett._files.parquet import parquet_frame
from plackett.data.tables import what_is_wrong
from plackett.text.features.base import Batch, Feature
from plackett.text.index.index import Index

__all__ = ["TableFeature"]

#: Keys by which a pair can be looked up.
_KEYS = (("docid",), ("qid",), ("query",), ("qid", "docid"), ("query", "docid"))


@dataclass(frozen=True, kw_only=True)
class TableFeature(Feature):
    """A number from a table, found by document, query or both: clicks, prices, spam scores.

    Parameters
    ----------
    table
        A polars or pandas frame, or the name of a CSV or parquet file.
    column
        Its column with the numbers.
    by
        Columns to look a pair up by: ``"docid"``, and ``"qid"`` or ``"query"`` (the text of the query, in lower case
        and without extra blanks). Query ids are known to training data alone; a search knows the text. Pairs that the
        table lacks are NaN.
    name, transform
        See `Feature`.

    Examples
    --------
    >>> import polars as pl
    >>> TableFeature(table=pl.DataFrame({"docid": ["a"], "clicks": [3]}), column="clicks").title
    'clicks'
    """

    key: ClassVar[str] = "table"

    table: Any = field(hash=False, compare=False)
    column: str
    by: Sequence[str] = ("docid",)

    def _check(self) -> None:
        object.__setattr__(self, "by", (self.by,) if isinstance(self.by, str) else tuple(self.by))
        if self.by not in _KEYS:
            raise DataError(f"table: by={list(self.by)!r}; give one of {', '.join(str(list(key)) for key in _KEYS)}")
        frame = _frame(self.table, self.by)
        for name in (*self.by, self.column):
            if name not in frame.columns:
                raise DataError(f"the table has no column {name!r}; it has {', '.join(frame.columns)}")
        object.__setattr__(self, "_cells", _cells(frame, self.by, self.column))
        object.__setattr__(self, "_sorted", WeakKeyDictionary())

    @property
    def stream(self) -> str:
        """Where the table is."""
        return str(self.table) if isinstance(self.table, (str, Path)) else "table"

    @property
    def by_query(self) -> bool:
        """Whether it needs query ids."""
        return "qid" in self.by

    def _label(self) -> str:
        return self.column

    def _values(self, batch: Batch) -> np.ndarray:
        queries, keys, values = self._of_index(batch.index)
        if queries is None:
            pair_keys = batch.documents.astype(np.int64)
        else:
            names = batch.queries.ids if "qid" in self.by else map(_plain, batch.queries.texts)
            number = np.array([queries.get(name, -1) for name in names], np.int64)[batch.query]
            known = batch.documents if "docid" in self.by else 0
            pair_keys = np.where(number < 0, -1, number * batch.index.n_documents + known)
        if keys.size == 0:
            return np.full(batch.n_pairs, np.nan)
        at = np.minimum(np.searchsorted(keys, pair_keys), keys.size - 1)
        return np.where(keys[at] == pair_keys, values[at], np.nan)

    def _of_index(self, index: Index) -> tuple[dict[str, int] | None, np.ndarray, np.ndarray]:
        """Numbers of the table's queries, and its values by number of query × documents + number of document."""
        by_index: WeakKeyDictionary[Index, Any] = self._sorted  # type: ignore[attr-defined]
        if index not in by_index:
            columns, values = self._cells  # type: ignore[attr-defined]
            queries: dict[str, int] | None = None
            keys, in_index = np.zeros(values.size, np.int64), np.ones(values.size, np.bool_)
            for name, cells in zip(self.by, columns, strict=True):
                if name == "docid":
                    numbers = index.numbers(cells)
                    keys, in_index = keys + numbers, numbers >= 0
                else:
                    queries = {}
                    numbers = np.array([queries.setdefault(cell, len(queries)) for cell in cells], np.int64)
                    keys = keys + numbers * index.n_documents
            order = np.argsort(keys[in_index])
            by_index[index] = queries, keys[in_index][order], values[in_index][order]
        lookup: tuple[dict[str, int] | None, np.ndarray, np.ndarray] = by_index[index]
        return lookup


def _plain(text: str) -> str:
    """A query's text as tables are searched for it."""
    return " ".join(text.lower().split())


def _frame(table: Any, ids: Sequence[str]) -> Any:
    import polars as pl

    if isinstance(table, (str, Path)):
        path = Path(table)
        if not path.exists():
            raise DataError(f"{path}: no such file")
        check_regular(path)
        try:
            if path.suffix == ".parquet":
                return parquet_frame(path)
            as_text = dict.fromkeys(ids, pl.String)  # 007 is an id, 7 another one
            return pl.read_csv(path, infer_schema_length=None, schema_overrides=as_text)
        except pl.exceptions.PolarsError as error:
            what = str(error) if path.suffix == ".parquet" else what_is_wrong(path.read_bytes(), ",", error)
            raise DataError(f"{path}: {what}") from None
    return table if isinstance(table, pl.DataFrame) else pl.from_pandas(table)


def _cells(frame: Any, on: Sequence[str], column: str) -> tuple[list[list[str]], np.ndarray]:
    """Columns of keys as text, and the values."""
    import polars as pl

    try:
        values = frame[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    except pl.exceptions.PolarsError:
        raise DataError(f"table: column {column!r} does not hold numbers") from None
    columns = [frame[name].cast(pl.String).fill_null("").to_list() for name in on]
    columns = [list(map(_plain, cells)) if name == "query" else cells for name, cells in zip(on, columns, strict=True)]
    keys = list(zip(*columns, strict=True))
    if len(set(keys)) < len(keys):
        seen: set[Any] = set()
        twice = next(key for key in keys if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        named = ", ".join(f"{name} {key!r}" for name, key in zip(on, twice, strict=True))
        raise DataError(f"table: {named} occurs more than once")
    return columns, values
