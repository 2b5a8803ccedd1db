"""A process that computes cells: reads tasks from standard input and writes messages to standard output."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from importlib import import_module
from typing import Any

from plackett._base.process import own_process


def main(of_a_command: bool) -> None:
    """Compute one cell after another until standard input ends; ``of_a_command``: for the command line.

    The input has the user's own measures first, then tasks. Answers are tuples: ``("ready",)`` after all imports, and
    for each task ``("trial", number, best)`` after each trial, then ``("done",)`` or ``("failed", line, traceback)``.
    """
    if of_a_command:
        own_process()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one, which ends it
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of libraries must not mix with the answers

    def answer(*message: Any) -> None:
        pickle.dump(message, answers)
        answers.flush()

    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, tasks), daemon=True).start()
    import_module("plackett.experiments.cells.task")  # most of what tasks need, and most of the start-up time
    define_measures(tasks.get()())
    answer("ready")
    while True:
        load, n_jobs = tasks.get()
        try:
            load().run(n_jobs, lambda number, best: answer("trial", number, best))
        except Exception as error:
            answer("failed", f"{type(error).__name__}: {' '.join(str(error).split())}", traceback.format_exc())
        else:
            answer("done")


def _listen(stream: Any, tasks: queue.SimpleQueue[Any]) -> None:
    """Pass tasks on; exit at once when the sending process is gone."""
    while True:
        try:
            tasks.put(pickle.load(stream))
        except EOFError:
            os._exit(0)


class Packed:
    """A pickled object, to be unpickled where an error can be caught and reported."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def __call__(self) -> Any:
        """The object."""
        return pickle.loads(self.content)


def define_measures(measures: list[dict[str, Any]]) -> None:
    """Register the user's own measures, which may be used for selection."""
    from plackett.measures.custom import measure

    for definition in measures:
        measure(**definition)
