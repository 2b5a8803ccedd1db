"""Run the workbench."""

from __future__ import annotations

import secrets
import socket
from typing import Any
from urllib.parse import quote

from plackett._base.errors import DataError
from plackett._names.optional import optional
from plackett.workbench.application import application
from plackett.workbench.bench import Workbench

#: Addresses that only this machine reaches.
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def warm_up(bench: Workbench) -> None:
    """Compile what the first search would wait for."""
    from plackett.workbench.columns.base import Query, Ranked
    from plackett.workbench.overlap import overlaps

    overlaps({"a": Ranked(["x"], [1.0]), "b": Ranked(["x"], [1.0])})
    qid, text = next(iter(bench.source.queries.items()), (None, "the first query"))
    for column in list(bench.source.columns.values()):
        try:
            ranked = column.rank(Query(qid, text), 10)
            bench.source.cards(ranked.ids[:1], Query(qid, text))
        except DataError:  # whoever searches will see the error
            continue


def serve(bench: Workbench, *, host: str = "127.0.0.1", port: int = 8765, token: str | None = None) -> None:
    """Serve until Ctrl-C or SIGTERM.

    Parameters
    ----------
    host, port
        Where to listen. Anything but a loopback address needs a token; one is made if none is given.
    token
        What every request must bring; it is part of the address that is printed.
    """
    uvicorn: Any = optional("uvicorn", "the workbench needs")
    if host not in LOOPBACK and not token:  # an empty one, as from an unset variable, counts as none
        token = secrets.token_urlsafe(24)
    _check_free(host, port)
    app = application(bench, token=token)
    warm_up(bench)
    shown = socket.gethostname() if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    print(f"The workbench is at http://{shown}:{port}/{_with_token(token)}", flush=True)
    print(f"Judgements are kept in {bench.store.path}. Ctrl-C ends it.", flush=True)
    config = uvicorn.Config(
        app, host=host, port=port, log_level="warning", access_log=False, server_header=False, lifespan="off",
        ws="none", timeout_graceful_shutdown=3,
    )  # fmt: skip
    try:
        uvicorn.Server(config).run()
    finally:
        bench.jobs.close()
        bench.store.close()


def _with_token(token: str | None) -> str:
    """The end of the address.

    >>> _with_token("a+b&c"), _with_token(None)
    ('?token=a%2Bb%26c', '')
    """
    return f"?token={quote(token, safe='')}" if token else ""


def _check_free(host: str, port: int) -> None:
    """Raise an error with advice if the port is in use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise DataError(f"cannot listen on {host}:{port} ({error.strerror}); choose another --port") from None
