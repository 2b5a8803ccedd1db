"""The service as an ASGI application: routing, limits, keys, threads for long work, metrics, reloading."""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from pathlib import Path
from typing import Any

from plackett._base.errors import DataError, LossError
from plackett._base.time_limit import check_time, time_limit
from plackett.serve.deadline import RETRY, Deadline
from plackett.serve.encodings import ENCODINGS, decompressed
from plackett.serve.http import ARROW, CSV, Deferred, RefusedError, Request, Response, refusal
from plackett.serve.logs import event
from plackett.serve.model import ServedModel
from plackett.serve.protocols import PROTOCOLS
from plackett.serve.service import Route, Service
from plackett.serve.settings import Settings
from plackett.serve.store import ModelStore
from plackett.serve.tables import check_keys
from plackett.serve.threads import Threads
from plackett.serve.worker import Worker

__all__ = ["application"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

#: Larger bodies are parsed and scored in a thread, so that other requests are not held up. Types that are slower to
#: read have their own size; what an Arrow stream or a compressed body takes does not go by its size.
_LARGE_BODY = 1 << 20
_LARGE_BODIES = {CSV: 1 << 16, ARROW: 0}
#: Seconds that the end of the service waits for threads whose requests were ended.
_CLOSE = 5.0
#: Paths whose route is remembered.
_REMEMBERED = 1_000
#: Seconds after which a worker publishes its counts to the others again.
_PUBLISH = 0.5


def application(
    models: Any, settings: Settings | None = None, *, worker: Worker | None = None, **limits: Any
) -> ServiceApplication:
    """The scoring service as an ASGI application, for uvicorn or any other ASGI server.

    Parameters
    ----------
    models
        Model files, as given to ``plackett serve``: one path or several, ``name=path``, folders. Or fitted rankers by
        name.
    settings
        Limits, keys and intervals; instead of them, the fields of `plackett.serve.settings.Settings` can be given by
        name (``max_body=…``).
    worker
        Which of several processes this is; for ``plackett serve --workers``.

    Examples
    --------
    >>> import plackett as pk
    >>> ranker = pk.rankers.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> app = application({"shop": ranker}, max_documents=1_000)
    >>> [route.path for route in app.routes][:2]
    ['/v2', '/v2/health/live']
    """
    settings = settings or Settings(**limits)
    if isinstance(models, dict):
        served = [ServedModel(model, name, threads=settings.threads) for name, model in models.items()]
        for model in served:
            model.warm_up()
        return ServiceApplication(ModelStore.of(served), settings)
    names = [models] if isinstance(models, (str, Path)) else models
    kept = None if worker is None else worker.folder
    from_files = ModelStore([str(name) for name in names], threads=settings.threads, kept=kept)
    return ServiceApplication(from_files, settings, worker=worker)


class ServiceApplication(Service):
    """The ASGI application; see `application`."""

    def __init__(
        self,
        models: ModelStore,
        settings: Settings | None = None,
        routes: Iterable[Route] | None = None,
        worker: Worker | None = None,
    ) -> None:
        everything = (route for protocol in PROTOCOLS for route in protocol.ROUTES)
        super().__init__(models, settings, routes or everything, worker)
        self._keys = [key.encode() for key in self.settings.api_keys]
        self._remembered: dict[str, tuple[dict[str, Route], dict[str, str]]] = {}
        self._waiting = 0
        self._threads: Threads | None = None
        self._running: set[Deadline] = set()
        self._tasks: list[asyncio.Task[None]] = []

    # --------------------------------------------------------------------------------------------------- requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or start and stop."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:
            raise RuntimeError(f"{scope['type']} is not served here")

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = time.perf_counter()
        headers = dict(scope["headers"])
        request = Request(scope["method"], scope["path"], scope["query_string"], headers, b"")
        label = "unknown"
        self.metrics.in_flight += 1
        try:
            try:
                methods, request.values = self._routed(request.path)
                route = self._chosen(methods, request.method)
                label = route.path
                self._admit(route, headers)
                if request.query_string and route.query:
                    check_keys(request.query, route.query, "the address")
                if request.method == "POST":
                    request.body = await self._body(headers, receive)
                response = await self._response(route, request)
            except RefusedError as refused:
                response = refusal(refused)
            except asyncio.CancelledError:
                raise
            except _GoneError:
                label, response = "disconnected", Response(b"", status=499)
                return
            except Exception:  # our own bug: the client is told so, and the log says where
                name = request.request_id().decode()
                event("request failed", logging.ERROR, error=True, path=request.path[:200], request_id=name)
                response = refusal(
                    RefusedError(500, f"internal error; the log has the details under request id {name}")
                )
                response = response._replace(headers=((b"x-request-id", name.encode()),))
            await self._send(send, request, response)
        finally:
            self.metrics.in_flight -= 1
            seconds = time.perf_counter() - start
            self.metrics.note(label, response.status, seconds, response.documents)
            if self.settings.access_log or (response.status >= 500 and label not in self.metrics.health):
                self._log(request, response, seconds)

    def _routed(self, path: str) -> tuple[dict[str, Route], dict[str, str]]:
        """The routes of a path, by method, and the parts of the path that they name."""
        routed = self._remembered.get(path)
        if routed is None:
            parts = path.split("/")
            for route in self.routes:
                values = _matched(route.path.split("/"), parts)
                if values is not None:
                    same = {other.method: other for other in reversed(self.routes) if other.path == route.path}
                    routed = same, values
                    break
            else:
                raise RefusedError(404, f"there is nothing at {path[:200]!r}; /docs lists what there is")
            if len(self._remembered) >= _REMEMBERED:
                self._remembered.clear()
            self._remembered[path] = routed
        return routed

    def _chosen(self, methods: dict[str, Route], method: str) -> Route:
        route = methods.get("GET" if method == "HEAD" else method)
        if route is None:
            allowed = sorted({*methods, "HEAD"} if "GET" in methods else methods)
            headers = ((b"allow", ", ".join(allowed).encode()),)
            raise RefusedError(405, f"{method} is not allowed here; {' and '.join(allowed)} is", headers)
        return route

    def _admit(self, route: Route, headers: dict[bytes, bytes]) -> None:
        if self._keys and not route.open:
            scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
            key = given.strip() if scheme.lower() == b"bearer" else headers.get(b"x-api-key", b"")
            # compared with all, so that the time reveals nothing
            if not sum(hmac.compare_digest(key, known) for known in self._keys):
                reason = (
                    "this key is not known" if key else "give an API key: 'Authorization: Bearer …' or 'X-API-Key: …'"
                )
                raise RefusedError(401, reason, ((b"www-authenticate", b"Bearer"),))
        if route.needs_models and not self.models.looked:
            raise RefusedError(503, "the models are being loaded", RETRY)

    async def _body(self, headers: dict[bytes, bytes], receive: Receive) -> bytes:
        most = self.settings.max_body
        length = headers.get(b"content-length", b"")
        if length.isdigit() and int(length[:20]) > most:
            raise RefusedError(413, f"the body has {int(length[:20])} bytes; at most {most} are accepted")
        encoding = _encoding(headers)
        if encoding not in (b"identity", *ENCODINGS):
            given, known = repr(encoding.decode("latin-1")[:40]), ", ".join(name.decode() for name in ENCODINGS)
            raise RefusedError(415, f"Content-Encoding is {given}; {known} are accepted")
        try:
            async with asyncio.timeout(self.settings.body_timeout):
                return await self._arrived(receive)
        except TimeoutError:
            limit = self.settings.body_timeout
            raise RefusedError(
                408, f"the body did not arrive within {limit:g} seconds", ((b"connection", b"close"),)
            ) from None

    async def _arrived(self, receive: Receive) -> bytes:
        parts: list[bytes] = []
        most, size = self.settings.max_body, 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _GoneError
            part = message.get("body", b"")
            size += len(part)
            if size > most:
                raise RefusedError(413, f"the body has more than {most} bytes, the most that is accepted")
            if not message.get("more_body"):
                return b"".join([*parts, part]) if parts else part
            parts.append(part)

    async def _response(self, route: Route, request: Request) -> Response:
        deadline = Deadline(self.settings.score_timeout)
        most = 0 if _encoding(request.headers) in ENCODINGS else _LARGE_BODIES.get(request.content_type, _LARGE_BODY)
        if len(request.body) > most:
            response = await self._in_thread(lambda: _handled(route, self, request), deadline)
        else:
            response = _handled(route, self, request)
        if isinstance(response, Deferred):
            return await self._in_thread(lambda: _called(response.make), deadline)
        return response

    async def _in_thread(self, function: Callable[[], Any], deadline: Deadline) -> Any:
        if self._waiting >= self.settings.max_waiting:
            raise RefusedError(503, "too many large requests are waiting; try again later", RETRY)
        if self._threads is None:
            self._threads = Threads(self.settings.threads)
        future = asyncio.wrap_future(self._threads.submit(lambda: _limited(function, deadline)))
        self._waiting += 1
        self._running.add(deadline)

        def done(future: asyncio.Future[Any]) -> None:
            self._waiting -= 1
            self._running.discard(deadline)
            if not future.cancelled():
                future.exception()  # marks the error as seen: perhaps nobody waits for it any more

        future.add_done_callback(done)
        try:
            return await asyncio.wait_for(asyncio.shield(future), deadline.seconds)
        except TimeoutError:
            future.cancel()  # what waits for a thread is cancelled; a running one ends when it next looks at the time
            raise deadline.refusal() from None

    async def _send(self, send: Send, request: Request, response: Response) -> None:
        headers = [
            (b"content-type", response.content_type),
            (b"content-length", b"%d" % len(response.body)),
            *response.headers,
        ]
        if b"x-request-id" in request.headers:
            headers.append((b"x-request-id", request.request_id()))
        if self.draining:  # the client is to open its next connection elsewhere
            headers.append((b"connection", b"close"))
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        body = b"" if request.method == "HEAD" else response.body
        await send({"type": "http.response.body", "body": body})

    def _log(self, request: Request, response: Response, seconds: float) -> None:
        event(
            "request",
            method=request.method,
            path=request.path[:200],
            status=response.status,
            milliseconds=round(1e3 * seconds, 3),
            bytes=len(request.body),
            documents=response.documents,
            request_id=request.request_id().decode(),
        )

    # ---------------------------------------------------------------------------------------------- start and stop

    async def _live(self, receive: Receive, send: Send) -> None:
        """Load the models in the background: the port is open at once, and readiness says when they are loaded."""
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                if self.models.arguments:
                    self._tasks.append(asyncio.create_task(self._keep_fresh()))
                if self.worker is not None:
                    self._tasks.append(asyncio.create_task(self._keep_others_informed(self.worker)))
                await send({"type": "lifespan.startup.complete"})
            else:
                await self.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def close(self) -> None:
        """Stop looking at the files, end what runs, and wait for the threads for a while."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        if self._threads is not None:
            for deadline in self._running:
                deadline.end()
            left = await asyncio.to_thread(self._threads.close, _CLOSE)
            if left:
                event("threads still at work are left behind", logging.WARNING, threads=left)
            self._threads = None

    async def _keep_fresh(self) -> None:
        while True:
            await asyncio.to_thread(self.refresh)
            if self.settings.reload_interval == 0 and self.models.ready:
                return
            await asyncio.sleep(self.settings.reload_interval or 1.0)

    async def _keep_others_informed(self, worker: Worker) -> None:
        while True:
            await asyncio.to_thread(self.metrics.publish, self.models, worker)
            await asyncio.sleep(_PUBLISH)


class _GoneError(Exception):
    """The client has left."""


def _encoding(headers: dict[bytes, bytes]) -> bytes:
    return headers.get(b"content-encoding", b"identity").strip().lower()


def _limited(function: Callable[[], Any], deadline: Deadline) -> Any:
    """Call a function that ends when its time is up; it may have waited for a thread for as long."""
    with time_limit(deadline.check):
        check_time()
        return function()


def _handled(route: Route, app: ServiceApplication, request: Request) -> Response | Deferred:
    encoding = _encoding(request.headers)
    if request.body and encoding in ENCODINGS:
        request.body = decompressed(request.body, encoding, app.settings.max_body)
    return _called(lambda: route.handle(app, request))


def _called(function: Callable[[], Any]) -> Any:
    """Call a handler; what our checks of data refuse is the client's mistake."""
    try:
        return function()
    except (DataError, LossError) as error:
        raise RefusedError(400, str(error)) from None


def _matched(pattern: list[str], parts: list[str]) -> dict[str, str] | None:
    if len(pattern) != len(parts):
        return None
    values = {}
    for want, given in zip(pattern, parts, strict=True):
        if want.startswith("{"):
            if not given:
                return None
            values[want[1:-1]] = given
        elif want != given:
            return None
    return values
