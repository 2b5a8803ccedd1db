"""Training data inside a scorer that trains at prediction time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._files.checks import offsets_fit
from plackett.data.dataset import RankingDataset
from plackett.data.fields import LEARNED
from plackett.data.preferences import Preferences
from plackett.data.relations import Relation
from plackett.scorers.fields import Arrays, Sizes, StoredField, declared

_PAIRS = ("winner", "loser", "margin", "weight")
_RELATION = ("row", "other", "weight")


def pack_data(data: RankingDataset) -> dict[str, np.ndarray]:
    """Features, labels, preferences, weights and relations as named arrays."""
    arrays = {"offsets": data.offsets}
    X = data.X
    if isinstance(X, np.ndarray):
        arrays["X"] = X
    else:
        arrays |= {"X.data": X.data, "X.indices": X.indices, "X.indptr": X.indptr, "X.shape": np.array(X.shape)}
    if data.preferences is not None:
        arrays |= _columns("preferences", data.preferences, _PAIRS)
    if data.relations:
        arrays["relations"] = np.frombuffer(json.dumps(list(data.relations)).encode(), np.uint8)
        for i, relation in enumerate(data.relations.values()):
            arrays |= _columns(f"relations.{i}", relation, _RELATION)
    return arrays | {name: getattr(data, name) for name in LEARNED if getattr(data, name) is not None}


def _columns(prefix: str, value: Any, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    return {f"{prefix}.{name}": getattr(value, name) for name in names if getattr(value, name) is not None}


def _taken(arrays: dict[str, np.ndarray], prefix: str, names: tuple[str, ...]) -> list[np.ndarray | None]:
    columns = [arrays.get(f"{prefix}.{name}") for name in names]
    return [None if column is None else np.array(column) for column in columns]


def unpack_data(arrays: dict[str, np.ndarray]) -> RankingDataset:
    """The dataset that `pack_data` wrote, checked."""
    offsets, X = np.array(arrays["offsets"]), _table(arrays)
    if offsets.dtype != np.int64 or offsets.size < 2 or not offsets_fit(offsets, X.shape[0]):
        raise DataError("the training data of the model are damaged")
    fields: dict[str, Any] = {name: np.array(arrays[name]) for name in LEARNED if name in arrays}
    if "preferences.winner" in arrays:
        fields["preferences"] = Preferences(*_taken(arrays, "preferences", _PAIRS))  # type: ignore[arg-type]
    if "relations" in arrays:
        names = json.loads(arrays["relations"].tobytes())
        if not isinstance(names, list) or len(names) > len(arrays):
            raise DataError("the relations of the training data of the model are damaged")
        fields["relations"] = {
            name: Relation(*_taken(arrays, f"relations.{i}", _RELATION))  # type: ignore[arg-type]
            for i, name in enumerate(names)
        }
    return RankingDataset.from_arrays(X, fields.pop("y", None), group=np.diff(offsets), **fields)


def _table(arrays: dict[str, np.ndarray]) -> Any:
    if "X" in arrays:
        return np.array(arrays["X"])
    from scipy.sparse import csr_matrix

    shape = tuple(int(n) for n in arrays["X.shape"])
    if not offsets_fit(arrays["X.indptr"], arrays["X.data"].size, shape[0]):
        raise DataError("the training data of the model are damaged")
    table = csr_matrix((arrays["X.data"], arrays["X.indices"], arrays["X.indptr"]), shape=shape)
    table.check_format()
    return table


@dataclass(frozen=True)
class _Dataset(StoredField):
    def write(self, name: str, value: RankingDataset) -> Arrays:
        return pack_data(value)

    def read(self, name: str, arrays: Arrays, sizes: Sizes) -> RankingDataset:
        value = unpack_data(arrays)
        sizes |= {"queries": value.n_queries, "features": value.n_features}
        return value

    def is_absent(self, name: str, arrays: Arrays) -> bool:
        return "offsets" not in arrays


def dataset() -> Any:
    """Training data; they decide the dimensions ``queries`` and ``features``."""
    return declared(_Dataset())
