"""``/score``: the shortest way from features to scores, as raw numbers or as an Arrow table.

- ``application/octet-stream``: rows of little-endian float32, features in training order; scores come back as
  little-endian float64.
- ``application/vnd.apache.arrow.stream``: a table with a column per feature, found by name, and optionally ``qid``;
  a table with the column ``score`` comes back. Other columns (ids, say) come back with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plackett._names.optional import optional
from plackett.serve.arrow import arrow_columns, arrow_table
from plackett.serve.http import ARROW, BINARY, Deferred, RefusedError, Request, Response
from plackett.serve.service import Route, Service

if TYPE_CHECKING:
    from plackett.serve.model import ServedModel


def score(service: Service, request: Request) -> Response | Deferred:
    """Scores of documents."""
    model = service.models.get(request.values.get("model"), request.query.get("version"))
    kind = request.content_type
    if kind == BINARY:
        return _raw(service, model, request)
    if kind == ARROW:
        return _arrow(service, model, request)
    given = repr(kind.decode("latin-1")[:80]) if kind else "not given"
    raise RefusedError(415, f"the content type is {given}; {BINARY.decode()} and {ARROW.decode()} are accepted here")


def _raw(service: Service, model: ServedModel, request: Request) -> Response | Deferred:
    body, exits, width = request.body, request.exit, 4 * model.n_features
    if len(body) % width:
        raise RefusedError(
            400, f"{len(body)} bytes are not rows of {model.n_features} float32 numbers ({width} bytes each)"
        )
    X = np.frombuffer(body, "<f4").reshape(-1, model.n_features)

    def answer() -> Response:
        scores = model.score(X, exit=exits)
        return Response(np.ascontiguousarray(scores, "<f8").tobytes(), BINARY, documents=len(scores))

    return model.answered(X, None, service.settings, answer)


def _arrow(service: Service, model: ServedModel, request: Request) -> Response | Deferred:
    pa = optional("pyarrow", "Arrow tables need")
    table = arrow_table(model, request.body, service.settings)
    X, qid = arrow_columns(model, table)
    exits = request.exit

    def answer() -> Response:
        scores = model.score(X, qid, exits)
        kept = [name for name in table.column_names if name not in model.feature_set] if model.feature_set else []
        result = table.select(kept).append_column("score", pa.array(scores)) if kept else pa.table({"score": scores})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, result.schema) as writer:
            writer.write_table(result)
        return Response(sink.getvalue().to_pybytes(), ARROW, documents=len(scores))

    return model.answered(X, qid, service.settings, answer)


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
