"""Part of the documents of every list."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.fields import taken
from plackett.data.mapped import rows_of, take_rows
from plackett.data.preferences import Preferences


def some_rows(data: RankingDataset, rows: np.ndarray) -> RankingDataset:
    """The dataset restricted to some rows, with the same lists; pairs with both documents among them are kept.

    Edges of a hypergraph whose label (`plackett.hyperedges`) is a row that is left out are lost.
    """
    if rows.size == data.n_rows:
        return data
    parts: dict[str, Any] = {"offsets": np.searchsorted(rows, data.offsets), "input_rows": None}
    parts["X"] = take_rows(data.X, rows)
    parts |= taken(data, lambda values: rows_of(values, rows), lambda values: values)
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
