"""Run the service: sockets, TLS, limits on slow clients, and a stop that loses no request."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from plackett._errors import DataError
from plackett._optional import optional
from plackett.serve.application import Application
from plackett.serve.logs import event, log_to
from plackett.serve.workers import Workers

__all__ = ["bound_socket", "make_server", "serve"]

#: Connections that may wait to be accepted.
_BACKLOG = 2048

#: Largest head of a request (its first line and its headers), in bytes.
_MOST_HEAD = 64 * 1024
#: Most header fields of a request, with the trailers of a chunked body.
_MOST_FIELDS = 128
#: Bytes that a chunked body may take on the wire for each of its own.
_CHUNK_OVERHEAD = 16
#: Seconds within which the head of a request must have arrived.
_HEAD_TIMEOUT = 10.0
#: Seconds for which a connection that was refused is still read from, and what comes is thrown away.
_LINGER = 0.5


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
    workers: int = 1,
) -> None:
    """Serve until SIGTERM or Ctrl-C. Then say that the service is not ready, keep serving for a while, and stop.

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
        More connections of a process are answered with 503.
    workers
        Processes that share the socket.
    """
    log_to()
    optional("uvicorn", "the service needs")
    options: dict[str, Any] = {
        "ssl_certfile": tls_cert,
        "ssl_keyfile": tls_key,
        "limit_concurrency": max_connections,
        "drain": drain,
    }
    _check_certificate(tls_cert, tls_key)
    listener = bound_socket(host, port, uds)
    try:
        where = uds or f"{'https' if tls_cert else 'http'}://{_shown(host)}:{listener.getsockname()[1]}"
        event("listening", address=where, models=app.models.arguments, workers=workers)
        if workers > 1:
            Workers(app.models.arguments, app.settings, listener, options, workers).run()
            event("stopped")
        else:
            app.owns_process = True
            make_server(app, **options).run(sockets=[listener])
            event("stopped", requests=sum(app.metrics.requests.values()))
    finally:
        listener.close()
        if uds is not None:
            Path(uds).unlink(missing_ok=True)


def bound_socket(host: str, port: int, uds: str | None = None) -> socket.socket:
    """A socket that listens, so that a port in use is known before anything else begins."""
    if uds is not None:
        return _unix_socket(Path(uds))
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise OSError(f"cannot listen on {host!r}: {error.strerror}") from None
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise OSError(_why_not(error, f"{_shown(host)}:{port}", "--port")) from None
    listener.setblocking(False)
    return listener


def _unix_socket(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if path.is_socket() and not _answers(path):  # left behind by a process that was killed
            path.unlink()
        listener.bind(str(path))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise OSError(_why_not(error, str(path), "--uds")) from None
    listener.setblocking(False)
    return listener


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            return False
        except OSError:
            return True
    return True


def _why_not(error: OSError, address: str, option: str) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"cannot listen on {address}: it is in use; stop what uses it, or give another with {option}"
    return f"cannot listen on {address}: {error.strerror or error}"


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _check_certificate(cert: str | None, key: str | None) -> None:
    if cert is None:
        return
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(cert, key)
    except (ssl.SSLError, OSError) as error:
        raise DataError(f"{cert} and {key} are not a certificate and its key (PEM): {error}") from None


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
            if app.worker is not None:  # obeys the process that started it, and nobody else
                app.worker.obey(asyncio.get_running_loop(), self.stop)
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
        "backlog": _BACKLOG,
    }
    return Server(uvicorn.Config(app, **(settings | options)))


def _protocol() -> type:
    """Uvicorn's HTTP protocol with limits on the head of a request, which uvicorn lacks."""
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class LimitedHead(HttpToolsProtocol):
        _received = 0  # bytes since the request began; not those that came together with the end of the one before
        _of_next = 0  # bytes that count for the next request that begins
        _message_open = False
        _ended = False
        _body = 0  # of these, bytes of the body
        _head = _fields = 0  # bytes and number of the header fields, trailers of a chunked body included
        _head_open = True  # from the first byte on, until the headers are complete
        _refused = b""
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait_for_head()

        def connection_lost(self, exc: Exception | None) -> None:
            self._cancel()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self._ended:
                return
            self._received += len(data)
            self._of_next = 0 if self._message_open else len(data)
            super().data_received(data)
            if self._ended or self.transport.is_closing():
                return
            # whatever is not the body: a field that is not complete, trailers, extensions of chunks
            if self._received - _CHUNK_OVERHEAD * self._body > _MOST_HEAD:
                self._end(b"431 Request Header Fields Too Large", f"the headers take more than {_MOST_HEAD} bytes")
            elif self._timer is None and (self._head_open or self.cycle is None or self.cycle.response_complete):
                self._wait_for_head()  # also after empty lines between requests, which do not begin a message

        def on_message_begin(self) -> None:
            self._head_open = self._message_open = True
            self._received, self._of_next = self._of_next, 0
            self._body = self._head = self._fields = 0
            super().on_message_begin()

        def on_url(self, url: bytes) -> None:
            self._count(len(url))
            super().on_url(url)

        def on_header(self, name: bytes, value: bytes) -> None:
            self._fields += 1
            self._count(len(name) + len(value))
            super().on_header(name, value)

        def _count(self, n: int) -> None:
            self._head += n
            if self._fields > _MOST_FIELDS:
                self._refused = b"there are more than %d header fields" % _MOST_FIELDS
            elif self._head > _MOST_HEAD:
                self._refused = b"the headers take more than %d bytes" % _MOST_HEAD
            if self._refused:
                raise ValueError(self._refused)  # ends the parser, which calls send_400_response

        def on_headers_complete(self) -> None:
            self._head_open = False
            self._cancel()
            super().on_headers_complete()

        def on_body(self, body: bytes) -> None:
            self._body += len(body)
            super().on_body(body)

        def on_message_complete(self) -> None:
            self._message_open = False
            super().on_message_complete()

        def send_400_response(self, msg: str) -> None:
            if self._refused:
                self._end(b"431 Request Header Fields Too Large", self._refused.decode())
            else:
                self._end(b"400 Bad Request", "this is not an HTTP request")

        def _wait_for_head(self) -> None:
            self._timer = self.loop.call_later(_HEAD_TIMEOUT, self._too_slow)

        def _too_slow(self) -> None:
            self._timer = None
            if self._ended or self.transport.is_closing():
                return
            if self.cycle is not None and not self.cycle.response_complete:  # the answer before it comes first
                self._wait_for_head()
            else:
                self._end(b"408 Request Timeout", f"the headers did not arrive within {_HEAD_TIMEOUT:g} seconds")

        def _end(self, status: bytes, reason: str) -> None:
            self._cancel()
            body = b'{"error":"%s"}' % reason.encode()
            head = b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
            self._ended = True
            self.transport.write(head % (status, len(body)) + body)
            if (
                self.transport.can_write_eof()
            ):  # closed with data unread, the connection would be reset before the answer
                self.transport.write_eof()
                self._timer = self.loop.call_later(_LINGER, self.transport.close)
            else:
                self.transport.close()

        def _cancel(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    return LimitedHead
