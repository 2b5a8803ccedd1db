"""Several processes that serve from one socket: started together, replaced when they die, stopped together.

Each worker is a process of its own that loads the models and looks at their files itself. It reads from the pipe that
started it: what it is to serve, then one line per signal, and the end of the pipe if the parent is gone. Signals of the
operating system, which often go to a whole group of processes, it ignores.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from typing import Any

from plackett.serve.logs import event
from plackett.serve.settings import Settings

#: Seconds between two looks at the workers.
_LOOK = 0.1
#: A worker that lived shorter than this is replaced only after as many seconds.
_SHORT_LIFE = 5.0
#: Seconds that a worker has, after the time to drain and the longest request, before it is killed.
_GRACE = 10.0


class Workers:
    """The parent: starts the workers, replaces those that die, and hands signals on.

    Parameters
    ----------
    arguments
        The models, as given to ``plackett serve``.
    options
        Those of `plackett.serve.server.make_server`.
    """

    def __init__(
        self, arguments: list[str], settings: Settings, listener: socket.socket, options: dict[str, Any], number: int
    ) -> None:
        self.arguments, self.settings, self.listener, self.options = arguments, settings, listener, options
        self.number = number
        self.signals = 0

    def run(self) -> None:
        """Serve until SIGTERM or Ctrl-C."""
        before = {name: signal.signal(name, self._noted) for name in (signal.SIGINT, signal.SIGTERM)}
        processes: dict[int, _Process] = {}
        with tempfile.TemporaryDirectory(prefix="plackett-serve-") as folder:
            try:
                for number in range(1, self.number + 1):
                    processes[number] = self._started(number, folder)
                while not self.signals:
                    time.sleep(_LOOK)
                    self._replace(processes, folder)
                self._stop(processes)
            finally:
                for process in processes.values():
                    process.kill()
                for name, handler in before.items():
                    signal.signal(name, handler)

    def _noted(self, *_: Any) -> None:
        self.signals += 1

    def _started(self, number: int, folder: str, *, again: bool = False) -> _Process:
        task = {
            "arguments": self.arguments,
            "settings": asdict(self.settings),
            "options": self.options,
            "socket": self.listener.fileno(),
            "number": number,
            "workers": self.number,
            "folder": folder,
            "again": again,
        }
        return _Process(task, self.listener)

    def _replace(self, processes: dict[int, _Process], folder: str) -> None:
        for number, process in processes.items():
            code = process.process.poll()
            if code is None or (process.ended_early and time.monotonic() < process.started + _SHORT_LIFE):
                continue
            if not process.ended_early:
                event("worker ended", logging.ERROR, worker=number, code=code)
                process.close()
                if time.monotonic() < process.started + _SHORT_LIFE:
                    process.ended_early = True  # tried again later, not all the time
                    continue
            others = [each for other, each in processes.items() if other != number]
            again = any(each.process.poll() is None for each in others)
            processes[number] = self._started(number, folder, again=again)

    def _stop(self, processes: dict[int, _Process]) -> None:
        self.listener.close()  # nobody accepts who comes after the last worker has closed its own
        told = 0
        limit = float(self.options["drain"]) + self.settings.score_timeout + _GRACE
        deadline = time.monotonic() + limit
        while any(process.process.poll() is None for process in processes.values()) and time.monotonic() < deadline:
            for _ in range(told, self.signals):
                for process in processes.values():
                    process.tell("stop")
            told = self.signals
            time.sleep(_LOOK / 4)


class _Process:
    """A worker as its parent sees it."""

    def __init__(self, task: dict[str, Any], listener: socket.socket) -> None:
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        self.started, self.ended_early = time.monotonic(), False
        self.process = subprocess.Popen(
            [sys.executable, "-m", "plackett.serve.worker_process"],
            stdin=subprocess.PIPE,
            pass_fds=(listener.fileno(),),
            env=os.environ | {"PYTHONPATH": path},
            text=True,
        )
        self.tell(json.dumps(task))

    def tell(self, line: str) -> None:
        """Write a line; a dead process is noticed by its exit code."""
        assert self.process.stdin is not None
        try:
            print(line, file=self.process.stdin, flush=True)
        except (BrokenPipeError, ValueError):
            return

    def close(self) -> None:
        """Close the pipe of a process that has ended."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            return

    def kill(self) -> None:
        """End the process if it still runs."""
        self.process.kill()
        self.process.wait()
        self.close()
