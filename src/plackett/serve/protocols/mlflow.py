"""MLflow's scoring server: ``/invocations`` and ``/ping``, as SageMaker and MLflow's own tools call them.

JSON in the four forms of MLflow (``dataframe_split``, ``dataframe_records``, ``instances``, ``inputs``), or CSV. A
column ``qid`` says which list a document belongs to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.version import __version__
from plackett.serve.arrow import arrow_columns, arrow_table
from plackett.serve.csv_rows import csv_table
from plackett.serve.http import ARROW, CSV, JSON, TEXT, Deferred, RefusedError, Request, Response, to_json
from plackett.serve.numbers import Decoded, decode
from plackett.serve.service import Route, Service
from plackett.serve.tables import (
    QID,
    check_keys,
    column,
    from_columns,
    from_objects,
    from_rows,
    narrowed,
    places,
    whole_ids,
)

if TYPE_CHECKING:
    from plackett.serve.model import ServedModel

_FORMS = ("dataframe_split", "dataframe_records", "instances", "inputs")
#: What MLflow's clients may also send; nothing here depends on it.
_OTHERS = ("params", "client_request_id")


def ping(service: Service, request: Request) -> Response:
    """Whether the models are ready."""
    is_ready = service.ready
    return Response(b"\n" if is_ready else b"not ready\n", TEXT, 200 if is_ready else 503)


def version(service: Service, request: Request) -> Response:
    """Version of the server."""
    return Response(__version__.encode(), TEXT)


def invocations(service: Service, request: Request) -> Response | Deferred:
    """Scores of documents."""
    model = service.models.get(request.query.get("model"), request.query.get("version"))
    kind = request.content_type
    reader = _READERS.get(kind)
    if reader is None:
        given = repr(kind.decode("latin-1")[:80]) if kind else "not given"
        known = ", ".join(name.decode() for name in _READERS)
        raise RefusedError(415, f"the content type is {given}; {known} are accepted here")
    X, qid = reader(service, model, request)
    exits = request.exit

    def answer() -> Response:
        scores = model.score(X, qid, exits)
        return Response(to_json({"predictions": scores}), documents=len(scores))

    return model.answered(X, qid, service.settings, answer)


def _from_json(service: Service, model: ServedModel, request: Request) -> tuple[np.ndarray, Any]:
    decoded = decode(request.body, service.settings.max_documents)
    asked = decoded.value
    forms = [form for form in _FORMS if isinstance(asked, dict) and form in asked]
    if len(forms) != 1:
        raise RefusedError(400, f"the body must be a JSON object with one of {', '.join(_FORMS)}")
    check_keys(asked, (forms[0], *_OTHERS), "the body")
    return _BY_FORM[forms[0]](model, asked[forms[0]], decoded)


def _split(model: ServedModel, given: Any, decoded: Decoded) -> tuple[np.ndarray, Any]:
    if not isinstance(given, dict) or "data" not in given:
        raise RefusedError(400, "dataframe_split must be an object with columns and data")
    check_keys(given, ("columns", "data", "index"), "dataframe_split")
    columns, data = given.get("columns"), given["data"]
    columns = decoded.plain(columns)
    if columns is None:
        return from_rows(model, data, decoded, "dataframe_split.data", booleans=True), None
    if not isinstance(columns, list) or not all(type(name) in (str, int) for name in columns):
        raise RefusedError(400, "dataframe_split.columns must be a list of names")
    features, of_ids = places(model, columns, "dataframe_split")
    if of_ids is None and features == list(range(model.n_features)):
        return from_rows(model, data, decoded, "dataframe_split.data", booleans=True), None
    array = decoded.array(data)
    rows = data if array is None else array.tolist()
    if not isinstance(rows, list):
        raise RefusedError(400, "dataframe_split.data must be a list of rows")
    rows = [decoded.plain(row) for row in rows]
    for i, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != len(columns):
            raise RefusedError(400, f"dataframe_split.data[{i}] must be a list of {len(columns)} values")
    table = [
        column(model, j, [row[place] for row in rows], decoded, f"dataframe_split.{columns[place]}", booleans=True)
        for j, place in enumerate(features)
    ]
    X = narrowed(np.stack(table, axis=1), "dataframe_split")
    return X, None if of_ids is None else _ids([row[of_ids] for row in rows], "dataframe_split")


def _records(model: ServedModel, given: Any, decoded: Decoded) -> tuple[np.ndarray, Any]:
    if not isinstance(given, list) or not all(isinstance(row, dict) for row in given):
        raise RefusedError(400, "dataframe_records must be a list of objects")
    qid = None
    if given and QID in given[0] and QID not in model.feature_set:
        for i, row in enumerate(given):
            if QID not in row:
                raise RefusedError(400, f"dataframe_records[{i}] lacks qid")
        qid = _ids([row[QID] for row in given], "dataframe_records")
        given = [{name: value for name, value in row.items() if name != QID} for row in given]
    return from_objects(model, given, "dataframe_records[{}]", booleans=True), qid


def _tensor(model: ServedModel, given: Any, decoded: Decoded) -> tuple[np.ndarray, Any]:
    if isinstance(given, dict):
        return _columns(model, given, decoded, "inputs")
    if isinstance(given, list) and given and isinstance(given[0], dict):
        return _records(model, given, decoded)
    return from_rows(model, given, decoded, "inputs", booleans=True), None


def _columns(model: ServedModel, table: dict[str, Any], decoded: Decoded, where: str) -> tuple[np.ndarray, Any]:
    table = dict(table)
    qid = None
    if QID in table and QID not in model.feature_set:
        qid = _ids(decoded.plain(table.pop(QID)), where)
    if not model.feature_names and len(table) == 1:  # one tensor under any name
        X = from_rows(model, next(iter(table.values())), decoded, where, booleans=True)
    else:
        X = from_columns(model, table, decoded, where, booleans=True)
    if qid is not None and len(qid) != len(X):
        raise RefusedError(400, f"{where}: qid has {len(qid)} values for {len(X)} documents")
    return X, qid


def _ids(values: Any, where: str) -> np.ndarray:
    if isinstance(values, list):
        if all(isinstance(value, str) for value in values):
            return np.array(values, dtype=np.dtypes.StringDType())
        if all(type(value) is int and -(2**63) <= value < 2**63 for value in values):
            return np.array(values, np.int64)
        if all(type(value) in (int, float) for value in values):
            try:
                return whole_ids(np.array(values, np.float64), f"{where}: qid")
            except OverflowError:
                pass
    raise RefusedError(400, f"{where}: qid must be a list of strings or of whole numbers")


def _from_csv(service: Service, model: ServedModel, request: Request) -> tuple[np.ndarray, Any]:
    X, ids = csv_table(model, request.body, service.settings)
    return X, None if ids is None else _ids(ids, "the CSV")


def _from_arrow(service: Service, model: ServedModel, request: Request) -> tuple[np.ndarray, Any]:
    return arrow_columns(model, arrow_table(model, request.body, service.settings))


_BY_FORM = {"dataframe_split": _split, "dataframe_records": _records, "instances": _tensor, "inputs": _tensor}
_READERS = {JSON: _from_json, CSV: _from_csv, ARROW: _from_arrow}

_REQUEST = {
    "type": "object",
    "properties": {
        "dataframe_split": {
            "type": "object",
            "required": ["data"],
            "properties": {
                "columns": {"type": "array", "items": {"type": "string"}},
                "data": {"type": "array", "items": {"type": "array", "items": {}}},
            },
        },
        "dataframe_records": {"type": "array", "items": {"type": "object"}},
        "instances": {},
        "inputs": {},
    },
}
_PREDICTED = {
    "type": "object",
    "required": ["predictions"],
    "properties": {"predictions": {"type": "array", "items": {"type": "number"}}},
}
_TEXT = {"text/plain": {"type": "string"}}
ROUTES = [
    Route(
        "GET",
        "/ping",
        ping,
        "Whether the models are ready (MLflow, SageMaker).",
        open=True,
        answer=_TEXT,
        statuses=(503,),
    ),
    Route("GET", "/health", ping, "Whether the models are ready.", open=True, answer=_TEXT, statuses=(503,)),
    Route("GET", "/version", version, "Version of the server.", answer=_TEXT),
    Route(
        "POST",
        "/invocations",
        invocations,
        "Score documents (MLflow).",
        needs_models=True,
        body={"application/json": _REQUEST, "text/csv": {"type": "string"}, ARROW.decode(): {}},
        answer={"application/json": _PREDICTED},
        query={
            "model": "Name of the model, where there are several.",
            "version": "Its version; the latest by default.",
            "exit": "false: all trees for every document, despite an early exit.",
        },
        statuses=(404,),
    ),
]
