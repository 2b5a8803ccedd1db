"""Shards in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plackett.cluster.local import LocalShards
from plackett.cluster.shards import Function, Shards, cut, open_shard

__all__ = ["SerialShards"]


class SerialShards(Shards):
    """Shards in this process, one after another: for tests, and to see what an algorithm does."""

    def __init__(self, data: Any, n_shards: int = 2) -> None:
        self.shards = [open_shard(part) for part in cut(data, n_shards)]

    def gather(self, function: Function, argument: Any = None) -> list[Any]:
        """Call the function on every shard."""
        return [function(shard, argument) for shard in self.shards]

    def together(self, function: Function, arguments: Sequence[Any]) -> list[Any]:
        """Call the function in processes, one for each shard, which live as long as the call."""
        with LocalShards(self.shards) as processes:
            return processes.together(function, arguments)
