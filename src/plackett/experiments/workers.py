"""Cells in several processes at once.

The processes are started afresh (nothing of the caller's program runs in them, so a script needs no main guard), each
gets its share of the threads, and data reach them as memory-mapped files. A process that dies takes one cell with it.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Generator
from typing import Any

from plackett.experiments.cell_task import CellTask
from plackett.experiments.worker import Packed

__all__ = ["run_in_processes"]

#: Environment variables that bound the threads of the libraries we use.
_THREADS = (
    "PLACKETT_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS", "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip


def run_in_processes(
    tasks: list[CellTask], workers: int, n_jobs: int
) -> Generator[tuple[CellTask, tuple[Any, ...]], None, None]:
    """Run tasks on so many workers of ``n_jobs`` threads each, and tell what happens as it happens.

    Messages are ``("begun",)``, ``("trial", number, best)``, ``("done",)`` and ``("failed", line, traceback)``.
    """
    waiting = deque(tasks)
    events: queue.SimpleQueue[tuple[_Worker, tuple[Any, ...] | None]] = queue.SimpleQueue()
    team = [_Worker(n_jobs, events) for _ in range(min(workers, len(tasks)))]
    try:
        for worker in team:
            yield worker.give(waiting.popleft()), ("begun",)
        while any(worker.task for worker in team):
            worker, message = events.get()
            task = worker.task
            if task is None:  # the end of a process that was told to end
                continue
            ended = message is None or message[0] != "trial"
            if ended:
                worker.task = None
            yield task, worker.obituary() if message is None else message
            if ended and waiting:
                if message is None:
                    team.remove(worker)
                    worker = _Worker(n_jobs, events)
                    team.append(worker)
                yield worker.give(waiting.popleft()), ("begun",)
    finally:
        for worker in team:
            worker.end()


class _Worker:
    """A process, and the thread that listens to it."""

    def __init__(self, n_jobs: int, events: queue.SimpleQueue[Any]) -> None:
        self.n_jobs = n_jobs
        self.task: CellTask | None = None
        self.log = tempfile.TemporaryFile()  # noqa: SIM115  closed with the worker
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        bounds = {"OMP_WAIT_POLICY": "passive"} | dict.fromkeys(_THREADS, str(n_jobs))
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from plackett.experiments.worker import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=os.environ | bounds | {"PYTHONPATH": path},
        )
        self.send(_packed(_custom_measures()))
        threading.Thread(target=self._listen, args=(events,), daemon=True).start()

    def send(self, message: Any) -> None:
        """Write a message; a process that is gone is noticed by its listener."""
        assert self.process.stdin is not None
        try:
            pickle.dump(message, self.process.stdin)
            self.process.stdin.flush()
        except BrokenPipeError:
            return

    def give(self, task: CellTask) -> CellTask:
        """Hand over a task."""
        self.task = task
        self.send((_packed(task), self.n_jobs))
        return task

    def obituary(self) -> tuple[str, str, str]:
        """What to say of the cell during which the process died."""
        code = self.process.wait()
        how = f"by signal {-code} (9 is often a lack of memory)" if code < 0 else f"with exit code {code}"
        self.log.seek(0)
        said = self.log.read().decode(errors="replace")[-4000:]
        return "failed", f"the process that computed the cell ended {how}", said

    def end(self) -> None:
        """End the process; a cell under way is given up."""
        self.task = None
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.log):
            assert stream is not None
            try:
                stream.close()
            except BrokenPipeError:
                continue

    def _listen(self, events: queue.SimpleQueue[Any]) -> None:
        stream = self.process.stdout
        assert stream is not None
        with stream:
            while True:
                try:
                    message = pickle.load(stream)
                except (EOFError, pickle.UnpicklingError, ValueError, OSError):
                    events.put((self, None))
                    return
                events.put((self, message))


def _packed(thing: Any) -> Packed:
    """Pickled with what it needs of the caller's script, which the worker cannot import."""
    from joblib import wrap_non_picklable_objects

    return Packed(pickle.dumps(wrap_non_picklable_objects(thing, keep_wrapper=False)))


def _custom_measures() -> list[dict[str, Any]]:
    from plackett.measures.custom import CustomMeasure
    from plackett.measures.language import all_measures

    return [
        {"function": m.function, "name": m.name, "ascending": m.ascending, "bounds": m.bounds, "compiled": m.compiled}
        for m in all_measures().values()
        if isinstance(m, CustomMeasure)
    ]
