"""Shards in processes of this machine."""

from __future__ import annotations

import multiprocessing
import pickle
import tempfile
from collections.abc import Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from plackett._base.errors import ClusterError
from plackett._kernels.cores import n_threads
from plackett.cluster.shards import Function, Shards, cut, open_shard, save_shard

__all__ = ["LocalShards"]

#: How often a shard's worker is replaced during one call.
_RETRIES = 2


class LocalShards(Shards):
    """Shards held by processes of this machine, one process each.

    A dataset in memory is written to temporary files, which the processes map: nothing is copied from process to
    process but arguments and results. A process that dies (killed for lack of memory, say) is replaced and asked again;
    one that keeps dying is an error.

    Parameters
    ----------
    data
        A dataset, or the paths of files with whole queries in each, one shard per file.
    n_shards
        Number of shards that a dataset is cut into; None is one per core.

    Examples
    --------
    ::

        with pk.cluster.LocalShards(data, 4) as shards:
            ranker = pk.cluster.fit_linear(pk.ListNet(alpha=0.1), shards)
    """

    def __init__(self, data: Any, n_shards: int | None = None) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        parts = cut(data, n_threads(n_shards))
        if not isinstance(parts[0], Path):
            self._folder = tempfile.TemporaryDirectory(prefix="plackett-shards-")
            paths = [Path(self._folder.name) / f"{i}.plackett" for i in range(len(parts))]
            for part, path in zip(parts, paths, strict=True):
                save_shard(part, path)
            parts = list(paths)
        self.parts = parts
        self.workers: list[_Worker] = []
        try:
            self.workers += [_Worker(part) for part in parts]
        except BaseException:
            self.close()
            raise

    def gather(self, function: Function, argument: Any = None) -> list[Any]:
        """Call the function on every shard, at the same time."""
        order = pickle.dumps((function, argument), protocol=5)
        name = getattr(function, "__qualname__", str(function))
        results: list[Any] = [None] * len(self.workers)
        open_ones = dict.fromkeys(range(len(self.workers)), 0)
        failed: Exception | None = None
        for i in range(len(self.workers)):
            self._ask(i, order)
        while open_ones:  # all answers are read, even after a failure: no worker may keep one for the next call
            ready = wait([self.workers[i].connection for i in open_ones])
            for i in [i for i in open_ones if self.workers[i].connection in ready]:
                try:
                    ok, value = pickle.loads(self.workers[i].connection.recv_bytes())
                except (EOFError, OSError):
                    code = self.workers[i].end()
                    open_ones[i] += 1
                    self.workers[i] = _Worker(self.parts[i])
                    if open_ones[i] > _RETRIES:
                        failed = ClusterError(
                            f"shard {i + 1} of {len(self.parts)}: its process ended {open_ones[i]} times "
                            f"while it ran {name} (exit code {code}{_meaning(code)})"
                        )
                        del open_ones[i]
                    else:
                        self._ask(i, order)
                    continue
                del open_ones[i]
                if ok:
                    results[i] = value
                else:
                    failed = failed or value
        if failed is not None:
            raise failed
        return results

    def together(self, function: Function, arguments: Sequence[Any]) -> list[Any]:
        """Call the function in all processes at the same time; if one ends or fails, all are replaced."""
        results: list[Any] = [None] * len(self.workers)
        for i, argument in enumerate(arguments):
            self._ask(i, pickle.dumps((function, argument), protocol=5))
        waiting = set(range(len(self.workers)))
        try:
            while waiting:
                ready = wait([self.workers[i].connection for i in waiting])
                for i in [i for i in waiting if self.workers[i].connection in ready]:
                    waiting.remove(i)
                    try:
                        results[i] = self._answer(i, function)
                    except ClusterError:
                        self.workers[i].end(at_once=True)
                        self.workers[i] = _Worker(self.parts[i])
                        raise
                    except Exception:
                        self._look_for_dead(waiting, function)  # one that died makes the others fail
                        raise
        except BaseException:
            for i in waiting:  # they would wait for it forever
                self.workers[i].end(at_once=True)
                self.workers[i] = _Worker(self.parts[i])
            raise
        return results

    def _look_for_dead(self, waiting: set[int], function: Function) -> None:
        for i in waiting:
            self.workers[i].process.join(0.5)
            if not self.workers[i].process.is_alive():
                self._answer(i, function)

    def _answer(self, i: int, function: Function) -> Any:
        try:
            ok, value = pickle.loads(self.workers[i].connection.recv_bytes())
        except (EOFError, OSError):
            code = self.workers[i].end()
            name = getattr(function, "__qualname__", str(function))
            raise ClusterError(
                f"shard {i + 1} of {len(self.parts)}: its process ended while all of them ran {name} together "
                f"(exit code {code}{_meaning(code)}); the others were stopped"
            ) from None
        if not ok:
            raise value
        return value

    def _ask(self, i: int, order: bytes) -> None:
        try:
            self.workers[i].connection.send_bytes(order)
        except OSError:  # it is gone: reading from it says so
            return

    def close(self) -> None:
        """End the processes and remove the temporary files."""
        for worker in self.workers:
            worker.connection.close()  # all end at the same time
        for worker in self.workers:
            worker.end()
        self.workers.clear()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def _meaning(code: int | None) -> str:
    return ": killed, perhaps for lack of memory" if code == -9 else ""


class _Worker:
    """A process that holds one shard."""

    def __init__(self, part: Any) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would copy locks and threads in any state
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other, part), daemon=True)
        self.process.start()
        other.close()

    def end(self, at_once: bool = False) -> int | None:
        """End the process; its exit code."""
        self.connection.close()
        self.process.join(0.0 if at_once else 2.0)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        return self.process.exitcode


def _work(connection: Connection, part: Any) -> None:
    """Answer until the other side closes the connection."""
    shard: Any = None
    while True:
        try:
            order = connection.recv_bytes()
        except (EOFError, OSError, KeyboardInterrupt):
            return
        try:
            function, argument = pickle.loads(order)
            if shard is None:
                shard = open_shard(part)
            answer = pickle.dumps((True, function(shard, argument)), protocol=5)
        except Exception as error:
            try:
                answer = pickle.dumps((False, error), protocol=5)
                pickle.loads(answer)
            except Exception:  # an error that cannot be pickled
                answer = pickle.dumps((False, ClusterError(f"{type(error).__name__}: {error}")), protocol=5)
        connection.send_bytes(answer)
