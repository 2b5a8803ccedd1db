"""Run the service: sockets, TLS, limits on slow clients, and a stop that loses no request."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from plackett._optional import optional
from plackett.serve.application import Application
from plackett.serve.logs import event, log_to

__all__ = ["make_server", "serve"]

#: Largest head of a request (its first line and its headers), in bytes.
_MOST_HEAD = 64 * 1024
#: Seconds within which the head of a request must have arrived.
_HEAD_TIMEOUT = 10.0


def serve(
    app: Application,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    uds: str | None = None,
    tls_cert: str | None = None,
    tls_key: str | None = None,
    drain: float = 2.0,
    max_connections: int = 1_000,
) -> None:
    """Serve until SIGTERM or Ctrl-C. Then say that the service is not ready, go on for a while, and stop.

    Parameters
    ----------
    host, port, uds
        Where to listen; ``uds`` is a Unix socket.
    tls_cert, tls_key
        Certificate and key files (PEM); with them the service speaks HTTPS.
    drain
        Seconds between the signal and the end during which requests are still answered: load balancers see that the
        service is not ready, and clients are told to close their connections. A second signal ends it at once.
    max_connections
        More connections are answered with 503.
    """
    log_to()
    server = make_server(
        app,
        host=host,
        port=port,
        uds=uds,
        ssl_certfile=tls_cert,
        ssl_keyfile=tls_key,
        limit_concurrency=max_connections,
        drain=drain,
    )
    where = uds or f"{'https' if tls_cert else 'http'}://{host}:{port}"
    event("listening", address=where, models=app.models.arguments)
    server.run()
    event("stopped", requests=sum(app.metrics.requests.values()))


def make_server(app: Application, *, drain: float = 0.0, **options: Any) -> Any:
    """A `uvicorn.Server` that stops gracefully; ``options`` are those of `uvicorn.Config`."""
    uvicorn: Any = optional("uvicorn", "the service needs")
    optional("httptools", "the service needs")

    class Server(uvicorn.Server):  # type: ignore[misc,name-defined]
        """Stops after a time in which it still answers."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            if threading.current_thread() is not threading.main_thread():
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
            if app.draining or drain == 0.0:
                self.should_exit = True
                return
            app.draining = True
            event("stopping", seconds=drain)
            asyncio.get_running_loop().call_later(drain, self.stop)

    settings: dict[str, Any] = {
        "http": _protocol(),
        "ws": "none",
        "lifespan": "on",
        "access_log": False,
        "log_config": None,
        "server_header": False,
        "timeout_keep_alive": 30,
        "timeout_graceful_shutdown": int(app.settings.score_timeout) + 1,
        "backlog": 2048,
    }
    return Server(uvicorn.Config(app, **(settings | options)))


def _protocol() -> type:
    """Uvicorn's HTTP protocol with limits on the head of a request, which it has none of."""
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class LimitedHead(HttpToolsProtocol):
        _head_bytes = 0
        _head_open = True  # from the first byte on, until the headers are complete
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._timer = self.loop.call_later(_HEAD_TIMEOUT, self._too_slow)

        def connection_lost(self, exc: Exception | None) -> None:
            self._cancel()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._head_open:
                self._head_bytes += len(data)
                if self._head_bytes > _MOST_HEAD:
                    self._end(b"431 Request Header Fields Too Large", f"the headers take more than {_MOST_HEAD} bytes")
                elif self._timer is None:
                    self._timer = self.loop.call_later(_HEAD_TIMEOUT, self._too_slow)

        def on_message_begin(self) -> None:
            self._head_open, self._head_bytes = True, 0
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            self._head_open = False
            self._cancel()
            super().on_headers_complete()

        def send_400_response(self, msg: str) -> None:
            self._end(b"400 Bad Request", "this is no HTTP request")

        def _too_slow(self) -> None:
            self._timer = None
            if self._head_open and not self.transport.is_closing():
                self._end(b"408 Request Timeout", f"the headers did not arrive within {_HEAD_TIMEOUT:g} seconds")

        def _end(self, status: bytes, reason: str) -> None:
            self._cancel()
            body = b'{"error":"%s"}' % reason.encode()
            head = b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
            self.transport.write(head % (status, len(body)) + body)
            self.transport.close()

        def _cancel(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    return LimitedHead
