"""Threads for long work that do not keep a process from ending.

Python waits at its end for the threads of a `concurrent.futures.ThreadPoolExecutor`, however long they take.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Any


class Threads:
    """A number of threads that take work in the order in which it was given.

    Parameters
    ----------
    most
        Number of threads; they are started as they are needed.

    Examples
    --------
    >>> threads = Threads(2)
    >>> threads.submit(lambda: 6 * 7).result()
    42
    >>> threads.close(1.0)
    0
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._threads: list[Thread] = []
        self._work: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()

    def submit(self, function: Callable[[], Any]) -> Future[Any]:
        """Call a function in a thread, as soon as one is free."""
        future: Future[Any] = Future()
        self._work.put((future, function))
        if len(self._threads) < self._most:
            self._threads.append(Thread(target=self._run, name="plackett-serve", daemon=True))
            self._threads[-1].start()
        return future

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            _do(*work)
            del work  # what waits for the next work holds nothing of the last

    def close(self, seconds: float) -> int:
        """Wait for what was given, but not for longer than this; returns how many threads still work then."""
        end = time.monotonic() + seconds
        for _ in self._threads:
            self._work.put(None)
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        return sum(thread.is_alive() for thread in self._threads)


def _do(future: Future[Any], function: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)
