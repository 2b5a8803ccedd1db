"""Part of the documents of every list."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.fields import FIELDS
from plackett.data.preferences import Preferences


def some_rows(data: RankingDataset, rows: np.ndarray) -> RankingDataset:
    """The dataset restricted to some rows, with the same lists; pairs with both documents among them are kept.

    Edges of a hypergraph whose label (`plackett.hyperedges`) is a row that is left out are lost.
    """
    if rows.size == data.n_rows:
        return data
    parts: dict[str, Any] = {"offsets": np.searchsorted(rows, data.offsets), "input_rows": None, "X": data.X[rows]}
    for name, field in FIELDS.items():
        value = getattr(data, name)
        if value is not None and field.per == "row":
            parts[name] = value.take(rows) if field.dtype is str else value[rows]
    pairs = data.preferences
    if pairs is not None:
        new_row = np.full(data.n_rows, -1)
        new_row[rows] = np.arange(rows.size)
        kept = pairs.take(np.flatnonzero((new_row[pairs.winner] >= 0) & (new_row[pairs.loser] >= 0)))
        parts["preferences"] = Preferences(new_row[kept.winner], new_row[kept.loser], kept.margin, kept.weight)
    if data.relations is not None:
        parts["relations"] = MappingProxyType(
            {name: relation.among(rows, data.n_rows) for name, relation in data.relations.items()}
        )
    return replace(data, **parts)
