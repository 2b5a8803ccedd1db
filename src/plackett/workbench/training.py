"""Training from the page: the experiment runs in a process of its own, and the page is told how far it is."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset

#: Lines of progress that are kept.
_LINES = 500
_PROGRESS = re.compile(r"\[(\d+)/(\d+)\]")


@dataclass
class Job:
    """One experiment."""

    number: int
    settings: dict[str, Any]
    folder: Path
    state: str = "preparing"
    lines: list[str] = field(default_factory=list)
    error: str = ""
    began: float = field(default_factory=time.time)
    ended: float | None = None
    result: dict[str, Any] = field(default_factory=dict)
    #: Name of the winner's column once it is added.
    column: str | None = None
    process: subprocess.Popen[str] | None = field(default=None, repr=False)

    def describe(self) -> dict[str, Any]:
        """What the page shows."""
        done, total = self._progress()
        return {
            "number": self.number,
            "state": self.state,
            "lines": self.lines[-50:],
            "done": done,
            "total": total,
            "error": self.error,
            "seconds": (self.ended or time.time()) - self.began,
            "settings": self.settings,
            "result": self.result,
            "column": self.column,
            "report": self.state == "done" and (self.folder / "report" / "report.html").is_file(),
        }

    def _progress(self) -> tuple[int, int | None]:
        """Finished cells and all cells, from the last line of progress such as ``[3/15] …``."""
        for line in reversed(self.lines):
            progress = _PROGRESS.match(line)
            if progress:
                return int(progress[1]), int(progress[2])
        return 0, None


class Jobs:
    """The experiments of a workbench, one at a time.

    Parameters
    ----------
    folder
        Where they keep their files; None is a temporary folder.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.all: dict[int, Job] = {}
        self._lock = threading.Lock()
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    def start(self, settings: dict[str, Any], data: Callable[[], RankingDataset]) -> Job:
        """Start an experiment; it is prepared and run in the background."""
        from plackett.measures.language import parse
        from plackett.rankers.named import ranker_named

        parse(settings["measure"])
        for name in settings["rankers"]:
            if "." in name.partition("(")[0]:
                raise DataError(f"{name!r}: choose rankers of plackett; others are for `plackett experiment`")
            ranker_named(name)
        with self._lock:
            if any(job.state in ("preparing", "running") for job in self.all.values()):
                raise DataError("an experiment is running; wait for it, or stop it")
            number = len(self.all) + 1
            job = self.all[number] = Job(number, settings, self._folder(number))
        threading.Thread(target=self._work, args=(job, data), name="plackett-training", daemon=True).start()
        return job

    def _folder(self, number: int) -> Path:
        if self.folder is None and self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="plackett-workbench-", ignore_cleanup_errors=True)
        base = Path(self._temporary.name) if self._temporary is not None else Path(str(self.folder))
        stamp = time.strftime("%Y%m%d-%H%M%S")
        folder = base / f"training-{stamp}-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def job(self, number: int) -> Job:
        """A job by its number."""
        if number not in self.all:
            raise DataError(f"there is no experiment {number}")
        return self.all[number]

    def _work(self, job: Job, given: Callable[[], RankingDataset]) -> None:
        try:
            from plackett.data.native import save_dataset

            data = given()
            if data.n_queries < 3:
                raise DataError(f"{data.n_queries} judged queries; an experiment needs at least 3, better 30")
            save_dataset(data, job.folder / "data.plackett")
            (job.folder / "job.json").write_text(json.dumps(job.settings), encoding="utf-8")
            with self._lock:
                if job.state != "preparing":
                    return
                job.process = subprocess.Popen(
                    [sys.executable, "-m", "plackett.workbench.training_process", str(job.folder)],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                    encoding="utf-8",
                    errors="replace",
                )
                job.state = "running"
            assert job.process.stderr is not None
            for line in job.process.stderr:
                if line.strip():
                    job.lines.append(line.rstrip()[:500])
                    del job.lines[:-_LINES]
            code = job.process.wait()
            if job.state == "stopped":
                return
            if code != 0:
                raise DataError(job.lines[-1] if job.lines else f"the process ended with {code}")
            job.result = json.loads((job.folder / "result.json").read_text("utf-8"))
            job.state = "done"
        except Exception as error:  # the page shows it; the server keeps running
            job.error, job.state = f"{error}", "failed"
        finally:
            job.ended = time.time()

    def stop(self, number: int) -> Job:
        """End an experiment."""
        job = self.job(number)
        with self._lock:
            if job.state in ("preparing", "running"):
                job.state, job.ended = "stopped", time.time()
                if job.process is not None:
                    job.process.terminate()
        return job

    def winner(self, number: int) -> Any:
        """The ranker that won an experiment."""
        from plackett.rankers.storage import load

        job = self.job(number)
        if job.state != "done":
            raise DataError(f"experiment {number} is {job.state}; there is no winner to add")
        return load(job.folder / "winner.plackett")

    def close(self) -> None:
        """End what is running and remove temporary files."""
        for number in self.all:
            self.stop(number)
        for job in self.all.values():
            if job.process is not None:
                job.process.wait()
        if self._temporary is not None:
            self._temporary.cleanup()
