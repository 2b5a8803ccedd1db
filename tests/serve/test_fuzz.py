"""Damaged requests: a 4xx with a reason or a right answer, never a fault of the server."""

from __future__ import annotations

import asyncio
import json
import logging
import random

import numpy as np
import pytest

from asgi_client import call

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


def damaged(rng, body):
    text = bytearray(body)
    for _ in range(rng.choice([1, 1, 2, 4])):
        place = rng.randrange(len(text) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            text[place : place + 1] = bytes([rng.randrange(256)])
        elif kind == 1:
            del text[place : place + rng.choice([1, 5, 50])]
        elif kind == 2:
            text[place:place] = rng.choice(
                [b"null", b"-1", b"1e999", b"[]", b"{}", b'"', b",", b"9" * 25, b"true", b"\0"]
            )
        else:
            other = rng.randrange(len(text) + 1)
            text[place:place] = text[other : other + rng.choice([1, 10, 100])]
    return bytes(text)


@pytest.mark.parametrize("number", range(9))
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
