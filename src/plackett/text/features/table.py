"""A column of a table as a feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett._errors import DataError
from plackett.text.features.base import Batch, Feature

__all__ = ["TableFeature"]


@dataclass(frozen=True, kw_only=True)
class TableFeature(Feature):
    """A number from a table, found by document id, query id or both: clicks, prices, spam scores.

    Parameters
    ----------
    table
        A polars or pandas frame, or the name of a CSV or parquet file.
    column
        Its column with the numbers.
    by
        Columns with ids: ``("docid",)``, ``("qid",)`` or ``("qid", "docid")``. Pairs that the table lacks are NaN.
    name, transform
        See `Feature`.

    Examples
    --------
    >>> import polars as pl
    >>> TableFeature(table=pl.DataFrame({"docid": ["a"], "clicks": [3]}), column="clicks").title
    'clicks'
    """

    key: ClassVar[str] = "table"
    _ids: ClassVar[tuple[str, ...]] = ("LR-03",)

    table: Any = field(hash=False, compare=False)
    column: str
    by: Sequence[str] = ("docid",)

    def _check(self) -> None:
        object.__setattr__(self, "by", tuple(self.by))
        if self.by not in (("docid",), ("qid",), ("qid", "docid")):
            raise DataError(f"table: by={self.by!r}; give ('docid',), ('qid',) or ('qid', 'docid')")
        frame = _frame(self.table)
        for name in (*self.by, self.column):
            if name not in frame.columns:
                raise DataError(f"the table has no column {name!r}; it has {', '.join(frame.columns)}")
        object.__setattr__(self, "_found", _values_by_key(frame, self.by, self.column))

    @property
    def stream(self) -> str:
        """Where the table is."""
        return str(self.table) if isinstance(self.table, (str, Path)) else "table"

    def _label(self) -> str:
        return self.column

    def _values(self, batch: Batch) -> np.ndarray:
        found: dict[tuple[str, ...], float] = self._found  # type: ignore[attr-defined]
        parts = {
            "docid": batch.index.ids.take(batch.documents).to_numpy().tolist() if "docid" in self.by else [],
            "qid": np.array(batch.queries.ids, object)[batch.query].tolist() if "qid" in self.by else [],
        }
        keys = zip(*(parts[name] for name in self.by), strict=True)
        return np.array([found.get(key, np.nan) for key in keys], np.float64)


def _frame(table: Any) -> Any:
    import polars as pl

    if isinstance(table, (str, Path)):
        path = Path(table)
        if not path.exists():
            raise DataError(f"{path}: no such file")
        return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema_length=None)
    return table if isinstance(table, pl.DataFrame) else pl.from_pandas(table)


def _values_by_key(frame: Any, on: Sequence[str], column: str) -> dict[tuple[str, ...], float]:
    import polars as pl

    try:
        values = frame[column].cast(pl.Float64).fill_null(float("nan")).to_list()
    except pl.exceptions.PolarsError:
        raise DataError(f"table: column {column!r} does not hold numbers") from None
    keys = list(zip(*(frame[name].cast(pl.String).to_list() for name in on), strict=True))
    if len(set(keys)) < len(keys):
        seen: set[Any] = set()
        twice = next(key for key in keys if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise DataError(f"table: {', '.join(map(repr, twice))} occurs more than once")
    return dict(zip(keys, values, strict=True))
