"""Uvicorn's server with a stop that loses no request."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from plackett.serve.application import ServiceApplication
from plackett.serve.connection import LAST_CALL, Connection
from plackett.serve.logs import event


class GracefulServer(uvicorn.Server):
    """Stops after a time in which it still answers.

    Parameters
    ----------
    config
        Of uvicorn.
    app
        What is served.
    drain
        Seconds between the signal and the end.
    """

    def __init__(self, config: uvicorn.Config, app: ServiceApplication, drain: float) -> None:
        super().__init__(config)
        self.app, self.drain = app, drain

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGTERM and Ctrl-C, or when the process that started this one says so."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        if self.app.worker is not None:  # obeys the process that started it, and nobody else
            self.app.worker.obey(asyncio.get_running_loop(), self.stop)
            yield
            return
        loop = asyncio.get_running_loop()
        names = (signal.SIGINT, signal.SIGTERM)
        before = {name: signal.signal(name, lambda *_: loop.call_soon_threadsafe(self.stop)) for name in names}
        try:
            yield
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)

    def stop(self) -> None:
        """Begin to stop; called a second time, stop now."""
        if self.app.draining or self.drain == 0.0:
            self.should_exit = True
            return
        self.app.draining = True
        event("stopping", seconds=self.drain)
        asyncio.get_running_loop().call_later(self.drain, self.stop)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let in who has connected, close the listeners, and answer everybody.

        What waits to be accepted when the last process closes its listener is reset by the system.
        """
        self.app.stopping = True
        listening = [each for server in self.servers for each in server.sockets]
        copies = [socket.socket(fileno=os.dup(each.fileno())) for each in listening]
        closing: list[Any] = [*self.servers, *(sockets or [])]
        for each in closing:
            each.close()
        loop, accepted = asyncio.get_running_loop(), list[asyncio.Task[Any]]()
        for copy in copies:
            with copy:
                waiting = _waiting(copy)
            for each in waiting:
                entered = loop.connect_accepted_socket(self._connection, each, ssl=self.config.ssl)
                accepted.append(loop.create_task(entered))
        if accepted:
            await asyncio.wait(accepted, timeout=LAST_CALL)
        await super().shutdown(sockets)

    def _connection(self) -> Any:
        return Connection(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)


def _waiting(listener: socket.socket) -> list[socket.socket]:
    """The connections that wait to be accepted."""
    accepted = []
    listener.setblocking(False)
    while True:
        try:
            accepted.append(listener.accept()[0])
        except OSError:  # nobody is left
            return accepted
