"""Processes that start in milliseconds: forks of one that has imported what they need and has done nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

_SERVER = """
import json, os, sys, tempfile, traceback

def child(code, argument, folder, environment, out, err):
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    os.chdir(folder)
    sys.path.insert(0, folder)
    os.environ.update(environment)
    sys.dont_write_bytecode = True
    sys.argv = ["-c", argument]
    status = 1
    try:
        exec(code, {"__name__": "__main__"})
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)

for line in sys.stdin:
    request = json.loads(line)
    started = []
    for argument in request["arguments"]:
        out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        pid = os.fork()
        if not pid:
            child(request["code"], argument, request["folder"], request["environment"], out, err)
        started.append((pid, out, err))
    answers = []
    for pid, *files in started:
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        for file in files:
            file.seek(0)
        answers.append([status, *(file.read().decode() for file in files)])
    print(json.dumps(answers), flush=True)
"""


class Ended(NamedTuple):
    """How a process ended and what it wrote."""

    status: int
    out: str
    err: str


class Forks:
    """Runs code in new processes.

    The processes share what ``preparation`` imports, and the seed of Python's hashes: a test of what differs from one
    process to the next starts real ones. Where there is no safe fork, all processes are real ones.
    """

    def __init__(self, preparation: str) -> None:
        self.server: Any = None
        if sys.platform == "linux":
            command = [sys.executable, "-c", preparation + _SERVER]
            self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(
        self, code: str, folder: Path, environment: dict[str, str], arguments: tuple[str, ...] = ("",)
    ) -> list[Ended]:
        """Run the code in ``folder``, in one process for each argument, all at the same time."""
        if self.server is None:
            return afresh(code, folder, environment, arguments)
        request = {"code": code, "folder": str(folder), "environment": environment, "arguments": arguments}
        self.server.stdin.write(json.dumps(request) + "\n")
        self.server.stdin.flush()
        return [Ended(*answer) for answer in json.loads(self.server.stdout.readline())]

    def end(self) -> None:
        """End the process that forks."""
        if self.server is not None:
            self.server.communicate()


def afresh(code: str, folder: Path, environment: dict[str, str], arguments: tuple[str, ...] = ("",)) -> list[Ended]:
    """Run the code in processes that are started from nothing."""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, argument],
            cwd=folder,
            env=os.environ | environment | {"PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for argument in arguments
    ]
    return [Ended(process.wait(), out, err) for process in running for out, err in [process.communicate()]]
