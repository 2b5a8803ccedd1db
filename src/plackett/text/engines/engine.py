"""A search engine reached over HTTP."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import Request, urlopen

from plackett._base.errors import DataError

__all__ = ["Engine"]


class Engine:
    """An index of OpenSearch or Elasticsearch.

    Parameters
    ----------
    url
        Address of the index, such as ``http://localhost:9200/movies``; a user and a password may be part of it.
    headers
        Further headers, such as ``{"Authorization": "ApiKey …"}``.
    timeout
        Seconds to wait for an answer.

    Examples
    --------
    >>> Engine("http://localhost:9200/movies/")
    Engine('http://localhost:9200/movies')
    """

    def __init__(self, url: str, *, headers: Mapping[str, str] | None = None, timeout: float = 60.0) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or not parts.path.strip("/"):
            raise DataError(f"{url!r} is not the address of an index; write http://host:9200/index")
        host = parts.hostname if parts.port is None else f"{parts.hostname}:{parts.port}"
        self.url = urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))
        self.headers = dict(headers or {})
        self.timeout = timeout
        if parts.username is not None:
            user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            self.headers.setdefault("Authorization", "Basic " + base64.b64encode(user.encode()).decode())

    def __repr__(self) -> str:
        return f"Engine({self.url!r})"

    def search(self, bodies: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Answers to several searches, sent together."""
        lines = [line for body in bodies for line in ("{}", json.dumps(body, ensure_ascii=False))]
        answer = self._post("_msearch", "\n".join([*lines, ""]).encode("utf-8", "replace"))
        responses = answer.get("responses") if isinstance(answer, dict) else None
        if not isinstance(responses, list) or len(responses) != len(bodies):
            raise DataError(f"{self.url}: {len(bodies)} searches were sent, and the answer is {answer!r:.200}")
        return responses

    def _post(self, path: str, content: bytes) -> Any:
        address = f"{self.url}/{path}"
        headers = {"Content-Type": "application/x-ndjson", "Accept": "application/json", **self.headers}
        try:
            with urlopen(Request(address, content, headers, method="POST"), timeout=self.timeout) as answer:
                return json.loads(answer.read())
        except HTTPError as error:
            text = error.read(2000).decode("utf-8", "replace")
            raise DataError(f"{address}: HTTP {error.code}: {text[:500]}") from None
        except (URLError, OSError) as error:
            reason = getattr(error, "reason", error)
            raise DataError(f"{address}: cannot be reached ({reason})") from None
        except ValueError as error:
            raise DataError(f"{address}: the answer is not JSON ({error})") from None
