"""Calls of an ASGI application without a socket."""

from __future__ import annotations

import asyncio
import json
from typing import Any, NamedTuple
from urllib.parse import unquote


class Answer(NamedTuple):
    status: int
    headers: dict[bytes, bytes]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def call(app: Any, method: str, path: str, body: Any = None, parts: Any = None, **headers: str) -> Answer:
    """One request; ``body`` is sent as JSON unless it is bytes, ``parts`` one after another."""
    given = [(name.replace("_", "-").lower().encode(), value.encode()) for name, value in headers.items()]
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
        if "content_type" not in headers:
            given.append((b"content-type", b"application/json"))
    pieces = list(parts) if parts is not None else [body or b""]
    if parts is None:
        given.append((b"content-length", str(len(pieces[0])).encode()))
    path, _, query = path.partition("?")
    scope = {
        "type": "http", "method": method, "path": unquote(path), "raw_path": path.encode(), "headers": given,
        "query_string": query.encode(), "http_version": "1.1", "scheme": "http", "root_path": "",
    }  # fmt: skip
    sent: list[Any] = []

    async def receive() -> Any:
        if not pieces:
            await asyncio.sleep(3600)
        piece = pieces.pop(0)
        if callable(piece):
            return await piece()
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    start = sent[0]
    return Answer(start["status"], dict(start["headers"]), b"".join(m.get("body", b"") for m in sent[1:]))


def get(app: Any, path: str, **headers: str) -> Answer:
    return asyncio.run(call(app, "GET", path, **headers))


def post(app: Any, path: str, body: Any = None, **headers: str) -> Answer:
    return asyncio.run(call(app, "POST", path, body, **headers))
