"""Damaged requests: a 4xx with a reason or a right answer, never a fault of the server."""

from __future__ import annotations

import asyncio
import copy
import gzip
import json
import logging
import random

import numpy as np
import pytest

from asgi_client import call
from plackett.serve.application import application

pa = pytest.importorskip("pyarrow")
pytest.importorskip("orjson")


def valid_requests():
    X = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
    names = ["bm25", "age", "clicks", "price"]
    columns = {name: X[:, j].tolist() for j, name in enumerate(names)}
    tensor = {"name": "x", "shape": [12, 4], "datatype": "FP32", "data": X.ravel().tolist()}
    raw = {"name": "x", "shape": [12, 4], "datatype": "FP32", "parameters": {"binary_data_size": X.nbytes}}
    header = json.dumps({"inputs": [raw]}).encode()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.table(columns).schema) as writer:
        writer.write_table(pa.table(columns))
    plain = {"content_type": "application/json"}
    yield "/v2/models/trees/infer", json.dumps({"inputs": [tensor]}).encode(), plain
    yield "/v2/models/trees/infer", header + X.tobytes(), {"inference_header_content_length": str(len(header))}
    yield "/invocations", json.dumps({"dataframe_split": {"columns": names, "data": X.tolist()}}).encode(), plain
    yield "/invocations", json.dumps({"dataframe_records": [dict.fromkeys([*names, "qid"], 1)] * 3}).encode(), plain
    yield "/invocations", b"bm25,age,clicks,price,qid\n1,2,3,4,a\n5,,7,8,b\n", {"content_type": "text/csv"}
    yield "/rank", json.dumps({"ids": list("abcdefghijkl"), "features": X.tolist(), "top": 3}).encode(), plain
    yield "/rank", json.dumps({"items": [{"id": 1, "features": dict.fromkeys(names, 0.5)}]}).encode(), plain
    yield "/score", X.tobytes(), {"content_type": "application/octet-stream"}
    yield "/score", sink.getvalue().to_pybytes(), {"content_type": "application/vnd.apache.arrow.stream"}
    yield "/rank", gzip.compress(json.dumps({"features": columns}).encode()), {"content_encoding": "gzip"}
    yield (
        "/invocations",
        b'age,qid,"bm25",clicks,price\n1,"a,b",true,NA,4\n5,c,,7,-8e-3\n',
        {"content_type": "text/csv"},
    )


def damaged(rng, body):
    text = bytearray(body)
    for _ in range(rng.choice([1, 1, 2, 4])):
        position = rng.randrange(len(text) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            text[position : position + 1] = bytes([rng.randrange(256)])
        elif kind == 1:
            del text[position : position + rng.choice([1, 5, 50])]
        elif kind == 2:
            text[position:position] = rng.choice(
                [b"null", b"-1", b"1e999", b"[]", b"{}", b'"', b",", b"9" * 25, b"true", b"\0"]
            )
        else:
            other = rng.randrange(len(text) + 1)
            text[position:position] = text[other : other + rng.choice([1, 10, 100])]
    return bytes(text)


@pytest.mark.parametrize("number", range(11))
def test_damaged_requests(one, caplog, number):
    path, body, headers = list(valid_requests())[number]
    rng = random.Random(number)

    async def everything():
        assert (await call(one, "POST", path, body, **headers)).status == 200
        for _ in range(120):
            answer = await call(one, "POST", path, damaged(rng, body), **headers)
            assert answer.status == 200 or 400 <= answer.status < 500, answer
            if answer.status != 200:
                assert 5 < len(json.loads(answer.body)["error"]) < 1_000

    with caplog.at_level(logging.ERROR, "plackett.serve"):
        asyncio.run(everything())
    assert not caplog.records


#: What may stand where something else belongs.
ODD = [
    None, True, 0, -1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 10**30, 1e308, 1e39, 5e-324, "", "a", "qid", "0",
    "x" * 300, [], {}, [[]], [{}], [None], [[1, 2], [3]], {"": None}, [1] * 40, [[1, 2, 3, 4]] * 10, [[[1]]],
]  # fmt: skip


def valid_values(rng):
    names, n = ["bm25", "age", "clicks", "price"], rng.choice([0, 1, 3, 40])
    rows = [[round(rng.gauss(0, 1), 3) for _ in names] for _ in range(n)]
    ids, objects = [rng.choice("ab") for _ in rows], [dict(zip(names, row, strict=True)) for row in rows]
    columns = {name: [row[j] for row in rows] for j, name in enumerate(names)}
    features = {"name": "features", "shape": [n, 4], "datatype": "FP32", "data": rows}
    queries = {"name": "qid", "shape": [n], "datatype": "BYTES", "data": ids}
    named = [{"name": name, "shape": [n], "datatype": "FP64", "data": columns[name]} for name in names]
    outputs = [{"name": "scores", "parameters": {"binary_data": True}}]
    split = {"columns": [*names, "qid"], "data": [[*row, i] for row, i in zip(rows, ids, strict=True)]}
    records = [result | {"qid": i} for result, i in zip(objects, ids, strict=True)]
    yield "/v2/models/m/infer", {"inputs": [features, queries], "outputs": outputs, "parameters": {"exit": False}}
    yield "/v2/models/m/infer", {"inputs": named}
    yield "/invocations", {"dataframe_split": split}
    yield "/invocations", {"dataframe_split": {"columns": [0, 1, 2, 3], "data": rows}}
    yield "/invocations", {"dataframe_records": records}
    yield "/invocations", {"instances": rows}
    yield "/invocations", {"inputs": columns | {"qid": ids}}
    yield "/rank", {"items": [{"id": i, "features": result} for i, result in enumerate(objects)], "top": 2}
    yield "/rank", {"items": [{"id": str(i), "features": row} for i, row in enumerate(rows)], "explain": n < 5}
    yield "/rank", {"ids": ids, "features": columns, "exit": False}


def parts(value, path=()):
    yield path
    if isinstance(value, dict):
        for key, part in value.items():
            yield from parts(part, (*path, key))
    elif isinstance(value, list):
        for i, part in enumerate(value[:6]):
            yield from parts(part, (*path, i))


def changed(rng, value):
    path = rng.choice(list(parts(value)))
    if not path:
        return rng.choice(ODD)
    value = owner = copy.deepcopy(value)
    for key in path[:-1]:
        owner = owner[key]
    kind = rng.randrange(3)
    if kind == 0:
        owner[path[-1]] = rng.choice(ODD)
    elif kind == 1:
        del owner[path[-1]]
    elif isinstance(owner, dict):
        owner[rng.choice(["qid", "age", "x", "0", "data"])] = rng.choice(ODD)
    else:
        owner.append(rng.choice(ODD))
    return value


@pytest.mark.parametrize("kind", ["trees", "nameless", "linear", "list_aware"])
def test_requests_with_parts_of_the_wrong_kind(kind, trees, nameless, linear, caplog):
    """JSON that is well-formed: other types, numbers beyond every range, what lacks and what is too much."""
    models = {"trees": trees, "nameless": nameless, "linear": linear, "list_aware": trees.with_exit((2, 3))}
    app, rng = application({"m": models[kind]}), random.Random(kind)

    async def everything():
        for _ in range(50):
            for path, value in valid_values(rng):
                for _ in range(rng.choice([1, 2])):
                    value = changed(rng, value) if isinstance(value, (dict, list)) else value
                answer = await call(app, "POST", path, json.dumps(value).encode(), content_type="application/json")
                assert answer.status == 200 or 400 <= answer.status < 500, (path, value)
                assert answer.status == 200 or 5 < len(answer.json["error"]) < 1_000

    with caplog.at_level(logging.ERROR, "plackett.serve"):
        asyncio.run(everything())
    assert not caplog.records
