"""Compute cells in several processes at once.

The processes start afresh (they run nothing of the caller's program, so a script needs no main guard). Each gets its
share of the threads, and data is passed as memory-mapped files. If a process dies, only its current cell is lost.
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
from collections.abc import Callable, Generator
from typing import Any

from plackett._base.process import is_own_process
from plackett.experiments.cells.task import CellTask
from plackett.experiments.cells.worker import Packed

#: Environment variables that limit the threads of the libraries we use.
_THREADS = (
    "PLACKETT_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)

#: Seconds to work without processes first: about as long as starting them takes.
_PATIENCE = 2.0


def run_in_processes(
    tasks: list[CellTask], workers: int, n_jobs: int, here: Callable[[CellTask], None]
) -> Generator[tuple[CellTask, tuple[Any, ...]], None, None]:
    """Run tasks on several workers with ``n_jobs`` threads each, and yield messages as they arrive.

    Messages are ``("begun",)``, ``("trial", number, best)``, ``("done",)`` and ``("failed", line, traceback)``.
    Until a process is ready, ``here`` is called with one task after the other, without messages. If all tasks finish in
    the time that it takes to start processes, none is started.
    """
    team = _Team(tasks, n_jobs)
    left = len(tasks)
    timer = threading.Timer(_PATIENCE, team.begin, [workers])
    timer.daemon = True
    try:
        timer.start()
        while left:
            task = None if team.ready.is_set() else team.take(_is_ours)
            if task is not None:
                here(task)
                left -= 1
                continue
            team.begin(workers)
            task, message = team.events.get()
            left -= message[0] in ("done", "failed")
            yield task, message
    finally:
        timer.cancel()
        team.end()


def _is_ours(task: CellTask) -> bool:
    """Whether the ranker belongs to this package: other code may crash the process that runs it."""
    return type(task.contestant.ranker).__module__.partition(".")[0] == "plackett"


class _Team:
    """Workers, each with a thread that listens to it and hands it one task after the other."""

    def __init__(self, tasks: list[CellTask], n_jobs: int) -> None:
        self.waiting = deque(tasks)
        self.n_jobs = n_jobs
        self.events: queue.SimpleQueue[tuple[CellTask, tuple[Any, ...]]] = queue.SimpleQueue()
        self.ready = threading.Event()
        self.workers: list[_Worker] = []
        self.begun = False
        self.closed = False
        self.lock = threading.Lock()

    def begin(self, workers: int) -> None:
        """Start the workers, but no more than there are tasks; a second call does nothing."""
        with self.lock:
            begun, self.begun = self.begun, True
        for _ in range(0 if begun else min(workers, len(self.waiting))):
            self.start()

    def start(self) -> None:
        """Start a worker."""
        with self.lock:
            if self.closed:
                return
            worker = _Worker(self.n_jobs)
            self.workers.append(worker)
        threading.Thread(target=self._drive, args=(worker,), daemon=True).start()

    def take(self, wanted: Callable[[CellTask], bool] = lambda task: True) -> CellTask | None:
        """Remove and return the first waiting task that is wanted."""
        with self.lock:
            task = next(filter(wanted, self.waiting), None)
            if task is not None:
                self.waiting.remove(task)
            return task

    def end(self) -> None:
        """End all processes; running cells are abandoned."""
        with self.lock:
            self.closed = True
            self.waiting.clear()
        for worker in self.workers:
            worker.end()

    def _drive(self, worker: _Worker) -> None:
        while (message := worker.receive()) is not None:
            if message[0] == "ready":
                self.ready.set()
            else:
                assert worker.task is not None
                self.events.put((worker.task, message))
            if message[0] != "trial":
                worker.task = self.take()
                if worker.task is None:
                    return
                self.events.put((worker.task, ("begun",)))
                worker.send((packed(worker.task), self.n_jobs))
        if self.closed:
            return
        task = worker.task or self.take()  # a worker that fails to start uses up a task, or this would never end
        if task is not None:
            self.events.put((task, worker.obituary()))
        if self.waiting:
            self.start()


class _Worker:
    """A process and its current task."""

    def __init__(self, n_jobs: int) -> None:
        self.task: CellTask | None = None
        self.log = tempfile.TemporaryFile()  # noqa: SIM115  closed with the worker
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        bounds = {"OMP_WAIT_POLICY": "passive"} | dict.fromkeys(_THREADS, str(n_jobs))
        self.process = subprocess.Popen(
            [sys.executable, "-c", f"from plackett.experiments.cells.worker import main; main({is_own_process()})"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=os.environ | bounds | {"PYTHONPATH": path},
        )
        self.send(packed(custom_measures()))

    def send(self, message: Any) -> None:
        """Write a message; a dead process is noticed when its answers end."""
        assert self.process.stdin is not None
        try:
            pickle.dump(message, self.process.stdin)
            self.process.stdin.flush()
        except BrokenPipeError:
            return

    def receive(self) -> tuple[Any, ...] | None:
        """Wait for the next message; None if the process has ended."""
        assert self.process.stdout is not None
        try:
            return pickle.load(self.process.stdout)  # type: ignore[no-any-return]
        except (EOFError, pickle.UnpicklingError, ValueError, OSError):
            return None

    def obituary(self) -> tuple[str, str, str]:
        """The failure message for the cell during which the process died."""
        code = self.process.wait()
        how = f"by signal {-code} (9 often means out of memory)" if code < 0 else f"with exit code {code}"
        self.log.seek(0)
        output = self.log.read().decode(errors="replace")[-4000:]
        return "failed", f"the process that computed the cell ended {how}", output

    def end(self) -> None:
        """End the process; a running cell is abandoned."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.log):
            assert stream is not None
            try:
                stream.close()
            except BrokenPipeError:
                continue


def packed(thing: Any) -> Packed:
    """Pickle an object with everything it needs from the caller's script, which the worker cannot import."""
    from joblib import wrap_non_picklable_objects

    return Packed(pickle.dumps(wrap_non_picklable_objects(thing, keep_wrapper=False)))


def custom_measures() -> list[dict[str, Any]]:
    """What defines the measures of the user in another process."""
    from plackett.measures.custom import CustomMeasure
    from plackett.measures.language import all_measures

    return [
        {"function": m.function, "name": m.name, "ascending": m.ascending, "bounds": m.bounds, "compiled": m.compiled}
        for m in all_measures().values()
        if isinstance(m, CustomMeasure)
    ]
