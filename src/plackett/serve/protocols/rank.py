"""``/rank``: the documents of one query with ids and features in; the order, scores and, on demand, reasons out.

Documents come as ``items`` (an id and features by name, or in training order) or, cheaper, as ``ids`` and a table
``features``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett.serve.http import Deferred, RefusedError, Request, Response, to_json
from plackett.serve.numbers import Decoded, decode
from plackett.serve.service import Route, Service
from plackett.serve.tables import check_keys, from_columns, from_objects, from_rows

if TYPE_CHECKING:
    from plackett.serve.model import ServedModel

#: Explanations are for people: no more documents than this are explained.
_EXPLAINED = 100
#: Keys of a request, and of an item.
_KEYS = ("items", "ids", "features", "top", "explain", "exit")
_ITEM = ("id", "features")
#: Features named for each document.
_REASONS = 10


def rank(service: Service, request: Request) -> Response | Deferred:
    """Order the documents of a query."""
    model = service.models.get(request.values.get("model"), request.query.get("version"))
    decoded = decode(request.body, service.settings.max_documents)
    asked = decoded.value
    if not isinstance(asked, dict):
        raise RefusedError(400, "the body must be a JSON object with items, or with ids and features")
    check_keys(asked, _KEYS, "the request")
    ids, X = _documents(model, asked, decoded)
    top = asked.get("top")
    if top is not None and (type(top) is not int or top < 1):
        raise RefusedError(400, "top must be a whole number from 1 on")
    explained = asked.get("explain", False)
    if not isinstance(explained, bool):
        raise RefusedError(400, "explain must be true or false")
    kept = len(X) if top is None else min(top, len(X))
    if explained and kept > _EXPLAINED:
        raise RefusedError(
            400, f"{kept} documents would be explained; ask for the first few with top, at most {_EXPLAINED}"
        )

    def answer() -> Response:
        scores = model.score(X, exit=asked.get("exit"))
        order = np.argsort(-scores, kind="stable")[:top]
        reasons = _reasons(model, X, order) if explained and len(X) else None
        return _answer(model, ids, scores, order, reasons)

    return model.answered(X, None, service.settings, answer, long=explained)


def _documents(model: ServedModel, asked: dict[str, Any], decoded: Decoded) -> tuple[list[Any], np.ndarray]:
    if "items" in asked:
        if "features" in asked or "ids" in asked:
            raise RefusedError(400, "give items, or ids and features, but not both")
        items = asked["items"]
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise RefusedError(400, "items must be a list of objects with id and features")
        for i, item in enumerate(items):
            if "id" not in item or "features" not in item:
                raise RefusedError(400, f"items[{i}] lacks {'id' if 'id' not in item else 'features'}")
            if len(item) > len(_ITEM):
                check_keys(item, _ITEM, f"items[{i}]")
        ids = [item["id"] for item in items]
        rows = [decoded.plain(item["features"]) for item in items]
        by_name = bool(rows) and isinstance(rows[0], dict)
        X = from_objects(model, rows, "items[{}].features") if by_name else from_rows(model, rows, decoded, "items")
    elif "features" in asked:
        features = asked["features"]
        if isinstance(features, dict):
            X = from_columns(model, features, decoded, "features")
        else:
            X = from_rows(model, features, decoded, "features")
        ids = decoded.plain(asked.get("ids", list(range(len(X)))))
    else:
        raise RefusedError(400, "give items, or ids and features")
    if not isinstance(ids, list) or len(ids) != len(X):
        number = len(ids) if isinstance(ids, list) else "no list of"
        raise RefusedError(400, f"{number} ids for {len(X)} documents")
    for i, value in enumerate(ids):
        if not isinstance(value, (str, int)) or isinstance(value, bool):
            raise RefusedError(400, f"the id of document {i} must be a string or a whole number")
    return ids, X


def _reasons(model: ServedModel, X: np.ndarray, order: np.ndarray) -> list[dict[str, Any]]:
    """Why each of the documents in ``order`` has its score."""
    explanation = model.scoring.explain(X, order)
    reasons = []
    for i in range(len(order)):
        parts = explanation.contributions[i]
        largest = np.argsort(-np.abs(parts), kind="stable")[:_REASONS]
        features = [
            {
                "feature": explanation.feature_names[j],
                "value": float(explanation.X[i, j]),
                "contribution": float(parts[j]),
            }
            for j in largest.tolist()
        ]
        rest = float(parts.sum() - parts[largest].sum())
        reasons.append(
            {
                "base": float(explanation.base[i]),
                "features": features,
                "others": rest,
                "method": explanation.method,
                "relative_to": model.scoring.explained_against,
            }
        )
    return reasons


def _answer(
    model: ServedModel, ids: list[Any], scores: np.ndarray, order: np.ndarray, reasons: list[dict[str, Any]] | None
) -> Response:
    items: list[dict[str, Any]] = [
        {"id": ids[i], "score": score} for i, score in zip(order.tolist(), scores[order].tolist(), strict=True)
    ]
    probable = model.scoring.relevance(scores[order])
    if probable is not None:
        for item, value in zip(items, probable.tolist(), strict=True):
            item["relevance"] = value
    if reasons is not None:
        for item, reason in zip(items, reasons, strict=True):
            item["explanation"] = reason
    answer = {"model": model.name, "version": model.version, "items": items}
    return Response(to_json(answer), documents=len(scores))


_ID = {"oneOf": [{"type": "string"}, {"type": "integer"}]}
_VALUE = {"type": ["number", "null"]}
_FEATURES = {"oneOf": [{"type": "array", "items": _VALUE}, {"type": "object", "additionalProperties": _VALUE}]}
_REQUEST = {
    "type": "object",
    "properties": {
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "features"],
                "properties": {"id": _ID, "features": _FEATURES},
                "additionalProperties": False,
            },
        },
        "ids": {"type": "array", "items": _ID},
        "features": {
            "oneOf": [
                {"type": "array", "items": {"type": "array", "items": _VALUE}},
                {"type": "object", "additionalProperties": {"type": "array", "items": _VALUE}},
            ]
        },
        "top": {"type": "integer", "minimum": 1},
        "explain": {"type": "boolean"},
        "exit": {"type": "boolean", "description": "false: all trees for every document, despite an early exit"},
    },
    "additionalProperties": False,
}
_RANKED = {
    "type": "object",
    "required": ["model", "version", "items"],
    "properties": {
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "score"],
                "properties": {"id": _ID, "score": {"type": "number"}, "relevance": {"type": "number"}},
            },
        }
    },
}
ROUTES = [
    Route(
        "POST",
        path,
        rank,
        "Order the documents of a query, best first; with explain, say why.",
        needs_models=True,
        body={"application/json": _REQUEST},
        answer={"application/json": _RANKED},
        query={"version": "Version of the model; the latest by default."},
        statuses=(404,),
    )
    for path in ("/rank", "/rank/{model}")
]
