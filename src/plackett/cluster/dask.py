"""Shards on the machines of a Dask cluster."""

from __future__ import annotations

import itertools
import os
import pickle
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plackett._base.errors import ClusterError
from plackett._names.optional import optional
from plackett.cluster.shards import Function, Shards, cut, open_shard, save_shard
from plackett.data.dataset import RankingDataset
from plackett.data.mapped import source_of

__all__ = ["DaskShards"]

#: How often a task is tried again on another worker.
_RETRIES = 2
#: Seconds between two looks at the workers.
_LOOK = 0.2


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
        parts = cut(data, n_shards or max(len(client.nthreads()), 1))
        name = f"plackett-shard-{uuid.uuid4().hex}"
        self.futures = [
            client.submit(open_shard, part, key=f"{name}-{i}", retries=_RETRIES) for i, part in enumerate(parts)
        ]
        self._places: list[str] = []

    def gather(self, function: Function, argument: Any = None) -> list[Any]:
        """Call the function on every shard, where it is."""
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        tasks = [
            self.client.submit(
                function, shard, argument, pure=False, retries=_RETRIES, allow_other_workers=bool(place), workers=place
            )
            for shard, place in itertools.zip_longest(self.futures, self._places)
        ]
        try:
            return self.client.gather(tasks)
        except (KilledWorker, FutureCancelledError) as error:
            name = getattr(function, "__qualname__", str(function))
            raise ClusterError(
                f"a shard could not be computed, as its workers died while they ran {name}: {error}"
            ) from None

    def settle(self) -> None:
        """Give each shard a thread of a worker: that of one that has it, if possible, else of an idle one."""
        from distributed import wait as wait_for

        wait_for(self.futures)
        holders = self.client.who_has(self.futures)
        threads = self.client.nthreads()
        if set(self._places) <= set(threads) and len(self._places) == len(self.futures):
            return  # all are there still
        self._places = placed([holders[future.key] for future in self.futures], threads)

    def together(self, function: Function, arguments: Sequence[Any]) -> list[Any]:
        """Call the function on all shards at the same time, each in a process of its own next to the worker.

        If one of the others is lost, such a process can be ended; a thread of a worker cannot.
        """
        from distributed import Event

        self.settle()
        addresses = self._places
        stop = f"plackett-stop-{uuid.uuid4().hex}"
        event = Event(stop, client=self.client)
        tasks = [
            self.client.submit(in_child, shard, function, argument, stop, workers=[worker], pure=False)
            for shard, argument, worker in zip(self.futures, arguments, addresses, strict=True)
        ]
        try:
            while not all(task.status == "finished" for task in tasks):
                for task in tasks:
                    if task.status in ("error", "cancelled", "lost"):
                        task.result()
                gone = sorted(set(addresses) - set(self.client.nthreads()))
                if gone:
                    name = getattr(function, "__qualname__", str(function))
                    raise ClusterError(
                        f"worker {', '.join(gone)} was lost while all shards ran {name} together; the others were "
                        "stopped"
                    )
                time.sleep(_LOOK)
            return self.client.gather(tasks)
        except BaseException:
            event.set()
            self.client.cancel(tasks)
            raise

    def close(self) -> None:
        """Let the cluster forget the shards."""
        for future in self.futures:
            future.release()
        self.futures.clear()


def placed(holders: Sequence[Sequence[str]], threads: Mapping[str, int]) -> list[str]:
    """A worker for each shard, of which a worker takes as many as it has threads; Dask moves those that are elsewhere.

    >>> placed([["a", "b"], ["a"]], {"a": 1, "b": 1}), placed([["a"], ["a"]], {"a": 1, "b": 1})
    (['b', 'a'], ['a', 'b'])
    """
    from scipy.optimize import linear_sum_assignment

    seats = [(worker, i) for worker, n in sorted(threads.items()) for i in range(n)]
    if len(seats) < len(holders):
        raise ClusterError(
            f"{len(holders)} shards, but {len(threads)} workers with {len(seats)} threads are left; all shards must be "
            "worked on at the same time: give no more shards than there are workers"
        )
    # a shard that has to be moved costs more than any number of threads of one worker
    cost = np.array([[i + len(seats) * len(holders) * (worker not in own) for worker, i in seats] for own in holders])
    return [seats[seat][0] for seat in linear_sum_assignment(cost)[1]]


def in_child(shard: RankingDataset, function: Function, argument: Any, stop: str) -> Any:
    """Call a function on a shard in another process, which is ended when the event ``stop`` is set."""
    from distributed import Event

    event = Event(stop)
    with tempfile.TemporaryDirectory(prefix="plackett-shard-") as folder:
        path = source_of(shard.X) if isinstance(shard, RankingDataset) else None
        if path is None:
            path = str(Path(folder) / "shard.plackett")
            save_shard(shard, Path(path))
        order, answer = Path(folder) / "order", Path(folder) / "answer"
        order.write_bytes(pickle.dumps((path, function, argument), protocol=5))
        command = [sys.executable, "-m", "plackett.cluster.child", str(order), str(answer)]
        paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}  # it finds what the worker finds
        with subprocess.Popen(command, stdin=subprocess.PIPE, env=os.environ | paths) as child:  # ends with the pipe
            try:
                while child.poll() is None:
                    if event.is_set():
                        raise ClusterError("stopped, as another shard has failed")
                    time.sleep(_LOOK)
            finally:
                child.kill()
        if child.returncode or not answer.exists():
            raise ClusterError(f"the process of a shard ended with exit code {child.returncode}")
        ok, value = pickle.loads(answer.read_bytes())
    if not ok:
        raise value
    return value
