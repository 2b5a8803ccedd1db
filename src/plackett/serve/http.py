"""Requests and responses as the protocols see them."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from plackett._names.optional import optional

JSON, TEXT, HTML = b"application/json", b"text/plain; charset=utf-8", b"text/html; charset=utf-8"
BINARY, ARROW, CSV = b"application/octet-stream", b"application/vnd.apache.arrow.stream", b"text/csv"

_REQUEST_ID = re.compile(rb"[A-Za-z0-9_.:/+=-]{1,128}")
_START, _COUNT = os.urandom(6).hex(), itertools.count(1)


class RefusedError(Exception):
    """A request that cannot be served: the status and the reason, which the client is told."""

    def __init__(self, status: int, reason: str, headers: tuple[tuple[bytes, bytes], ...] = ()) -> None:
        super().__init__(reason)
        self.status, self.reason, self.headers = status, reason, headers


class Response(NamedTuple):
    """What is sent back."""

    body: bytes
    content_type: bytes = JSON
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()
    #: For the metrics: number of documents that were scored.
    documents: int = 0


class Deferred(NamedTuple):
    """A response that takes long to make: the application calls the function in a thread."""

    make: Callable[[], Response]


#: Values of ``exit`` in an address.
_EXITS: dict[str | None, bool | None] = {None: None, "true": True, "false": False}


class Request:
    """A request whose body has arrived."""

    __slots__ = ("_query", "body", "headers", "method", "path", "query_string", "values")

    def __init__(self, method: str, path: str, query_string: bytes, headers: dict[bytes, bytes], body: bytes) -> None:
        self.method, self.path, self.query_string, self.headers, self.body = method, path, query_string, headers, body
        self.values: dict[str, str] = {}
        self._query: dict[str, str] | None = None

    @property
    def query(self) -> dict[str, str]:
        """The parameters after ``?``."""
        if self._query is None:
            self._query = dict(parse_qsl(self.query_string.decode("latin-1"), keep_blank_values=True))
        return self._query

    @property
    def exit(self) -> bool | None:
        """The early exit that the address asks for."""
        given = self.query.get("exit") if self.query_string else None
        if given not in _EXITS:
            raise RefusedError(400, f"exit is {str(given)[:40]!r}; it must be true or false")
        return _EXITS[given]

    @property
    def content_type(self) -> bytes:
        """The media type of the body, without parameters, in lower case."""
        return self.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()

    def request_id(self) -> bytes:
        """The client's id of the request if it is a plain one, otherwise a new id."""
        given = self.headers.get(b"x-request-id", b"")
        return given if _REQUEST_ID.fullmatch(given) else b"%s-%d" % (_START.encode(), next(_COUNT))


def to_json(value: Any) -> bytes:
    """JSON text; arrays of NumPy are lists, NaN is null."""
    orjson = optional("orjson", "the service needs")
    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)


def refusal(error: RefusedError) -> Response:
    """The response to a request that cannot be served."""
    return Response(to_json({"error": error.reason}), JSON, error.status, error.headers)
