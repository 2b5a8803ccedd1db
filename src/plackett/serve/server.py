"""Run the service: sockets, TLS, and a stop that loses no request."""

from __future__ import annotations

import errno
import socket
import ssl
from pathlib import Path
from typing import Any

from plackett._base.errors import DataError, shell_options
from plackett._names.optional import optional
from plackett.serve.application import ServiceApplication
from plackett.serve.logs import event, log_to
from plackett.serve.workers import Workers

#: Connections that may wait to be accepted.
_BACKLOG = 2048


def serve(
    app: ServiceApplication,
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
            with shell_options(None):  # clients read the messages from now on
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


def make_server(app: ServiceApplication, *, drain: float = 0.0, **options: Any) -> Any:
    """A `uvicorn.Server` that stops gracefully; ``options`` are those of `uvicorn.Config`."""
    uvicorn: Any = optional("uvicorn", "the service needs")
    optional("httptools", "the service needs")
    from plackett.serve.connection import Connection
    from plackett.serve.graceful import GracefulServer

    settings: dict[str, Any] = {
        "http": Connection,
        "ws": "none",
        "lifespan": "on",
        "access_log": False,
        "log_config": None,
        "server_header": False,
        "timeout_keep_alive": 30,
        "timeout_graceful_shutdown": int(app.settings.score_timeout) + 1,
        "backlog": _BACKLOG,
    }
    return GracefulServer(uvicorn.Config(app, **(settings | options)), app, drain)
