"""The native file of a dataset (``.plackett``): everything a `RankingDataset` holds, opened by memory mapping."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError, reading
from plackett._files import storage
from plackett._files.checks import offsets_fit
from plackett.data.categories import checked_categories
from plackett.data.dataset import RankingDataset
from plackett.data.fields import NUMBERS
from plackett.data.mapped import note_source
from plackett.data.preferences import Preferences
from plackett.data.relations import Relation, relation_map
from plackett.data.strings import Strings, pack_ids, pack_strings, unpack_ids, unpack_strings

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

#: Plain arrays: type and shape, where "rows", "queries" and "T" stand for numbers that must agree.
_LENGTH = {"row": "rows", "query": "queries"}
_PLAIN: dict[str, tuple[type, tuple[str, ...]]] = {
    name: (field.dtype, tuple(filter(None, (_LENGTH[field.per], field.width)))) for name, field in NUMBERS.items()
} | {"input_rows": (np.int64, ("rows",))}
#: Ids: whole numbers, or strings as bytes and offsets.
_IDS = {"qids": "queries", "docids": "rows"}


def save_dataset(
    data: RankingDataset, path: str | os.PathLike[str], *, strings: dict[str, Strings] | None = None
) -> None:
    """Write a dataset to a native file, which appears complete or not at all.

    Parameters
    ----------
    path
        Its name conventionally ends in ``.plackett``.
    strings
        ``docids`` or ``comments`` that take the place of those of the dataset.

    Examples
    --------
    >>> import tempfile
    >>> data = RankingDataset.from_arrays([[1.0], [2.0]], [0, 1], qid=["a", "a"])
    >>> path = tempfile.mkdtemp() + "/train.plackett"
    >>> save_dataset(data, path)
    >>> open_dataset(path)
    RankingDataset(1 query, 2 rows, 1 feature)
    """
    arrays: dict[str, Any] = {"offsets": data.offsets}
    arrays |= {name: getattr(data, name) for name in _PLAIN if getattr(data, name) is not None}
    if isinstance(data.X, np.ndarray):
        arrays["X"] = data.X
    else:
        arrays |= {f"X.{part}": getattr(data.X, part) for part in ("data", "indices", "indptr")}
    for name in _IDS:
        ids = getattr(data, name)
        if ids is not None:
            arrays |= pack_ids(name, ids)
    if data.feature_names is not None:
        arrays |= pack_strings("feature_names", Strings.from_values(data.feature_names))
    if data.comments is not None:
        arrays |= pack_strings("comments", data.comments)
    if data.preferences is not None:
        for field in fields(Preferences):
            value = getattr(data.preferences, field.name)
            if value is not None:
                arrays[f"preferences.{field.name}"] = value
    metadata = {"kind": "dataset", "n_features": str(data.n_features)}
    if data.categories:
        metadata["categories"] = json.dumps(dict(data.categories), ensure_ascii=False)
    if data.relations:
        arrays |= pack_strings("relations", Strings.from_values(list(data.relations)))
        for number, relation in enumerate(data.relations.values()):
            for field in fields(Relation):
                value = getattr(relation, field.name)
                if value is not None:
                    arrays[f"relation.{number}.{field.name}"] = value
    for name, values in (strings or {}).items():
        arrays |= pack_strings(name, values)
    storage.write(path, arrays, metadata)


def open_dataset(path: str | os.PathLike[str], *, mmap: bool = True) -> RankingDataset:
    """Open a native file; features are read from the disk when they are used.

    Parameters
    ----------
    mmap
        False reads the whole file now. Use it for a file that may be changed in place or is on an unreliable network
        share: if a mapped file is truncated, the system kills the process (SIGBUS) when it reads the missing part.
        Files that plackett writes are replaced as a whole, which is safe.
    """
    with reading(path, "the dataset file"):
        arrays, metadata = storage.read(path, kind="dataset", mmap=mmap)
        return _Opener(path, arrays, metadata).dataset()


def _all_finite(values: np.ndarray) -> bool:
    return all(bool(np.isfinite(values[start : start + 65_536]).all()) for start in range(0, values.size, 65_536))


class _Opener:
    """Makes a dataset from arrays that may be damaged. Kernels trust offsets and row numbers, so all are checked."""

    def __init__(self, path: Any, arrays: dict[str, np.ndarray], metadata: dict[str, str]) -> None:
        self.path = path
        self.arrays = arrays
        self.metadata = metadata
        self.sizes: dict[str, int] = {}

    def dataset(self) -> RankingDataset:
        offsets = self.required("offsets", np.int64, ("queries + 1",))
        self.check_offsets("offsets", offsets)
        self.sizes |= {"queries": offsets.size - 1, "rows": int(offsets[-1])}
        known: dict[str, Any] = {"offsets": offsets, "X": self.features()}
        known |= {name: self.optional(name, *rule) for name, rule in _PLAIN.items()}
        known |= {name: self.ids(name, length) for name, length in _IDS.items()}
        if known["qids"] is None:
            raise self.damaged("qids are missing")
        for name, what in (("y", "a label"), ("query_time", "the time of a query")):
            if known[name] is not None and not _all_finite(known[name]):
                raise self.damaged(f"{what} is not finite")
        rows = known["input_rows"]
        if rows is not None and not np.array_equal(np.bincount(self.within(rows, "rows")), np.ones(rows.size)):
            raise self.damaged("input_rows do not name every row once")
        names = self.strings("feature_names", "features")
        if names is not None:
            known["feature_names"] = tuple(names.to_numpy().tolist())
        if "categories" in self.metadata:
            known["categories"] = MappingProxyType(
                checked_categories(json.loads(self.metadata["categories"]), known.get("feature_names"))
            )
        known["comments"] = self.strings("comments", "rows")
        if "preferences.winner" in self.arrays:
            known["preferences"] = self.preferences(offsets)
        if "relations.bytes" in self.arrays:
            known["relations"] = self.relations(offsets)
        queries = known["query_features"]
        if queries is not None and np.isinf(queries).any():
            raise self.damaged("a query feature is infinite")
        return RankingDataset(**known)

    def damaged(self, what: str) -> DataError:
        return DataError(f"{self.path}: damaged dataset file: {what}")

    def required(self, name: str, dtype: type, shape: tuple[str, ...]) -> np.ndarray:
        array = self.arrays.get(name)
        if array is None:
            raise self.damaged(f"{name} is missing")
        if array.dtype != dtype or array.ndim != len(shape):
            raise self.damaged(f"{name} is {array.dtype} of {array.ndim} dimensions")
        for length, size in zip(shape, array.shape, strict=True):
            if self.sizes.setdefault(length, size) != size:
                raise self.damaged(f"{name} has {size} {length} instead of {self.sizes[length]}")
        return array

    def optional(self, name: str, dtype: type, shape: tuple[str, ...]) -> np.ndarray | None:
        return self.required(name, dtype, shape) if name in self.arrays else None

    def check_offsets(self, name: str, offsets: np.ndarray, end: int | None = None) -> None:
        last = int(offsets[-1]) if offsets.size else 0
        if not offsets_fit(offsets, last):
            raise self.damaged(f"{name} do not begin at 0 and increase")
        if end is not None and last != end:
            raise self.damaged(f"{name} end at {last} instead of {end}")

    def within(self, numbers: np.ndarray, length: str) -> np.ndarray:
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < self.sizes[length]:
            raise self.damaged(f"a number beyond the {self.sizes[length]} {length}")
        return numbers

    def features(self) -> np.ndarray | csr_matrix:
        if "X" in self.arrays:
            X = self.required("X", np.float32, ("rows", "features"))
            note_source(X, os.path.abspath(self.path))
            return X
        from scipy.sparse import csr_matrix

        width = self.metadata.get("n_features", "")
        if not (width.isascii() and width.isdigit() and len(width) < 10):
            raise self.damaged(f"n_features is {width!r}")
        self.sizes["features"] = int(width)
        values = self.required("X.data", np.float32, ("entries",))
        kind = self.arrays["X.indices"].dtype if "X.indices" in self.arrays else np.dtype(np.int32)
        if kind not in (np.dtype(np.int32), np.dtype(np.int64)):
            raise self.damaged(f"X.indices is {kind}")
        indices = self.within(self.required("X.indices", kind.type, ("entries",)), "features")
        indptr = self.required("X.indptr", kind.type, ("rows + 1",))
        self.check_offsets("X.indptr", indptr, values.size)
        if indptr.size != self.sizes["rows"] + 1:
            raise self.damaged(f"X has {indptr.size - 1} rows instead of {self.sizes['rows']}")
        return csr_matrix((values, indices, indptr), shape=(self.sizes["rows"], self.sizes["features"]), copy=False)

    def strings(self, name: str, length: str) -> Strings | None:
        return self.unpacked(unpack_strings, name, length)

    def ids(self, name: str, length: str) -> np.ndarray | None:
        return self.unpacked(unpack_ids, name, length)

    def unpacked(self, unpack: Callable[[dict[str, np.ndarray], str], Any], name: str, length: str) -> Any:
        try:
            values = unpack(self.arrays, name)
        except DataError as error:
            raise self.damaged(str(error)) from None
        if values is not None and len(values) != self.sizes[length]:
            raise self.damaged(f"{len(values)} {name} for {self.sizes[length]} {length}")
        return values

    def preferences(self, offsets: np.ndarray) -> Preferences:
        columns: dict[str, Any] = {}
        for name in ("winner", "loser"):
            columns[name] = self.required(f"preferences.{name}", np.int64, ("pairs",))
        for name in ("margin", "weight"):
            columns[name] = self.optional(f"preferences.{name}", np.float64, ("pairs",))
        try:
            return Preferences(**columns).regrouped(None, offsets)
        except DataError as error:
            raise self.damaged(str(error)) from None

    def relations(self, offsets: np.ndarray) -> Any:
        packed = self.required("relations.offsets", np.int64, ("relations + 1",))
        self.sizes["relations"] = packed.size - 1
        names = self.strings("relations", "relations")
        assert names is not None
        by_name: dict[str, Relation] = {}
        for number, name in enumerate(names.to_numpy().tolist()):
            shape = (f"pairs of relation {number}",)
            columns: dict[str, Any] = {
                part: self.required(f"relation.{number}.{part}", np.int64, shape) for part in ("row", "other")
            }
            columns["weight"] = self.optional(f"relation.{number}.weight", np.float64, shape)
            if name in by_name or not name:
                raise self.damaged(f"the relation {name!r} occurs twice, or has no name")
            try:
                by_name[name] = Relation(**columns)
            except DataError as error:
                raise self.damaged(str(error)) from None
        try:
            return relation_map(by_name, None, offsets)
        except DataError as error:
            raise self.damaged(str(error)) from None
