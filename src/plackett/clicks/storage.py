"""The native file of a click log."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import Any

import numpy as np

from plackett._base.errors import DataError, reading
from plackett._files import storage
from plackett.clicks.bad_lines import BadLines
from plackett.clicks.log import PAGES, ROWS, ClickLog
from plackett.data.strings import pack_ids, unpack_ids

__all__ = ["open_log"]

_TYPES: dict[str, Any] = {"offsets": np.int64, "query": np.int32, "document": np.int32, "clicks": np.int32}
_TYPES |= ROWS | PAGES
_IDS = ("queries", "documents", "rankers")


def save_log(log: ClickLog, path: str | os.PathLike[str]) -> None:
    """See `ClickLog.save`."""
    arrays: dict[str, Any] = {name: getattr(log, name) for name in _TYPES if getattr(log, name) is not None}
    for name in _IDS:
        if getattr(log, name) is not None:
            arrays |= pack_ids(name, getattr(log, name))
    metadata = {"kind": "click log"}
    if log.bad_lines is not None:
        metadata["bad_lines"] = json.dumps(asdict(log.bad_lines))
    storage.write(path, arrays, metadata)


def open_log(path: str | os.PathLike[str], *, mmap: bool = True) -> ClickLog:
    """Open a click log that `ClickLog.save` wrote; arrays are read from the disk when they are used.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/log.plackett"
    >>> ClickLog.from_arrays(["q"], [["a", "b"]], [[0, 1]]).save(path)
    >>> open_log(path)
    ClickLog(1 pages, 2 rows, 1 queries, 2 pairs, 1 clicks)
    """
    with reading(path, "the click log"):
        arrays, metadata = storage.read(path, kind="click log", mmap=mmap)
        known: dict[str, Any] = {}
        for name, dtype in _TYPES.items():
            if name in arrays:
                if arrays[name].dtype != dtype or arrays[name].ndim != 1:
                    raise DataError(f"{name} is {arrays[name].dtype} of {arrays[name].ndim} dimensions")
                known[name] = arrays[name]
        known |= {name: unpack_ids(arrays, name) for name in _IDS}
        if "bad_lines" in metadata:
            told = json.loads(metadata["bad_lines"])
            told["examples"] = {k: [(int(a), str(b)) for a, b in v] for k, v in told["examples"].items()}
            known["bad_lines"] = BadLines(**told)
        if known["queries"] is None or known["documents"] is None:
            raise DataError("ids are missing")
        return ClickLog(**known).checked()
