"""One of several processes that serve: what it tells the others, and how it obeys the process that started it."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Worker:
    """What a worker process knows about itself and the others.

    Parameters
    ----------
    number, workers
        Its number from 1 on, and how many there are.
    folder
        Where the workers write what they have counted, one file each.
    """

    def __init__(self, number: int, workers: int, folder: Path) -> None:
        self.number, self.workers, self.folder = number, workers, folder

    @property
    def path(self) -> Path:
        """The file with what this worker has counted."""
        return self.folder / f"{self.number}.json"

    def publish(self, counted: dict[str, Any]) -> None:
        """Publish counts to the others; a reader sees the old file or the new one."""
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(counted))
        new.replace(self.path)

    def published(self) -> dict[int, dict[str, Any]]:
        """What each worker last published."""
        counts = {}
        for number in range(1, self.workers + 1):
            path = self.folder / f"{number}.json"
            if path.exists():
                counts[number] = json.loads(path.read_text())
        return counts

    def obey(self, loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
        """Call ``stop`` in the loop for each line of the parent, and when the parent is gone."""

        def listen() -> None:
            for _ in sys.stdin:
                loop.call_soon_threadsafe(stop)
            for _ in range(2):  # now
                loop.call_soon_threadsafe(stop)

        threading.Thread(target=listen, daemon=True).start()
