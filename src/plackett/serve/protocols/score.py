"""``/score``: the shortest way from features to scores, as raw numbers or as an Arrow table.

- ``application/octet-stream``: rows of little-endian float32, features in training order; scores come back as
  little-endian float64.
- ``application/vnd.apache.arrow.stream``: a table with a column per feature, found by name, and optionally ``qid``;
  a table with the column ``score`` comes back. Other columns (ids, say) come back with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._optional import optional
from plackett.serve.http import ARROW, BINARY, RefusedError, Request, Response, Route
from plackett.serve.tables import narrowed, whole_ids

if TYPE_CHECKING:
    from plackett.serve.application import Application
    from plackett.serve.model import ServedModel

__all__ = ["ROUTES", "arrow_columns", "arrow_table"]


def score(app: Application, request: Request) -> Response:
    """Scores of documents."""
    model = app.models.get(request.values.get("model"), request.query.get("version"))
    kind = request.content_type
    if kind == BINARY:
        return _raw(app, model, request.body, request.exit)
    if kind == ARROW:
        return _arrow(app, model, request.body, request.exit)
    given = repr(kind.decode("latin-1")[:80]) if kind else "not given"
    raise RefusedError(415, f"the content type is {given}; {BINARY.decode()} and {ARROW.decode()} are accepted here")


def _raw(app: Application, model: ServedModel, body: bytes, exits: bool | None) -> Response:
    width = 4 * model.n_features
    if len(body) % width:
        raise RefusedError(
            400, f"{len(body)} bytes are not rows of {model.n_features} float32 numbers ({width} bytes each)"
        )
    _check_size(app, len(body) // width)
    X = np.frombuffer(body, "<f4").reshape(-1, model.n_features)
    scores = model.score(X, exit=exits)
    return Response(np.ascontiguousarray(scores, "<f8").tobytes(), BINARY, documents=len(scores))


def _arrow(app: Application, model: ServedModel, body: bytes, exits: bool | None) -> Response:
    pa = optional("pyarrow", "Arrow tables need")
    table = arrow_table(body)
    _check_size(app, table.num_rows)
    X, qid = arrow_columns(model, table)
    scores = model.score(X, qid, exits)
    kept = [name for name in table.column_names if name not in model.feature_set] if model.feature_set else []
    result = table.select(kept).append_column("score", pa.array(scores)) if kept else pa.table({"score": scores})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, result.schema) as writer:
        writer.write_table(result)
    return Response(sink.getvalue().to_pybytes(), ARROW, documents=len(scores))


def arrow_table(body: bytes) -> Any:
    """The table of an Arrow stream."""
    pa = optional("pyarrow", "Arrow tables need")
    try:
        with pa.ipc.open_stream(body) as reader:
            table = reader.read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, EOFError) as error:
        raise RefusedError(400, f"the body is not an Arrow stream: {str(error)[:200]}") from None
    return table


def arrow_columns(model: ServedModel, table: Any) -> tuple[np.ndarray, Any]:
    """Features in training order, and the query ids if there are any."""
    names = table.column_names
    if len(set(names)) != len(names):
        raise RefusedError(400, "the table has several columns of one name")
    others = [name for name in names if name != "qid"]
    wanted = model.feature_names or others
    missing = [name for name in wanted if name not in names]
    if missing or len(wanted) != model.n_features:
        lacks = f"lacks the column {missing[0]!r}" if missing else f"has {len(wanted)} columns besides qid"
        raise RefusedError(400, f"the table {lacks}; {model.name} has {model.n_features} features")
    X = np.empty((table.num_rows, model.n_features), np.float32)
    for j, name in enumerate(wanted):
        X[:, j] = _column(model, j, table[name], name)
    qid = None
    if "qid" in names and "qid" not in model.feature_set:
        column = table["qid"]
        if column.null_count:
            raise RefusedError(400, "the column 'qid' has missing values")
        qid = whole_ids(np.asarray(column.to_pylist()), "the column 'qid'")
    return X, qid


def _column(model: ServedModel, j: int, column: Any, name: str) -> np.ndarray:
    pa = optional("pyarrow", "Arrow tables need")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if j in model.codes and not pa.types.is_floating(column.type) and not pa.types.is_integer(column.type):
        return np.array([model.codes[j].get(value, np.nan) for value in column.to_pylist()])
    kind = column.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        raise RefusedError(400, f"the column {name!r} is of type {kind}; features are numbers")
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    return narrowed(column.to_numpy().astype(np.float64), name)


def _check_size(app: Application, n: int) -> None:
    if n > app.settings.max_documents:
        raise RefusedError(413, f"{n} documents; at most {app.settings.max_documents} are accepted")


_BYTES = {"type": "string", "format": "binary"}
ROUTES = [
    Route(
        "POST",
        path,
        score,
        "Score documents: rows of raw float32 in, raw float64 out; or an Arrow stream in and out.",
        needs_models=True,
        body={BINARY.decode(): _BYTES, ARROW.decode(): _BYTES},
        answer={BINARY.decode(): _BYTES, ARROW.decode(): _BYTES},
        query={
            "version": "Version of the model; the latest by default.",
            "exit": "false: all trees for every document, despite an early exit.",
        },
        statuses=(404,),
    )
    for path in ("/score", "/score/{model}")
]
