"""What a dataset has for each document and for each query, declared once for everything that copies or stores it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

import numpy as np


class DatasetField(NamedTuple):
    """One optional field of a `plackett.RankingDataset`."""

    per: Literal["row", "query"]
    #: Type of its numbers; None for ids (whole numbers or strings), `str` for text.
    dtype: Any
    #: Column of a table.
    column: str
    #: What its columns are, if it is a table of them.
    width: str | None = None
    #: What a part without some of the columns has there when datasets are concatenated; None: widths must be equal.
    fill: float | None = None


#: The fields beside ``X``, ``offsets`` and ``qids``, in the order of the columns of a table.
FIELDS: dict[str, DatasetField] = {
    "docids": DatasetField("row", None, "docid"),
    "y": DatasetField("row", np.float64, "label"),
    "sample_weight": DatasetField("row", np.float64, "sample_weight"),
    "query_weight": DatasetField("query", np.float64, "query_weight"),
    "query_time": DatasetField("query", np.float64, "query_time"),
    "positions": DatasetField("row", np.int32, "position"),
    "query_features": DatasetField("query", np.float32, "query_features", "query features"),
    # a query without some of the subtopics has NaN there, of no weight
    "subtopics": DatasetField("row", np.float32, "subtopics", "T", np.nan),
    "subtopic_weight": DatasetField("query", np.float64, "subtopic_weight", "T", 0.0),
    "comments": DatasetField("row", str, "comment"),
}

#: The fields that are numbers: what a ranker can learn from, a measure or a split can use.
NUMBERS: dict[str, DatasetField] = {name: field for name, field in FIELDS.items() if field.dtype not in (None, str)}

#: The fields that rankers learn from, beside features, preferences and relations.
LEARNED = ("y", "sample_weight", "query_weight", "query_features")


def taken(
    data: Any, per_row: Callable[[Any], Any], per_query: Callable[[Any], Any], names: Iterable[str] = tuple(FIELDS)
) -> dict[str, Any]:
    """The fields that a dataset has, each made by the function for those of rows or of queries."""
    made = {"row": per_row, "query": per_query}
    values = {name: getattr(data, name) for name in names}
    return {name: made[FIELDS[name].per](value) for name, value in values.items() if value is not None}
