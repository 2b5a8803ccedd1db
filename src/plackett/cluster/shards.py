"""The one interface to data in parts: a sum over the parts."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett._files.storage import read_metadata
from plackett._kernels.kernel import ranges
from plackett.clicks.log import ClickLog
from plackett.clicks.storage import open_log
from plackett.data.dataset import RankingDataset
from plackett.data.files import NATIVE, format_of, read
from plackett.data.native import save_dataset

__all__ = ["Shards"]

#: What a worker is asked to do: a function at the top of a module, called with its shard and an argument.
Function = Callable[[Any, Any], Any]


class Shards(ABC):
    """A dataset cut into parts of whole queries, each held by a worker.

    Whatever is a sum over queries is computed where the data are: the argument travels there and the sums travel back.
    A back end implements `gather`. A shard is never left out: a worker that fails is replaced, or there is an error.
    """

    @abstractmethod
    def gather(self, function: Function, argument: Any = None) -> list[Any]:
        """Call ``function(shard, argument)`` on every shard; the results in the order of the shards."""

    def sum(self, function: Function, argument: Any = None) -> Any:
        """The sum of ``function(shard, argument)`` over the shards: of numbers, arrays, or tuples of these.

        Added in the order of the shards, so that the result does not depend on which worker is first.

        >>> import plackett as pk
        >>> data = RankingDataset.from_arrays([[1.0], [2.0], [4.0]], [0, 1, 2], qid=[1, 1, 2])
        >>> pk.cluster.SerialShards(data, 2).sum(lambda shard, power: (shard.X**power).sum(), 2)
        np.float32(21.0)
        """
        return reduce(add, self.gather(function, argument))

    @abstractmethod
    def together(self, function: Function, arguments: Sequence[Any]) -> list[Any]:
        """Call ``function(shard, arguments[i])`` on all shards at the same time, for functions that talk to each other.

        If one of them fails or dies, the others are ended, and there is an error: none can be repeated alone.
        """

    def settle(self) -> None:  # noqa: B027
        """Decide which worker has which shard in `together`, and from now on in `gather` as long as it lives."""

    def close(self) -> None:  # noqa: B027
        """Let the workers go."""

    def __enter__(self) -> Shards:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


def cut(data: Any, n_shards: int) -> list[Any]:
    """A dataset as at most ``n_shards`` parts of whole queries with about the same number of rows.

    Files are parts already: paths of native files, each with whole queries. So are several datasets. A click log is cut
    between pages.
    """
    if isinstance(data, ClickLog):
        if n_shards < 1 or data.n_pages == 0:
            raise DataError(f"{data.n_pages} pages cannot be shared out to {n_shards} shards")
        return [data.select(np.arange(lo, hi)) for lo, hi in ranges(data.offsets, n_shards)]
    if isinstance(data, RankingDataset):
        whole("n_shards", n_shards, least=1)
        if data.n_queries == 0:
            raise DataError("there are no queries to share out")
        return [data.select(np.arange(lo, hi)) for lo, hi in ranges(data.offsets, n_shards)]
    paths = [data] if isinstance(data, (str, os.PathLike)) else list(data)
    if paths and all(isinstance(part, (RankingDataset, ClickLog)) for part in paths):
        return paths
    if not paths or not all(isinstance(path, (str, os.PathLike)) for path in paths):
        raise DataError("give a RankingDataset, or paths of native files with whole queries in each")
    return [Path(path).resolve() for path in paths]


def open_shard(part: Any) -> Any:
    """The data of a part: a dataset or a click log; files are mapped into memory."""
    if not isinstance(part, Path):
        return part
    if format_of(part) is NATIVE and read_metadata(part).get("kind") == "click log":
        return open_log(part)
    return read(part)


def save_shard(part: RankingDataset | ClickLog, path: Path) -> None:
    """Write a part to a native file."""
    if isinstance(part, ClickLog):
        part.save(path)
    else:
        save_dataset(part, path)


def add(a: Any, b: Any) -> Any:
    """The sum of two results of the same form."""
    if isinstance(a, tuple):
        return tuple(add(x, y) for x, y in zip(a, b, strict=True))
    return a + b


def check_ids(shards: Shards) -> None:
    """Reject a query that is in two shards: it would be learned from as two."""
    ids = [qid for part in shards.gather(_ids) for qid in part]
    seen: set[Any] = set()
    for qid in ids:
        if qid in seen:
            raise DataError(f"query {qid!r} is in more than one shard; a shard has whole queries")
        seen.add(qid)


def _ids(shard: RankingDataset, _: Any) -> Sequence[Any]:
    return shard.qids.tolist()
