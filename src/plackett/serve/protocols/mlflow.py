"""MLflow's scoring server: ``/invocations`` and ``/ping``, as SageMaker and MLflow's own tools call them.

JSON in the four forms of MLflow (``dataframe_split``, ``dataframe_records``, ``instances``, ``inputs``), or CSV. A
column ``qid`` says which list a document belongs to.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett import __version__
from plackett.serve.http import ARROW, CSV, JSON, TEXT, RefusedError, Request, Response, Route, to_json
from plackett.serve.numbers import Decoded, decode
from plackett.serve.protocols.score import arrow_columns, arrow_table
from plackett.serve.tables import check_keys, from_columns, from_objects, from_rows, whole_ids

if TYPE_CHECKING:
    from plackett.serve.application import Application
    from plackett.serve.model import ServedModel

__all__ = ["ROUTES"]

_FORMS = ("dataframe_split", "dataframe_records", "instances", "inputs")
#: What MLflow's clients may also send; nothing here depends on it.
_OTHERS = ("params", "client_request_id")
#: What makes a column of query ids.
_QID = "qid"


def ping(app: Application, request: Request) -> Response:
    """Whether the models are ready."""
    is_ready = app.ready
    return Response(b"\n" if is_ready else b"not ready\n", TEXT, 200 if is_ready else 503)


def version(app: Application, request: Request) -> Response:
    """Version of the server."""
    return Response(__version__.encode(), TEXT)


def invocations(app: Application, request: Request) -> Response:
    """Scores of documents."""
    model = app.models.get(request.query.get("model"), request.query.get("version"))
    kind = request.content_type
    reader = _READERS.get(kind)
    if reader is None:
        given = repr(kind.decode("latin-1")[:80]) if kind else "not given"
        known = ", ".join(name.decode() for name in _READERS)
        raise RefusedError(415, f"the content type is {given}; {known} are accepted here")
    X, qid = reader(model, request.body)
    if len(X) > app.settings.max_documents:
        raise RefusedError(413, f"{len(X)} documents; at most {app.settings.max_documents} are accepted")
    scores = model.score(X, qid, request.exit)
    return Response(to_json({"predictions": scores}), documents=len(scores))


def _from_json(model: ServedModel, body: bytes) -> tuple[np.ndarray, Any]:
    decoded = decode(body)
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
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        if isinstance(columns, list) and columns == list(range(len(columns))):  # pandas' default names
            return from_rows(model, data, decoded, "dataframe_split.data", booleans=True), None
        raise RefusedError(400, "dataframe_split.columns must be a list of names")
    if len(set(columns)) != len(columns):
        raise RefusedError(400, "dataframe_split.columns has a name twice")
    if columns == model.feature_names:
        return from_rows(model, data, decoded, "dataframe_split.data", booleans=True), None
    array = decoded.array(data)
    if array is not None:
        if array.ndim != 2 or array.shape[1] != len(columns):
            raise RefusedError(400, f"dataframe_split.data must have {len(columns)} values per row")
        table = dict(zip(columns, (array[:, j].tolist() for j in range(len(columns))), strict=True))
    else:
        if not isinstance(data, list):
            raise RefusedError(400, "dataframe_split.data must be a list of rows")
        rows = [decoded.plain(row) for row in data]
        for i, row in enumerate(rows):
            if not isinstance(row, list) or len(row) != len(columns):
                raise RefusedError(400, f"dataframe_split.data[{i}] must be a list of {len(columns)} values")
        table = {name: [row[j] for row in rows] for j, name in enumerate(columns)}
    return _columns(model, table, decoded, "dataframe_split")


def _records(model: ServedModel, given: Any, decoded: Decoded) -> tuple[np.ndarray, Any]:
    if not isinstance(given, list) or not all(isinstance(row, dict) for row in given):
        raise RefusedError(400, "dataframe_records must be a list of objects")
    qid = None
    if given and _QID in given[0] and _QID not in model.feature_set:
        for i, row in enumerate(given):
            if _QID not in row:
                raise RefusedError(400, f"dataframe_records[{i}] lacks qid")
        qid = _ids([row[_QID] for row in given], "dataframe_records")
        given = [{name: value for name, value in row.items() if name != _QID} for row in given]
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
    if _QID in table and _QID not in model.feature_set:
        qid = _ids(decoded.plain(table.pop(_QID)), where)
    if not model.feature_names and len(table) == 1:  # one tensor under any name
        X = from_rows(model, next(iter(table.values())), decoded, where, booleans=True)
    else:
        X = from_columns(model, table, decoded, where, booleans=True)
    if qid is not None and len(qid) != len(X):
        raise RefusedError(400, f"{where}: qid has {len(qid)} values for {len(X)} documents")
    return X, qid


def _ids(values: Any, where: str) -> np.ndarray:
    if isinstance(values, list) and values:
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


def _without_empty_lines(body: bytes) -> bytes:
    """The lines that are documents: for polars an empty line is one whose features are all missing."""
    if not re.search(rb"\n\r?\n|\A\r?\n", body):
        return body
    lines, quotes = [], 0
    for line in body.splitlines(keepends=True):
        if quotes % 2 or line.strip(b"\r\n"):
            lines.append(line)
        quotes += line.count(b'"')
    return b"".join(lines)


def _from_csv(model: ServedModel, body: bytes) -> tuple[np.ndarray, Any]:
    import polars as pl

    from plackett.data.tables import without_missing

    try:
        frame = pl.read_csv(_without_empty_lines(body), infer_schema_length=None, schema_overrides={_QID: pl.String})
    except (pl.exceptions.PolarsError, ValueError) as error:
        raise RefusedError(400, f"the body is not CSV: {str(error).splitlines()[0][:200]}") from None
    others = [name for name in frame.columns if name != _QID]
    known = model.feature_names or others
    categories = {known[j] for j in model.codes if j < len(known)}
    frame = frame.with_columns(
        without_missing(frame[name]) for name in others if frame.schema[name] == pl.String and name not in categories
    )
    if not model.feature_names:
        if len(others) != model.n_features:
            raise RefusedError(
                400, f"the CSV has {len(others)} columns besides qid; {model.name} has {model.n_features} features"
            )
        qid = _ids(frame[_QID].to_list(), "the CSV") if _QID in frame.columns else None
        rows = [list(row) for row in frame.select(others).iter_rows()]
        return from_rows(model, rows, Decoded(None, {}), "the CSV", booleans=True), qid
    return _columns(model, {name: frame[name].to_list() for name in frame.columns}, Decoded(None, {}), "the CSV")


def _from_arrow(model: ServedModel, body: bytes) -> tuple[np.ndarray, Any]:
    return arrow_columns(model, arrow_table(body))


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
