"""``/search``: a query in; the best documents of a search engine out, with snippets and, on demand, reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plackett._base.errors import DataError
from plackett._base.time_limit import check_time
from plackett.serve.http import Deferred, RefusedError, Request, Response, to_json
from plackett.serve.numbers import decode
from plackett.serve.service import Route, Service
from plackett.serve.tables import check_keys

if TYPE_CHECKING:
    from plackett.serve.engine import ServedEngine

#: Longest text of a query or of conditions, in characters, and most documents of an answer.
_LONGEST, _MOST = 1_000, 100
#: Features or terms named for each document.
_REASONS = 10
_DEFAULTS: dict[str, Any] = {"k": 10, "filters": "", "field": "", "plain": False, "explain": False, "qid": ""}


def search(service: Service, request: Request) -> Deferred:
    """Find the best documents for a query."""
    engine = service.models.engine(request.values.get("engine"))
    asked = decode(request.body).value
    if not isinstance(asked, dict):
        raise RefusedError(400, "the body must be a JSON object with query")
    check_keys(asked, ("query", *_DEFAULTS), "the request")
    if not isinstance(asked.get("query"), str) or not asked["query"].strip():
        raise RefusedError(400, "query must be a string with a word to search for")
    asked = _DEFAULTS | asked
    for name in ("query", "filters", "field", "qid"):
        if not isinstance(asked[name], str):
            raise RefusedError(400, f"{name} must be a string")
        if len(asked[name]) > _LONGEST:
            raise RefusedError(400, f"{name} has {len(asked[name])} characters; at most {_LONGEST} are accepted")
    for name in ("plain", "explain"):
        if not isinstance(asked[name], bool):
            raise RefusedError(400, f"{name} must be true or false")
    if type(asked["k"]) is not int or not 1 <= asked["k"] <= _MOST:
        raise RefusedError(400, f"k must be a whole number from 1 to {_MOST}")
    return Deferred(lambda: _answer(engine, asked))


def _answer(engine: ServedEngine, asked: dict[str, Any]) -> Response:
    hits = engine.pipeline.search(
        asked["query"],
        asked["k"],
        field=asked["field"] or None,
        plain=asked["plain"],
        filters=asked["filters"] or None,
        qid=asked["qid"] or None,
    )
    check_time()
    items: list[dict[str, Any]] = [
        {
            "id": hit.id,
            "score": hit.score,
            "retrieval_score": hit.retrieval_score,
            "title": hit.title,
            "snippet": hit.snippet(),
        }
        for hit in hits
    ]
    check_time()
    if asked["explain"]:
        try:
            reasons = engine.explain(hits)
        except DataError as error:
            raise RefusedError(400, f"explain: {error}") from None
        for item, parts in zip(items, reasons, strict=True):
            item["explanation"] = parts[:_REASONS]
    return Response(to_json({"engine": engine.name, "items": items}), documents=len(items))


_TEXT = {"type": "string", "maxLength": _LONGEST}
_REQUEST = {
    "type": "object",
    "required": ["query"],
    "properties": {
        "query": {**_TEXT, "pattern": r"\S", "description": "Words and operators, as for `plackett search`."},
        "k": {"type": "integer", "minimum": 1, "maximum": _MOST, "default": _DEFAULTS["k"]},
        "filters": {**_TEXT, "description": "Conditions that do not change the score: year:1990..1999"},
        "field": {**_TEXT, "description": "Field to search; by default all text."},
        "plain": {"type": "boolean", "description": "The query is plain words."},
        "explain": {"type": "boolean"},
        "qid": {**_TEXT, "description": "Id of the query, for features that are looked up by it."},
    },
    "additionalProperties": False,
}
_FOUND = {
    "type": "object",
    "required": ["engine", "items"],
    "properties": {
        "engine": {"type": "string"},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "score", "retrieval_score", "title", "snippet"],
                "properties": {
                    "id": {"type": "string"},
                    "score": {"type": "number"},
                    "retrieval_score": {"type": "number"},
                    "title": {"type": "string"},
                    "snippet": {"type": "string"},
                    "explanation": {"type": "array", "items": {"type": "object"}},
                },
            },
        },
    },
}
ROUTES = [
    Route(
        "POST",
        path,
        search,
        "Find the best documents of a search engine for a query; with explain, say why.",
        needs_models=True,
        body={"application/json": _REQUEST},
        answer={"application/json": _FOUND},
        statuses=(404,),
    )
    for path in ("/search", "/search/{engine}")
]
