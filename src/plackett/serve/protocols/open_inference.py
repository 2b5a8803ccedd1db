"""The Open Inference Protocol, version 2 (KServe, Triton, MLServer): JSON, and tensors as raw bytes after the JSON.

One tensor ``[documents, features]`` with the features in training order, or one tensor ``[documents]`` per feature, by
name. A further tensor ``qid`` says which list each document belongs to; without it all are one list. The answer is the
tensor ``scores``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.version import __version__
from plackett.serve.http import BINARY, Deferred, RefusedError, Request, Response, to_json
from plackett.serve.numbers import Decoded, decode
from plackett.serve.service import Route, Service
from plackett.serve.tables import QID, check_keys, narrowed, whole_ids

if TYPE_CHECKING:
    from plackett.serve.model import ServedModel

_TYPES = {
    "BOOL": np.dtype("?"),
    "UINT8": np.dtype("u1"),
    "UINT16": np.dtype("<u2"),
    "UINT32": np.dtype("<u4"),
    "UINT64": np.dtype("<u8"),
    "INT8": np.dtype("i1"),
    "INT16": np.dtype("<i2"),
    "INT32": np.dtype("<i4"),
    "INT64": np.dtype("<i8"),
    "FP16": np.dtype("<f2"),
    "FP32": np.dtype("<f4"),
    "FP64": np.dtype("<f8"),
}
#: Doubles are exact for whole numbers up to this one.
_EXACT = 2.0**53
_LENGTH = b"inference-header-content-length"
_OUTPUT = "scores"


def server(service: Service, request: Request) -> Response:
    """What this server is."""
    return Response(to_json({"name": "plackett", "version": __version__, "extensions": ["binary_tensor_data"]}))


def live(service: Service, request: Request) -> Response:
    """The process runs."""
    return Response(b'{"live":true}')


def ready(service: Service, request: Request) -> Response:
    """The models that can be loaded are, and the server is not about to stop."""
    is_ready = service.ready
    return Response(b'{"ready":true}' if is_ready else b'{"ready":false}', status=200 if is_ready else 503)


def model_ready(service: Service, request: Request) -> Response:
    """Whether a model is loaded; 503 with the reason if its file cannot be, 404 if there is none of that name."""
    model = _model(service, request)
    return Response(to_json({"name": model.name, "ready": True}))


def metadata(service: Service, request: Request) -> Response:
    """Name, versions, inputs and outputs of a model, with its card."""
    model = _model(service, request)
    description = {
        "name": model.name,
        "versions": service.models.versions(model.name),
        "platform": "plackett",
        "inputs": [{"name": "features", "datatype": "FP32", "shape": [-1, model.n_features]}],
        "outputs": [{"name": _OUTPUT, "datatype": "FP64", "shape": [-1]}],
        "parameters": {
            "version": model.version,
            "fingerprint": model.fingerprint,
            "feature_names": model.feature_names,
            "card": model.card,
            "failed": service.models.failures(model.name),
        },
    }
    return Response(to_json(description))


def infer(service: Service, request: Request) -> Response | Deferred:
    """Scores of documents."""
    model = _model(service, request)
    header, raw = _split(request)
    decoded = decode(header, service.settings.max_documents)
    asked = decoded.value
    if not isinstance(asked, dict):
        raise RefusedError(400, "the body must be a JSON object with inputs")
    check_keys(asked, ("id", "parameters", "inputs", "outputs"), "the request")
    inputs = _tensors(model, asked, decoded, raw)
    X = _table(model, inputs)
    qid = inputs.get(QID) if QID not in model.feature_set else None
    if qid is not None and qid.shape != (len(X),):
        raise RefusedError(400, f"the tensor 'qid' has shape {list(qid.shape)}; [{len(X)}] is needed")
    queries = None if qid is None else whole_ids(qid, "the tensor 'qid'")
    exits = _parameters(asked, "the request").get("exit")
    return model.answered(X, queries, service.settings, lambda: _answer(asked, model, model.score(X, queries, exits)))


def _model(service: Service, request: Request) -> ServedModel:
    return service.models.get(request.values["model"], request.values.get("version"))


def _split(request: Request) -> tuple[bytes, memoryview]:
    """The JSON part of the body and the raw part."""
    given = request.headers.get(_LENGTH)
    if given is None:
        return request.body, memoryview(b"")
    if not given.isdigit() or len(given) > 18 or int(given) > len(request.body):
        size = len(request.body)
        raise RefusedError(400, f"Inference-Header-Content-Length is {_shown(given)}, but the body has {size} bytes")
    length = int(given)
    return request.body[:length], memoryview(request.body)[length:]


def _shown(text: bytes) -> str:
    return repr(text[:40].decode("latin-1"))


def _tensors(model: ServedModel, asked: dict[str, Any], decoded: Decoded, raw: memoryview) -> dict[str, np.ndarray]:
    inputs = asked.get("inputs")
    if not isinstance(inputs, list) or not inputs:
        raise RefusedError(400, "inputs must be a list of tensors, and at least one")
    if len(inputs) > model.n_features + 1:
        raise RefusedError(
            400, f"{len(inputs)} tensors are given; {model.name} has {model.n_features} features, and qid is one more"
        )
    tensors: dict[str, np.ndarray] = {}
    at = 0
    for i, entry in enumerate(inputs):
        where = f"inputs[{i}]"
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise RefusedError(400, f"{where} must be an object with name, shape, datatype and data")
        check_keys(entry, ("name", "shape", "datatype", "parameters", "data"), where)
        if entry["name"] in tensors:
            raise RefusedError(400, f"{where}: the tensor {entry['name'][:60]!r} is given twice")
        shape = _shape(entry.get("shape"), where)
        size = _parameters(entry, where).get("binary_data_size")
        if size is None:
            tensors[entry["name"]] = _from_json(entry, shape, decoded, where)
        else:
            if type(size) is not int or not 0 <= size <= len(raw) - at:
                left = len(raw) - at
                raise RefusedError(
                    400, f"{where}: binary_data_size is {str(size)[:40]}, but {left} bytes are left in the body"
                )
            tensors[entry["name"]] = _from_bytes(entry, shape, raw[at : at + size], where)
            at += size
    if at != len(raw):
        raise RefusedError(400, f"{len(raw) - at} bytes are left over after the last tensor")
    return tensors


def _parameters(entry: dict[str, Any], where: str) -> dict[str, Any]:
    parameters = entry.get("parameters", {})
    if not isinstance(parameters, dict):
        raise RefusedError(400, f"{where}.parameters must be an object")
    return parameters


def _shape(shape: Any, where: str) -> tuple[int, ...]:
    if not isinstance(shape, list) or not 1 <= len(shape) <= 2 or not all(type(n) is int and n >= 0 for n in shape):
        raise RefusedError(400, f"{where}.shape must be [documents, features] or [documents]")
    if math.prod(max(n, 1) for n in shape) > 2**40:  # also where the other is 0: NumPy counts so
        raise RefusedError(413, f"{where}.shape {shape} is too large")
    return tuple(shape)


def _from_json(entry: dict[str, Any], shape: tuple[int, ...], decoded: Decoded, where: str) -> np.ndarray:
    kind, data = entry.get("datatype"), entry.get("data")
    if not isinstance(kind, str) or (kind not in _TYPES and kind != "BYTES"):
        raise RefusedError(400, f"{where}.datatype is {str(kind)[:40]!r}; {', '.join(_TYPES)} and BYTES are known")
    array = decoded.array(data)
    if array is None:
        if not isinstance(data, list):
            raise RefusedError(400, f"{where}.data must be a list")
        flat = _flat([decoded.plain(part) for part in data])
        if kind == "BYTES":
            if not all(isinstance(value, str) for value in flat):
                raise RefusedError(400, f"{where}.data must hold strings: the datatype is BYTES")
            array = np.array(flat, dtype=np.dtypes.StringDType())
        else:
            array = _numbers(flat, kind, where)
    elif kind == "BYTES":
        raise RefusedError(400, f"{where}.data must hold strings: the datatype is BYTES")
    elif _TYPES[kind].kind in "iub":
        array = _whole(array, kind, where)
    if array.size != math.prod(shape):
        raise RefusedError(400, f"{where}.shape is {list(shape)}, but data has {array.size} values")
    return array.reshape(shape)


def _flat(data: list[Any]) -> list[Any]:
    return [value for row in data for value in row] if data and all(isinstance(row, list) for row in data) else data


def _numbers(flat: list[Any], kind: str, where: str) -> np.ndarray:
    """Numbers of a list as the datatype says; whole numbers stay exact."""
    dtype = _TYPES[kind]
    if dtype.kind == "f":
        for i, value in enumerate(flat):
            if value is not None and type(value) not in (int, float):
                raise RefusedError(400, f"{where}.data: value {i} is not of type {kind}")
        try:
            return np.array([np.nan if value is None else value for value in flat], np.float64)
        except OverflowError:
            raise RefusedError(400, f"{where}.data has a value beyond double precision") from None
    least, most = _range(dtype)
    accepted = (bool,) if dtype.kind == "b" else (int, float)
    for i, value in enumerate(flat):
        if type(value) not in accepted and not (dtype.kind == "b" and type(value) is int):
            raise RefusedError(400, f"{where}.data: value {i} is not of type {kind}")
        if not least <= value <= most or value != int(value):
            raise RefusedError(400, f"{where}.data: value {i} is {str(value)[:40]}, which is not of type {kind}")
    return np.array([int(value) for value in flat], _stored(dtype))


def _whole(values: np.ndarray, kind: str, where: str) -> np.ndarray:
    """Whole numbers as the datatype says, from doubles, which hold them exactly here."""
    dtype = _TYPES[kind]
    least, most = _range(dtype)
    # NaN is not a whole number, and 2**63 as a double is beyond the range
    wrong = ~((values == np.floor(values)) & (values >= float(least)) & (values <= float(most)))
    wrong |= np.abs(values) > _EXACT
    if wrong.any():
        i = int(np.argmax(wrong))
        raise RefusedError(400, f"{where}.data: value {i} is {values.flat[i]:g}, which is not of type {kind}")
    return values.astype(_stored(dtype))


def _range(dtype: np.dtype[Any]) -> tuple[int, int]:
    return (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))


def _stored(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.uint8) if dtype.kind == "b" else dtype


def _from_bytes(entry: dict[str, Any], shape: tuple[int, ...], raw: memoryview, where: str) -> np.ndarray:
    kind = entry.get("datatype")
    if not isinstance(kind, str) or kind not in _TYPES:
        raise RefusedError(400, f"{where}.datatype is {str(kind)[:40]!r}; as raw bytes {', '.join(_TYPES)} are known")
    dtype = _TYPES[kind]
    if len(raw) != math.prod(shape) * dtype.itemsize:
        raise RefusedError(
            400,
            f"{where}: {kind} of shape {list(shape)} takes {math.prod(shape) * dtype.itemsize} bytes, not {len(raw)}",
        )
    values = np.frombuffer(raw, _stored(dtype)).reshape(shape)
    if kind == "BOOL" and (values > 1).any():
        raise RefusedError(400, f"{where}: the bytes of a BOOL must be 0 or 1")
    return values


def _table(model: ServedModel, inputs: dict[str, np.ndarray]) -> np.ndarray:
    named = {name: values for name, values in inputs.items() if name != QID or QID in model.feature_set}
    if model.feature_set and named.keys() <= model.feature_set and named:
        missing = [name for name in model.feature_names if name not in named]
        if missing:
            raise RefusedError(400, f"a tensor of the feature {missing[0]!r} is missing")
        columns = [_feature(named[name], name) for name in model.feature_names]
        if len({len(column) for column in columns}) > 1:
            raise RefusedError(400, "the tensors of the features have different lengths")
        return np.stack(columns, axis=1)
    if len(named) != 1:
        given = ", ".join(repr(name[:60]) for name in list(named)[:3])
        raise RefusedError(
            400, f"give one tensor of all features, or one per feature by name; these are given: {given}"
        )
    name, values = next(iter(named.items()))
    if values.ndim != 2 or values.shape[1] != model.n_features:
        shape = list(values.shape)
        raise RefusedError(
            400, f"the tensor {name[:60]!r} has shape {shape}; [documents, {model.n_features}] is needed"
        )
    return narrowed(_numeric(values, name), name[:60])


def _feature(values: np.ndarray, name: str) -> np.ndarray:
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise RefusedError(400, f"the tensor {name[:60]!r} has shape {list(values.shape)}; [documents] is needed")
    return narrowed(_numeric(values, name), name[:60])


def _numeric(values: np.ndarray, name: str) -> np.ndarray:
    if values.dtype.kind not in "biuf":
        raise RefusedError(400, f"the tensor {name[:60]!r} holds strings; features are numbers")
    return values


def _answer(asked: dict[str, Any], model: ServedModel, scores: np.ndarray) -> Response:
    wanted = asked.get("outputs")
    binary = _parameters(asked, "the request").get("binary_data_output") is True
    if wanted is not None:
        if not isinstance(wanted, list) or not all(isinstance(entry, dict) for entry in wanted):
            raise RefusedError(400, "outputs must be a list of objects")
        for i, entry in enumerate(wanted):
            check_keys(entry, ("name", "parameters"), f"outputs[{i}]")
            if entry.get("name") != _OUTPUT:
                raise RefusedError(
                    400, f"outputs[{i}].name is {str(entry.get('name'))[:60]!r}; the one output is {_OUTPUT!r}"
                )
            binary = bool(_parameters(entry, f"outputs[{i}]").get("binary_data", binary))
    output: dict[str, Any] = {"name": _OUTPUT, "datatype": "FP64", "shape": [len(scores)]}
    answer: dict[str, Any] = {"model_name": model.name, "model_version": model.version, "outputs": [output]}
    if isinstance(asked.get("id"), str):
        answer["id"] = asked["id"]
    if not binary:
        output["data"] = scores
        return Response(to_json(answer), documents=len(scores))
    raw = np.ascontiguousarray(scores, "<f8").tobytes()
    output["parameters"] = {"binary_data_size": len(raw)}
    header = to_json(answer)
    headers = ((_LENGTH, b"%d" % len(header)),)
    return Response(header + raw, BINARY, headers=headers, documents=len(scores))


_TENSOR = {
    "type": "object",
    "required": ["name", "shape", "datatype"],
    "properties": {
        "name": {"type": "string"},
        "shape": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        "datatype": {"type": "string", "enum": [*_TYPES, "BYTES"]},
        "parameters": {"type": "object"},
        "data": {"type": "array", "items": {}},
    },
    "additionalProperties": False,
}
_REQUEST = {
    "type": "object",
    "required": ["inputs"],
    "properties": {
        "id": {"type": "string"},
        "parameters": {"type": "object"},
        "inputs": {"type": "array", "items": _TENSOR, "minItems": 1},
        "outputs": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
    },
    "additionalProperties": False,
}
_INFERRED = {
    "type": "object",
    "required": ["model_name", "model_version", "outputs"],
    "properties": {"outputs": {"type": "array", "items": _TENSOR}},
}
_MODEL_PATHS = ("/v2/models/{model}", "/v2/models/{model}/versions/{version}")
ROUTES = [
    Route("GET", "/v2", server, "What this server is."),
    Route("GET", "/v2/health/live", live, "Whether the process runs.", open=True),
    Route("GET", "/v2/health/ready", ready, "Whether models are loaded and warm.", open=True, statuses=(503,)),
    *(
        route
        for path in _MODEL_PATHS
        for route in (
            Route("GET", path, metadata, "Inputs, outputs and card of a model.", needs_models=True, statuses=(404,)),
            Route(
                "GET", f"{path}/ready", model_ready, "Whether a model is loaded.", needs_models=True, statuses=(404,)
            ),
            Route(
                "POST",
                f"{path}/infer",
                infer,
                "Score documents (Open Inference Protocol v2, with the binary tensor extension).",
                needs_models=True,
                body={"application/json": _REQUEST, "application/octet-stream": {}},
                answer={"application/json": _INFERRED, "application/octet-stream": {}},
                statuses=(404,),
            ),
        )
    ),
]
