"""Training data inside a scorer that trains when it is asked to score."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._errors import DataError
from plackett.data.dataset import RankingDataset

__all__ = ["pack_data", "unpack_data"]

_FIELDS = ("y", "sample_weight", "query_weight", "query_features")


def pack_data(data: RankingDataset) -> dict[str, np.ndarray]:
    """Features, labels and weights as named arrays."""
    arrays = {"offsets": data.offsets}
    X = data.X
    if isinstance(X, np.ndarray):
        arrays["X"] = X
    else:
        arrays |= {"X.data": X.data, "X.indices": X.indices, "X.indptr": X.indptr, "X.shape": np.array(X.shape)}
    return arrays | {name: getattr(data, name) for name in _FIELDS if getattr(data, name) is not None}


def unpack_data(arrays: dict[str, np.ndarray]) -> RankingDataset:
    """The dataset that `pack_data` wrote, checked."""
    offsets, X = np.array(arrays["offsets"]), _table(arrays)
    if offsets.dtype != np.int64 or offsets.ndim != 1 or offsets.size < 2 or offsets[0] != 0:
        raise DataError("the training data of the model are damaged")
    group = np.diff(offsets)
    if (group < 0).any() or offsets[-1] != X.shape[0]:
        raise DataError("the training data of the model are damaged")
    fields: dict[str, Any] = {name: np.array(arrays[name]) for name in _FIELDS if name in arrays}
    return RankingDataset.from_arrays(X, fields.pop("y", None), group=group, **fields)


def _table(arrays: dict[str, np.ndarray]) -> Any:
    if "X" in arrays:
        return np.array(arrays["X"])
    from scipy.sparse import csr_matrix

    shape = tuple(int(n) for n in arrays["X.shape"])
    table = csr_matrix((arrays["X.data"], arrays["X.indices"], arrays["X.indptr"]), shape=shape)
    table.check_format()
    return table
