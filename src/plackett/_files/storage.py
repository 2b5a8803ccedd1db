"""One file of named arrays with metadata: the container of datasets and models.

The layout is that of safetensors: eight bytes with the length of the header (little endian), the header in JSON, and
the bytes of the arrays one after another without holes. The header is padded with spaces so that the arrays begin at
a multiple of 64, and the arrays are ordered by item size so that each is aligned to its items. Reading runs no code;
whatever the header says is checked against the file before an array is made of it.
"""

from __future__ import annotations

import json
import math
import mmap as mmap_module
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._files.atomic import replacing
from plackett._files.checks import open_regular

#: Raised when older readers would misunderstand the file.
FORMAT_VERSION = 1

_ALIGNMENT = 64
#: safetensors' own limit.
_MAX_HEADER = 100_000_000

_DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
    "I8": np.dtype("i1"),
    "U64": np.dtype("<u8"),
    "U32": np.dtype("<u4"),
    "U16": np.dtype("<u2"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


class MappedFile(mmap_module.mmap):
    """A file mapped into memory. ``source`` is the path of the dataset whose rows it has, and their number.

    ``per_row`` says that it has a number, or several, for each row of a dataset that is kept on the disk.
    """

    source: tuple[str | None, int] = None, -1
    per_row: bool = False


def write(path: str | os.PathLike[str], arrays: Mapping[str, Any], metadata: Mapping[str, str]) -> None:
    """Write arrays and metadata to one file, which appears complete or not at all.

    Parameters
    ----------
    arrays
        Name to array of numbers or booleans; bytes are given as an array of uint8.
    metadata
        Strings by name; ``kind`` ("dataset", "model") must be among them, ``format_version`` is added.
    """
    if "kind" not in metadata:
        raise ValueError("metadata must say what kind of file this is: metadata['kind']")
    plain = {name: _plain(name, array) for name, array in arrays.items()}
    order = sorted(plain, key=lambda name: (-plain[name].dtype.itemsize, name))
    header: dict[str, Any] = {"__metadata__": {**metadata, "format_version": str(FORMAT_VERSION)}}
    end = 0
    for name in order:
        array = plain[name]
        header[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [end, end + array.nbytes],
        }
        end += array.nbytes
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % _ALIGNMENT)
    if len(text) > _MAX_HEADER:
        raise DataError(f"{path}: the header would take {len(text)} bytes; at most {_MAX_HEADER} are allowed")
    with replacing(path) as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for name in order:
            file.write(plain[name].reshape(-1).view(np.uint8).data)


def _plain(name: str, array: Any) -> np.ndarray:
    array = np.asarray(array)
    dtype = array.dtype.newbyteorder("<")
    if name == "__metadata__" or dtype not in _NAMES:
        raise ValueError(f"array {name!r} of {array.dtype} cannot be stored; the types are {', '.join(_DTYPES)}")
    return np.asarray(array, dtype=dtype, order="C")


def read(
    path: str | os.PathLike[str], *, kind: str | None = None, mmap: bool = True
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Arrays and metadata of a file.

    Parameters
    ----------
    kind
        The expected kind of file; another kind raises an error.
    mmap
        Map the file into memory: it opens at once, and pages are read when they are used. Otherwise all of it is
        read now. Either way the arrays are read-only. If a mapped file is truncated, the system kills the process
        (SIGBUS) when it reads the missing part.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        start, header = _header(path, file, size)
        metadata = _metadata(path, header.pop("__metadata__", None), kind)
        if mmap:
            block = np.frombuffer(MappedFile(file.fileno(), 0, access=mmap_module.ACCESS_READ), np.uint8)
        else:
            file.seek(0)
            block = np.frombuffer(file.read(size), np.uint8)
        changed = block.size != size or os.fstat(file.fileno()).st_size != size
    if changed:
        raise DataError(f"{path}: changed while it was read")
    return _arrays(path, header, block[start:]), metadata


def read_metadata(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read the metadata of a file without its arrays."""
    with open_regular(path) as file:
        _, header = _header(path, file, os.fstat(file.fileno()).st_size)
    return _metadata(path, header.get("__metadata__"), None)


def _header(path: Any, file: Any, size: int) -> tuple[int, dict[str, Any]]:
    """First byte of the arrays, and the header."""
    length = int.from_bytes(file.read(8), "little")
    if size < 8:
        raise DataError(f"{path}: {size} bytes are too few for a plackett file; it is empty or truncated")
    if not 2 <= length <= min(_MAX_HEADER, 2**63):
        raise DataError(f"{path}: not a plackett file (its header would have {length} bytes)")
    if 8 + length > size:
        raise DataError(f"{path}: the header should have {length} bytes, but the file ends after {size}: truncated?")
    try:
        text = file.read(length).decode()
        header = json.loads(text, object_pairs_hook=_no_repeats, parse_constant=_no_constant)
        if "\\u" in text:  # half a surrogate pair could be neither printed nor hashed later
            json.dumps(header, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:  # bad UTF-8 and bad JSON are ValueErrors both
        raise DataError(f"{path}: not a plackett file, or a damaged one (the header is not JSON: {error})") from None
    if not isinstance(header, dict):
        raise DataError(f"{path}: not a plackett file (the header is not a JSON object)")
    return 8 + length, header


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a name occurs twice")
    return result


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _metadata(path: Any, metadata: Any, kind: str | None) -> dict[str, str]:
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise DataError(f"{path}: not a plackett file (no __metadata__ of strings in the header)")
    version = metadata.get("format_version", "")
    if not (version.isascii() and version.isdigit() and len(version) < 10):
        raise DataError(f"{path}: not a plackett file (format_version is {version!r})")
    if int(version) > FORMAT_VERSION:
        raise DataError(
            f"{path}: written in format {version} by a newer plackett; this one reads up to {FORMAT_VERSION}. "
            "Upgrade plackett"
        )
    kind_of_file = metadata.get("kind")
    if kind is not None and kind_of_file != kind:
        raise DataError(f"{path}: this file holds a {kind_of_file}, not a {kind}")
    return metadata


def _arrays(path: Any, header: dict[str, Any], block: np.ndarray) -> dict[str, np.ndarray]:
    spans = sorted((*_span(path, name, entry), name) for name, entry in header.items())
    end = 0
    arrays = {}
    for begin, stop, name in spans:
        if begin != end:
            what = "overlaps the one before" if begin < end else "leaves a hole before it"
            raise DataError(f"{path}: damaged header, array {name!r} {what} (it begins at {begin} instead of {end})")
        if stop > block.size:
            raise DataError(
                f"{path}: truncated; array {name!r} should end at byte {stop} of the data, which has {block.size}"
            )
        dtype = _DTYPES[header[name]["dtype"]]
        if dtype.kind == "b" and (block[begin:stop] > 1).any():
            raise DataError(f"{path}: damaged, array {name!r} holds bytes that are not booleans")
        arrays[name] = block[begin:stop].view(dtype).reshape(header[name]["shape"])
        end = stop
    if end != block.size:
        raise DataError(f"{path}: {block.size - end} bytes after the last array; the file is damaged")
    return arrays


def _span(path: Any, name: str, entry: Any) -> tuple[int, int]:
    """Begin and end of an array whose entry in the header is sound in itself."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise DataError(f"{path}: damaged header, array {name!r} needs dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        raise DataError(f"{path}: array {name!r} has the unknown dtype {dtype!r}")
    if not (_counts(shape) and math.prod(max(n, 1) for n in shape) < 2**60 and _counts(offsets) and len(offsets) == 2):
        raise DataError(f"{path}: damaged header, array {name!r} has shape {shape!r} and data_offsets {offsets!r}")
    begin, stop = offsets
    if stop - begin != math.prod(shape) * _DTYPES[dtype].itemsize:
        raise DataError(
            f"{path}: damaged header, array {name!r} of shape {shape} and dtype {dtype} cannot take "
            f"{stop - begin} bytes"
        )
    return begin, stop


def _counts(values: Any) -> bool:
    return isinstance(values, list) and len(values) <= 32 and all(type(v) is int and v >= 0 for v in values)
