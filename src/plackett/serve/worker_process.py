"""The program of a worker: ``python -m plackett.serve.worker_process``, started by `plackett.serve.workers`."""

from __future__ import annotations

import json
import logging
import signal
import socket
import sys
from pathlib import Path

from plackett._base.process import own_process
from plackett.serve.logs import event, log_to
from plackett.serve.settings import Settings
from plackett.serve.worker import Worker


def work() -> None:
    """Be a worker."""
    own_process()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)
    task = json.loads(sys.stdin.readline())
    log_to(worker=task["number"])
    from plackett.serve.application import application
    from plackett.serve.server import make_server

    worker = Worker(task["number"], task["workers"], Path(task["folder"]))
    settings = task["settings"] | {"api_keys": tuple(task["settings"]["api_keys"])}
    app = application(task["arguments"], Settings(**settings), worker=worker)
    app.owns_process = True
    if task["again"]:  # the others serve: take part only when ready
        app.refresh()
        if app.models.lacking:  # which would be missing for whoever is connected to this process
            event("not as complete as the others", logging.ERROR, lacking=app.models.lacking)
            sys.exit(1)
    make_server(app, **task["options"]).run(sockets=[socket.socket(fileno=task["socket"])])


if __name__ == "__main__":
    work()
