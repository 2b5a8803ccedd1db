"""Who may ask: hosts, origins, tokens, and the headers that keep a page from doing what it should not."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from plackett.serve.http import RefusedError, refusal

Scope = MutableMapping[str, Any]
_COOKIE = "plackett_workbench"
#: A name or an IPv4 address, or an IPv6 address in brackets; then perhaps a port.
_HOST = re.compile(r"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[^\[\]:/@?#\s]+))(?::[0-9]{1,5})?")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
#: For the page: nothing but its own files, no inline code, in no frame.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
#: For reports, whose code is inline: an origin of their own, without access to anything.
REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts"
)
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class Guard:
    """ASGI middleware.

    - With a token, every request needs it: as ``Authorization: Bearer``, or as the cookie that a page opened with
      ``?token=`` gets. Without one, only requests to a loopback name are answered, so that no site can point a name of
      its own at this machine.
    - A request that changes something must come from the page itself: browsers say where it comes from.
    """

    def __init__(self, app: Any, token: str | None = None, hosts: tuple[str, ...] = ()) -> None:
        self.app, self.token = app, token or None  # an empty token would let everybody in
        self.hosts = (*_LOOPBACK, *hosts)

    async def __call__(self, scope: Scope, receive: Callable[..., Awaitable[Any]], send: Callable[..., Any]) -> None:
        """Check a request and add headers to its response."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        cookie: list[tuple[bytes, bytes]] = []
        try:
            self._check_host(headers)
            cookie = self._check_token(scope, headers)
            if scope["method"] not in ("GET", "HEAD"):
                self._check_origin(headers)
        except RefusedError as refused:
            answer = refusal(refused)
            await send({"type": "http.response.start", "status": answer.status, "headers": [
                (b"content-type", answer.content_type), (b"content-length", b"%d" % len(answer.body)), *_HEADERS,
            ]})  # fmt: skip
            await send({"type": "http.response.body", "body": answer.body})
            return

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", []))
                names = {name.lower() for name, _ in given}
                if b"content-security-policy" not in names:
                    given.append((b"content-security-policy", _POLICY.encode()))
                if b"cache-control" not in names:
                    given.append((b"cache-control", b"no-store"))
                message = {**message, "headers": [*given, *_HEADERS, *cookie]}
            await send(message)

        await self.app(scope, receive, with_headers)

    def _check_host(self, headers: dict[bytes, bytes]) -> None:
        name = _host(headers.get(b"host", b"").decode("latin-1"))
        if self.token is None and name not in self.hosts:
            raise RefusedError(421, f"this workbench is not {name!r:.100}; open it as 127.0.0.1 or localhost")

    def _check_token(self, scope: Scope, headers: dict[bytes, bytes]) -> list[tuple[bytes, bytes]]:
        """Raise an error without the token; return the cookie to set if it came with the address."""
        if self.token is None:
            return []
        given = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token", "")
        if given and self._same(given):
            cookie = f"{_COOKIE}={self._kept()}; Path=/; HttpOnly; SameSite=Strict"
            return [(b"set-cookie", cookie.encode())]
        scheme, _, bearer = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        if scheme.lower() == "bearer" and self._same(bearer.strip()):
            return []
        try:
            kept = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1")).get(_COOKIE)
        except Exception:  # http.cookies raises its own error for cookies of other sites
            kept = None
        if kept is not None and hmac.compare_digest(kept.value.encode(), self._kept().encode()):
            return []
        raise RefusedError(401, "open the address that the workbench printed: it has the token")

    def _kept(self) -> str:
        """The value of the cookie: a token may have characters that cookies cannot hold."""
        return hashlib.sha256(str(self.token).encode()).hexdigest()

    def _same(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), str(self.token).encode())

    def _check_origin(self, headers: dict[bytes, bytes]) -> None:
        site = headers.get(b"sec-fetch-site")
        if site is not None and site not in (b"same-origin", b"none"):
            raise RefusedError(403, "requests that change something must come from the page of the workbench")
        origin = headers.get(b"origin")
        if origin is not None and _authority(origin.decode("latin-1")) != headers.get(b"host", b"").decode("latin-1"):
            raise RefusedError(403, "requests that change something must come from the page of the workbench")
        # other sites cannot send this type without asking first
        if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != b"application/json":
            raise RefusedError(415, "send JSON: Content-Type: application/json")


def _host(text: str) -> str:
    """The name in a Host header, without the port; all of the text if it is not a name and perhaps a port.

    >>> _host("localhost:8765"), _host("[::1]:8765"), _host("[::1].evil.example"), _host("[::1"), _host("127.0.0.1:x")
    ('localhost', '::1', '[::1].evil.example', '[::1', '127.0.0.1:x')
    """
    found = _HOST.fullmatch(text)
    return text if found is None else found["address"] or found["name"]


def _authority(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""
