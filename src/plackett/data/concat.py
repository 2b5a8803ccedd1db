"""Concatenate datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.fields import FIELDS, DatasetField
from plackett.data.ids import distinct
from plackett.data.preferences import Preferences
from plackett.data.relations import Relation
from plackett.data.same_codes import with_same_codes
from plackett.data.strings import Strings

__all__ = ["concat"]


def concat(datasets: Sequence[RankingDataset]) -> RankingDataset:
    """Concatenate datasets: the queries of all of them, one dataset after the other.

    No query may be in two of them, and all must have the same fields (labels, weights, document ids, …). The number of
    subtopics may differ.

    >>> a = RankingDataset.from_arrays([[1.0]], [0], qid=["a"])
    >>> b = RankingDataset.from_arrays([[2.0], [3.0]], [1, 2], qid=["b", "b"])
    >>> concat([a, b]).offsets.tolist()
    [0, 1, 3]
    """
    parts = list(datasets)
    if not parts:
        raise DataError("no datasets to concatenate")
    if len(parts) == 1:
        return parts[0]
    widths = sorted({part.n_features for part in parts})
    if len(widths) > 1:
        raise DataError(f"the datasets have different numbers of features: {', '.join(map(str, widths))}")
    if len({part.feature_names for part in parts}) > 1:
        raise DataError("the datasets have different feature names")
    parts = with_same_codes(parts)
    kinds = {part.qids.dtype.kind for part in parts}
    qids = np.concatenate(
        [part.qids if len(kinds) == 1 else part.qids.astype(np.dtypes.StringDType()) for part in parts]
    )
    names, number = distinct(qids)
    if names.size < qids.size:
        raise DataError(f"query {names[np.bincount(number) > 1][0]} is in more than one of the datasets")
    first_row = np.cumsum([0, *(part.n_rows for part in parts)])
    return RankingDataset(
        X=_stack([part.X for part in parts]),
        offsets=np.concatenate([[0], *(part.offsets[1:] + a for part, a in zip(parts, first_row, strict=False))]),
        qids=qids,
        feature_names=parts[0].feature_names,
        categories=parts[0].categories,
        relations=_joined(parts, "relations", lambda maps: _relations(maps, first_row)),
        preferences=_joined(parts, "preferences", lambda pairs: _pairs(pairs, first_row)),
        **{name: _joined(parts, name, partial(_column, field)) for name, field in FIELDS.items()},
    )


def _column(field: DatasetField, values: list[Any]) -> Any:
    if field.dtype is str:
        return _strings(values)
    if field.width is None:
        return np.concatenate(values)
    widths = sorted({table.shape[1] for table in values})
    if field.fill is None and len(widths) > 1:
        raise DataError(f"the datasets have different numbers of {field.width}: {', '.join(map(str, widths))}")
    return np.concatenate(
        [np.pad(t, ((0, 0), (0, widths[-1] - t.shape[1])), constant_values=field.fill or 0.0) for t in values]
    )


def _joined(parts: list[RankingDataset], name: str, join: Any) -> Any:
    values = [getattr(part, name) for part in parts]
    missing = [i for i, value in enumerate(values) if value is None]
    if len(missing) == len(values):
        return None
    if missing:
        raise DataError(f"dataset {missing[0]} has no {name}, but others do")
    return join(values)


def _stack(matrices: list[Any]) -> Any:
    if all(isinstance(matrix, np.ndarray) for matrix in matrices):
        return np.concatenate(matrices)
    from scipy.sparse import csr_matrix, vstack

    return csr_matrix(vstack([csr_matrix(matrix) for matrix in matrices]))


def _pairs(parts: list[Preferences], first_row: np.ndarray) -> Preferences:
    shifted = [part.take(np.arange(len(part)), int(a)) for part, a in zip(parts, first_row, strict=False)]
    columns: dict[str, Any] = {}
    for name in ("winner", "loser", "margin", "weight"):
        values = [getattr(part, name) for part in shifted]
        if any(value is None for value in values) and any(value is not None for value in values):
            raise DataError(f"the preferences of some of the datasets have no {name}, others have")
        columns[name] = None if values[0] is None else np.concatenate(values)
    return Preferences(**columns)


def _relations(maps: list[Mapping[str, Relation]], first_row: np.ndarray) -> Mapping[str, Relation]:
    names = [sorted(relations) for relations in maps]
    for number, own in enumerate(names):
        if own != names[0]:
            raise DataError(f"dataset {number} has the relations {', '.join(own)}, the first {', '.join(names[0])}")
    joined: dict[str, Relation] = {}
    for name in names[0]:
        parts = [relations[name] for relations in maps]
        row, other = (
            np.concatenate([getattr(part, column) + a for part, a in zip(parts, first_row, strict=False)])
            for column in ("row", "other")
        )
        plain = all(part.weight is None for part in parts)
        joined[name] = Relation(row, other, None if plain else np.concatenate([part.weights for part in parts]))
    return MappingProxyType(joined)


def _strings(parts: list[Strings]) -> Strings:
    lengths = np.concatenate([part.lengths for part in parts])
    blocks = [part.data[part.offsets[0] : part.offsets[-1]] for part in parts]
    return Strings(np.concatenate(blocks), np.concatenate(([0], np.cumsum(lengths))))
