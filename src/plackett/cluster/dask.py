"""Shards on the machines of a Dask cluster."""

from __future__ import annotations

import uuid
from typing import Any

from plackett._errors import ClusterError
from plackett._optional import optional
from plackett.cluster.shards import Function, Shards, cut, open_shard

__all__ = ["DaskShards"]

#: How often a task is tried again on another worker.
_RETRIES = 2


class DaskShards(Shards):
    """Shards held by the workers of a Dask cluster.

    A shard lost with its worker is opened again on another one and the task is repeated; where that does not help,
    there is an error. Paths must lead to the same files on every machine (a shared or object file system); a dataset in
    memory is sent to the scheduler, which suits small data only.

    Parameters
    ----------
    data
        The paths of files with whole queries in each, one shard per file; or a dataset.
    client
        A `distributed.Client`.
    n_shards
        Number of shards that a dataset is cut into; None is one per worker.
    """

    def __init__(self, data: Any, client: Any, n_shards: int | None = None) -> None:
        optional("distributed", "DaskShards needs")
        self.client = client
        parts = cut(data, n_shards or max(len(client.scheduler_info(n_workers=-1)["workers"]), 1))
        name = f"plackett-shard-{uuid.uuid4().hex}"
        self.futures = [
            client.submit(open_shard, part, key=f"{name}-{i}", retries=_RETRIES) for i, part in enumerate(parts)
        ]

    def gather(self, function: Function, argument: Any = None) -> list[Any]:
        """Call the function on every shard, where it is."""
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        tasks = [self.client.submit(function, shard, argument, pure=False, retries=_RETRIES) for shard in self.futures]
        try:
            return self.client.gather(tasks)
        except (KilledWorker, FutureCancelledError) as error:
            name = getattr(function, "__qualname__", str(function))
            raise ClusterError(
                f"a shard could not be computed, as its workers died while they ran {name}: {error}"
            ) from None

    def close(self) -> None:
        """Let the cluster forget the shards."""
        for future in self.futures:
            future.release()
        self.futures.clear()
