"""Limits, keys, errors, metrics, replacement of models."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import logging
import os
import sys
import threading
import time
import tracemalloc
import zlib

import numpy as np
import pytest

import plackett as pk
from asgi_client import call, get, post
from plackett._base.time_limit import check_time, time_limit
from plackett._files import storage as _storage
from plackett.scorers.model import digest
from plackett.serve.application import ServiceApplication, application
from plackett.serve.deadline import Deadline
from plackett.serve.drift import Drift, stability_index
from plackett.serve.encodings import decompressed
from plackett.serve.http import RefusedError, Response
from plackett.serve.logs import JsonLines
from plackett.serve.model import ServedModel
from plackett.serve.service import Route
from plackett.serve.settings import Settings
from plackett.serve.sources import sources
from plackett.serve.store import ModelStore

pytest.importorskip("orjson")
RAW = "application/octet-stream"


def metric(app, name):
    lines = get(app, "/metrics").body.decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line.startswith(name)}


# -------------------------------------------------------------------------------------------------------------- limits


def test_paths_and_methods(one):
    answer = get(one, "/nothing")
    assert answer.status == 404 and "/docs" in answer.json["error"]
    answer = get(one, "/rank")
    assert answer.status == 405 and answer.headers[b"allow"] == b"POST"
    answer = post(one, "/docs")
    assert answer.status == 405 and answer.headers[b"allow"] == b"GET, HEAD"
    head = asyncio.run(call(one, "HEAD", "/docs"))
    assert head.status == 200 and head.body == b"" and int(head.headers[b"content-length"]) > 500
    for path in ("/v2/models//infer", "/rank/", "//", "/v2/models/trees/versions//ready"):
        assert get(one, path).status == 404


def test_large_bodies_are_refused(trees):
    app = application({"trees": trees}, max_body=1000, max_documents=20)
    body = np.zeros((100, 4), np.float32).tobytes()
    answer = post(app, "/score", body, content_type=RAW)
    assert answer.status == 413 and "1600 bytes" in answer.json["error"]
    in_parts = asyncio.run(call(app, "POST", "/score", parts=[body[:800], body[800:]], content_type=RAW))
    assert in_parts.status == 413
    answer = post(app, "/score", body[: 16 * 21], content_type=RAW)
    assert answer.status == 413 and "21 documents" in answer.json["error"]
    answer = post(app, "/rank", {"features": [[0, 0, 0, 0]] * 21})
    assert answer.status == 413
    assert post(app, "/score", body[: 16 * 20], content_type=RAW).status == 200


def test_slow_bodies_are_refused(trees):
    app = application({"trees": trees}, body_timeout=0.05)

    async def later():
        await asyncio.sleep(30)

    answer = asyncio.run(call(app, "POST", "/score", parts=[b"\0" * 16, later], content_type=RAW))
    assert answer.status == 408 and answer.headers[b"connection"] == b"close"


def test_clients_that_leave_are_no_errors(one):
    async def leave():
        return {"type": "http.disconnect"}

    with pytest.raises(IndexError):  # nothing was sent
        asyncio.run(call(one, "POST", "/score", parts=[b"\0" * 16, leave], content_type=RAW))
    assert metric(one, "plackett_requests_in_flight") == {"plackett_requests_in_flight": 1}
    assert metric(one, 'plackett_errors_total{kind="server"') == {'plackett_errors_total{kind="server"}': 0}


def test_compressed_bodies(one, data):
    body = json.dumps({"features": data.X[:50].tolist()}).encode()
    plain = post(one, "/rank", body)
    for encoding, packed in (
        ("gzip", gzip.compress(body)),
        ("GZip", gzip.compress(body, 0)),
        ("deflate", zlib.compress(body)),
        ("identity", body),
    ):
        answer = post(one, "/rank", packed, content_encoding=encoding)
        assert answer.status == 200 and answer.body == plain.body
    answer = post(one, "/rank", gzip.compress(body), content_encoding="zstd")
    assert answer.status == 415 and "gzip" in answer.json["error"]
    packed = gzip.compress(body)
    for damaged, reason in (
        (packed[:-9], "ends too early"),
        (packed + b"x", "1 bytes follow"),
        (b"\x1f\x8b", "ends too early"),
        (body, "not gzip"),
    ):
        answer = post(one, "/rank", damaged, content_encoding="gzip")
        assert answer.status == 400 and reason in answer.json["error"]
    assert get(one, "/v2", content_encoding="gzip").status == 200


def test_compressed_bodies_have_the_limit_of_others(trees):
    """No more than the limit and a byte is decompressed, however much there is."""
    app = application({"trees": trees}, max_body=100_000)
    body = np.zeros((6_250, 4), np.float32).tobytes()
    assert post(app, "/score", gzip.compress(body), content_type=RAW, content_encoding="gzip").status == 200
    bomb = zlib.compress(bytes(50_000_000))
    answer = post(app, "/score", bomb, content_type=RAW, content_encoding="deflate")
    assert len(bomb) < 100_000 and answer.status == 413 and "decompressed" in answer.json["error"]
    tracemalloc.start()
    try:
        with pytest.raises(RefusedError, match="more than 100000 bytes"):
            decompressed(bomb, b"deflate", 100_000)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_long_work_has_limits():
    def slow(app, request):
        time.sleep(0.3)
        return Response(b"{}")

    app = ServiceApplication(
        ModelStore.of([]), Settings(score_timeout=0.05, max_waiting=1), [Route("POST", "/slow", slow, "")]
    )
    body = b"x" * 2_000_000

    async def both():
        return await asyncio.gather(*(call(app, "POST", "/slow", body) for _ in range(2)))

    answers = asyncio.run(both())
    assert [answer.status for answer in answers] == [503, 503]
    reasons = {answer.json["error"] for answer in answers}
    assert any("0.05 seconds" in reason for reason in reasons) and any("waiting" in reason for reason in reasons)


def test_work_ends_with_its_time():
    """Its thread is free again soon after the answer; the end of the service ends it, too."""
    ended = []

    def endless(app, request):
        try:
            while True:
                check_time()
                time.sleep(0.001)
        finally:
            ended.append(request.path)

    routes = [Route("POST", path, endless, "") for path in ("/a", "/b")]
    app = ServiceApplication(ModelStore.of([]), Settings(score_timeout=0.05, threads=1), routes)
    body = b"x" * 2_000_000

    async def one_after_another():
        assert (await call(app, "POST", "/a", body)).status == 503
        assert (await call(app, "POST", "/b", body)).status == 503

    asyncio.run(one_after_another())
    assert ended[0] == "/a"
    patient = ServiceApplication(ModelStore.of([]), Settings(threads=1), routes)

    async def cut_off():
        request = asyncio.create_task(call(patient, "POST", "/a", body))
        while not patient._running:
            await asyncio.sleep(0.001)
        await patient.close()
        return await request

    assert asyncio.run(cut_off()).status == 503
    assert ended[-1] == "/a" and len(ended) == 3


def test_the_end_does_not_wait_for_work_that_goes_on(monkeypatch, caplog):
    monkeypatch.setattr(sys.modules["plackett.serve.application"], "_CLOSE", 0.05)
    release = threading.Event()
    app = ServiceApplication(
        ModelStore.of([]),
        Settings(),
        [Route("POST", "/deaf", lambda app, request: release.wait(60) and Response(b""), "")],
    )

    async def close():
        request = asyncio.create_task(call(app, "POST", "/deaf", b"x" * 2_000_000))
        while not app._running:
            await asyncio.sleep(0.001)
        await app.close()
        assert not release.is_set()
        release.set()
        assert (await request).status == 200

    with caplog.at_level(logging.WARNING, "plackett.serve"):
        asyncio.run(close())
    assert "left behind" in caplog.records[0].message
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "plackett-serve")


def test_many_rows_are_scored_in_blocks(one, trees):
    """The same scores to the last bit; the time is looked at before each block."""
    X = np.random.default_rng(0).normal(size=(20_000, 4)).astype(np.float32)
    model = one.models.get()
    assert np.array_equal(model.score(X), trees.predict(X))
    late = Deadline(60)
    late.end()
    with time_limit(late.check), pytest.raises(RefusedError, match="within 60 seconds"):
        model.score(X)


def test_large_requests_are_scored_in_a_thread(one, trees):
    X = np.random.default_rng(0).normal(size=(80_000, 4)).astype(np.float32)
    answer = post(one, "/score", X.tobytes(), content_type=RAW)
    assert np.array_equal(np.frombuffer(answer.body), trees.predict(X))


# ------------------------------------------------------------------------------------------------------ keys and errors


def test_keys(trees):
    app = application({"trees": trees}, api_keys=("secret", "second"))
    assert get(app, "/v2/health/ready").status == get(app, "/ping").status == 200
    for path in ("/metrics", "/docs", "/openapi.json", "/v2/models/trees"):
        assert get(app, path).status == 401
        assert get(app, path, x_api_key="wrong").status == 401
        assert get(app, path, authorization="Basic secret").status == 401
        assert get(app, path, authorization="Bearer secret").status == 200
        assert get(app, path, x_api_key="second").status == 200
    answer = post(app, "/rank", {"items": []})
    assert answer.status == 401 and answer.headers[b"www-authenticate"] == b"Bearer"


def test_no_stack_trace_leaves_the_server(caplog):
    def broken(app, request):
        raise KeyError("/etc/secret")

    app = ServiceApplication(ModelStore.of([]), routes=[Route("GET", "/broken", broken, "")])
    with caplog.at_level(logging.ERROR, "plackett.serve"):
        answer = get(app, "/broken", x_request_id="abc-1")
    assert answer.status == 500 and "secret" not in answer.json["error"] and "abc-1" in answer.json["error"]
    record = json.loads(JsonLines().format(caplog.records[0]))
    assert record["request_id"] == "abc-1" and "KeyError" in record["traceback"]


def test_request_ids_are_echoed_if_plain(one):
    assert get(one, "/v2", x_request_id="a-1").headers[b"x-request-id"] == b"a-1"
    assert get(one, "/v2", x_request_id="a\tb").headers[b"x-request-id"] != b"a\tb"


def test_access_log(trees, caplog):
    app = application({"trees": trees}, access_log=True)
    with caplog.at_level(logging.INFO, "plackett.serve"):
        post(app, "/rank", {"features": [[1, 2, 3, 4]]})
    line = json.loads(JsonLines().format(caplog.records[-1]))
    assert (line["path"], line["status"], line["documents"]) == ("/rank", 200, 1)


# ------------------------------------------------------------------------------------------------------------- metrics


def test_metrics_count(one):
    for _ in range(3):
        post(one, "/score", np.zeros((5, 4), np.float32).tobytes(), content_type=RAW)
    post(one, "/score", b"x", content_type=RAW)
    assert metric(one, "plackett_documents_total") == {"plackett_documents_total": 15}
    result = metric(one, "plackett_requests_total")
    assert result['plackett_requests_total{route="/score",status="200"}'] == 3
    assert result['plackett_requests_total{route="/score",status="400"}'] == 1
    buckets = [v for k, v in metric(one, 'plackett_request_seconds_bucket{route="/score"').items()]
    assert buckets == sorted(buckets) and buckets[-1] == 4
    assert metric(one, "plackett_errors_total")['plackett_errors_total{kind="client"}'] == 1


def test_drift_is_small_for_training_data_and_large_for_others(one, data):
    rng = np.random.default_rng(0)
    assert metric(one, "plackett_score_drift") == {}
    for _ in range(150):
        post(one, "/score", data.X[rng.integers(0, 600, 20)].tobytes(), content_type=RAW)
    same = metric(one, "plackett_feature_drift")
    assert max(same.values()) < 0.1
    assert max(metric(one, "plackett_score_drift").values()) < 0.1
    for _ in range(520):
        X = data.X[rng.integers(0, 600, 20)].copy()
        X[:, 1] += 2.0
        X[::2, 3] = np.nan
        post(one, "/score", X.tobytes(), content_type=RAW)
    result = {key.split('feature="')[1][:-2]: v for key, v in metric(one, "plackett_feature_drift{").items()}
    assert result["age"] > 0.5 and result["price"] > 0.5 and result["bm25"] < 0.1 and result["clicks"] < 0.1
    assert max(metric(one, "plackett_score_drift").values()) > 0.25


def test_stability_index_against_its_definition():
    e, f = np.array([0.2, 0.3, 0.5]), np.array([0.1, 0.6, 0.3])
    expected = sum((b - a) * np.log(b / a) for a, b in zip(e, f, strict=True))
    assert np.isclose(stability_index(e, f), expected)


def test_damaged_references_are_ignored():
    for reference in (np.zeros(3), np.zeros((5, 7)), None):
        drift = Drift(reference, 4)
        drift.note(np.zeros((9, 4), np.float32), np.zeros(9))
        assert drift.of_scores() is None and drift.of_features() is None


def test_reference_survives_the_file_and_is_that_of_the_data(tmp_path, trees, data):
    trees.save(tmp_path / "m.plackett")
    loaded = pk.load(tmp_path / "m.plackett")
    assert np.array_equal(loaded.reference_, trees.reference_)
    deciles = trees.reference_[:4, :9]
    for j in range(4):
        below = (data.X[:, j, None] < deciles[j]).mean(axis=0)
        assert np.allclose(below, np.arange(1, 10) / 10, atol=0.01)
    assert np.allclose(trees.reference_[:, 9:].sum(axis=1), 1)


# ---------------------------------------------------------------------------------------------------------- replacement


def write(ranker, path):
    path.parent.mkdir(exist_ok=True)
    ranker.save(path)


def test_names_and_versions(tmp_path, trees, linear):
    write(trees, tmp_path / "shop" / "9.plackett")
    write(linear, tmp_path / "shop" / "10.plackett")
    write(trees, tmp_path / "news.plackett")
    result = [(s.name, s.version) for s in sources([str(tmp_path), f"x={tmp_path}/news.plackett"])]
    assert result == [("news", "1"), ("shop", "9"), ("shop", "10"), ("x", "1")]
    models = ModelStore([str(tmp_path)])
    models.refresh()
    assert models.get("shop").version == "10" and models.get("shop", "9").card["algorithm"] == "LambdaMART"
    assert models.versions("shop") == ["9", "10"]
    with pytest.raises(pk.DataError, match="would be version 1 of news"):
        sources([str(tmp_path / "news.plackett"), f"news={tmp_path}/shop/9.plackett"])
    with pytest.raises(pk.DataError, match="part of an address"):
        sources([f"a/b={tmp_path}/news.plackett"])


def test_replacement(tmp_path, trees, linear, data):
    path = tmp_path / "m.plackett"
    write(trees, path)
    app = application([path])
    assert get(app, "/v2/health/ready").status == 503
    assert post(app, "/rank", {"items": []}).status == 503
    app.refresh()
    assert get(app, "/v2/health/ready").status == 200

    def scores():
        return np.frombuffer(post(app, "/score", data.X.tobytes(), content_type=RAW).body)

    assert np.array_equal(scores(), trees.predict(data))
    first = app.models.get().fingerprint
    write(linear, path)
    app.refresh()
    assert np.array_equal(scores(), linear.predict(data))
    assert app.models.get().fingerprint != first
    path.write_bytes(path.read_bytes()[:-5])  # a damaged file: the model stays
    app.refresh()
    assert np.array_equal(scores(), linear.predict(data))
    assert metric(app, "plackett_reloads_total")['plackett_reloads_total{result="failed"}'] == 1
    app.refresh()  # the same damaged file is not read again
    assert metric(app, "plackett_reloads_total")['plackett_reloads_total{result="failed"}'] == 1
    path.unlink()
    app.refresh()
    assert np.array_equal(scores(), linear.predict(data))


def test_versions_come_and_go(tmp_path, trees, linear):
    write(trees, tmp_path / "shop" / "1.plackett")
    app = application([tmp_path])
    app.refresh()
    write(linear, tmp_path / "shop" / "2.plackett")
    app.refresh()
    assert get(app, "/v2/models/shop").json["versions"] == ["1", "2"]
    (tmp_path / "shop" / "1.plackett").rename(tmp_path / "away")
    app.refresh()
    assert get(app, "/v2/models/shop").json["versions"] == ["2"]
    assert get(app, "/v2/models/shop/versions/1").status == 404
    (tmp_path / "away").rename(tmp_path / "shop" / "1.plackett")  # the very same file
    app.refresh()
    assert get(app, "/v2/models/shop").json["versions"] == ["1", "2"]


def test_a_file_that_cannot_be_loaded_is_missing_and_the_others_are_served(tmp_path, trees, linear, data, caplog):
    write(trees, tmp_path / "a.plackett")
    write(trees, tmp_path / "shop" / "1.plackett")
    for name in ("b.plackett", "shop/2.plackett"):
        (tmp_path / name).write_bytes(b"no model")
    app = application([tmp_path])
    with caplog.at_level(logging.INFO, "plackett.serve"):
        app.refresh()
        app.refresh()  # the damaged files are not read again, but they are still there
    assert [(r.fields["model"], r.fields["version"]) for r in caplog.records if r.message == "model failed"] == [
        ("b", "1"),
        ("shop", "2"),
    ]
    assert caplog.records[-1].fields == {"models": ["a", "shop"], "missing": ["b"]}
    assert get(app, "/v2/health/ready").status == get(app, "/v2/models/a/ready").status == 200
    body = data.X.tobytes()
    assert post(app, "/score/a", body, content_type=RAW).body == trees.predict(data).tobytes()
    for path in ("/v2/models/b/ready", "/v2/models/b", "/v2/models/shop/versions/2/ready"):
        answer = get(app, path)
        assert (
            answer.status == 503
            and "not a plackett file" in answer.json["error"]
            and str(tmp_path) not in answer.json["error"]
        )
    assert post(app, "/score/b", body, content_type=RAW).status == 503
    assert "b" in post(app, "/score", body, content_type=RAW).json["error"]  # there are two: nothing is guessed
    assert get(app, "/v2/models/c/ready").status == 404
    described = get(app, "/v2/models/shop").json
    assert described["versions"] == ["1"] and list(described["parameters"]["failed"]) == ["2"]
    failed = {'plackett_model_failed{model="b",version="1"}': 1, 'plackett_model_failed{model="shop",version="2"}': 1}
    assert metric(app, "plackett_model_failed") == failed
    assert "not a plackett file" in get(app, "/docs").body.decode()
    write(linear, tmp_path / "b.plackett")
    app.refresh()
    assert get(app, "/v2/models/b/ready").status == 200
    os.remove(tmp_path / "shop" / "2.plackett")
    app.refresh()
    assert get(app, "/v2/models/shop/versions/2/ready").status == 404 and metric(app, "plackett_model_failed") == {}


def test_not_ready_without_any_model(tmp_path, trees):
    """Requests get the reason, not that the models are being loaded."""
    (tmp_path / "m.plackett").write_bytes(b"no model")
    app = application([tmp_path])
    assert "being loaded" in get(app, "/v2/models/m/ready").json["error"]
    app.refresh()
    assert get(app, "/v2/health/ready").status == get(app, "/ping").status == 503
    for path in ("/v2/models/m/ready", "/v2/models/m"):
        assert get(app, path).status == 503 and "not a plackett file" in get(app, path).json["error"]
    assert "not a plackett file" in post(app, "/rank", {"items": []}).json["error"]
    write(trees, tmp_path / "m.plackett")
    app.refresh()
    assert get(app, "/v2/health/ready").status == 200
    os.remove(tmp_path / "m.plackett")
    app.refresh()
    assert get(app, "/v2/health/ready").status == 503


def test_what_may_pass_is_tried_again(tmp_path, trees, monkeypatch):
    """A file that cannot be read now is looked at again though it has not changed, and logged once."""
    write(trees, tmp_path / "m.plackett")
    models = ModelStore([str(tmp_path)])
    with monkeypatch.context() as patched:
        denied = PermissionError(13, "denied")
        patched.setattr("plackett.serve.store.load_to_score", lambda path: (_ for _ in ()).throw(denied))
        assert [change.what for change in models.refresh()] == ["failed"]
        assert models.refresh() == []
    assert [change.what for change in models.refresh()] == ["loaded"]


def test_a_fault_nobody_thought_of_is_that_of_one_model(tmp_path, trees, data, caplog, monkeypatch):
    """Neither loading, nor the metrics of all models, nor their descriptions fail with it."""
    for name in ("bad", "good", "half", "odd"):
        write(trees, tmp_path / f"{name}.plackett")
    rewritten(tmp_path / "bad.plackett", card={"rows": 2**64})
    rewritten(tmp_path / "half.plackett", scorer="\ud800")
    app = application([tmp_path])
    warm_up = ServedModel.warm_up

    def fails(model):
        warm_up(model)
        if model.name == "odd":
            raise ZeroDivisionError("odd")

    monkeypatch.setattr(ServedModel, "warm_up", fails)
    app.refresh()
    assert [model.name for model in app.models.all()] == ["good"]
    assert "cannot be written as JSON" in get(app, "/v2/models/bad/ready").json["error"]
    assert "ZeroDivisionError" in get(app, "/v2/models/odd/ready").json["error"]
    assert "is not known to this version" in get(app, "/v2/models/half/ready").json["error"]
    monkeypatch.undo()
    write(trees, tmp_path / "odd.plackett")
    app.refresh()
    for name in ("good", "odd"):
        for _ in range(60):
            post(app, f"/score/{name}", data.X[:20].tobytes(), content_type=RAW)
    app.models.get("odd").drift.reference = np.empty((0, 20))
    with caplog.at_level(logging.ERROR, "plackett.serve"):
        result = metric(app, "plackett_score_drift")
    assert list(result) == ['plackett_score_drift{model="good",version="1"}']
    assert caplog.records[-1].fields == {"model": "odd", "version": "1"}


def rewritten(path, **changes):
    """Change the description in a model file, with a digest that fits."""
    arrays, metadata = _storage.read(path, mmap=False)
    text = json.dumps(json.loads(metadata["ranker"]) | changes)
    _storage.write(path, arrays, {**metadata, "ranker": text, "digest": digest(text, arrays)})


def test_files_that_cannot_be_served_are_skipped_and_logged_once(tmp_path, trees, linear, caplog):
    """Neither a named pipe nor a bad name nor a second file of the same name stands in the way of the others."""
    write(trees, tmp_path / "shop.plackett")
    write(trees, tmp_path / "shop" / "1.plackett")
    write(trees, tmp_path / "a b.plackett")
    write(trees, tmp_path / "über" / "1.plackett")
    os.mkfifo(tmp_path / "pipe.plackett")
    os.mkfifo(tmp_path / "shop" / "2.plackett")
    (tmp_path / "dangling.plackett").symlink_to(tmp_path / "nothing")
    (tmp_path / "web.plackett").mkdir()
    app = application([tmp_path])
    with caplog.at_level(logging.WARNING, "plackett.serve"):
        app.refresh()
        app.refresh()
        write(linear, tmp_path / "news.plackett")
        app.refresh()
    assert [model.name for model in app.models.all()] == ["news", "shop"]
    assert get(app, "/v2/health/ready").status == 200
    reasons = {r.fields["path"].removeprefix(f"{tmp_path}/"): r.fields["reason"] for r in caplog.records}
    assert len(reasons) == len(caplog.records) == 6
    for name in ("pipe.plackett", "shop/2.plackett", "dangling.plackett"):
        assert "regular file" in reasons[name]
    for name in ("a b.plackett", "über/1.plackett"):
        assert "part of an address" in reasons[name]
    assert "shop.plackett is already" in reasons["shop/1.plackett"]


def test_a_named_pipe_in_place_of_a_model_is_not_read(tmp_path, trees):
    path = tmp_path / "m.plackett"
    write(trees, path)
    app = application([path])
    app.refresh()
    os.remove(path)
    os.mkfifo(path)
    app.refresh()
    assert app.metrics.reloads["failed"] == 1
    assert len(app.models.all()) == 1


def test_a_process_that_only_serves_has_nothing_left_to_collect(tmp_path, trees):
    write(trees, tmp_path / "m.plackett")
    app = application([tmp_path])
    app.refresh()
    assert gc.get_freeze_count() == 0  # in somebody else's process nothing is frozen
    app = application([tmp_path])
    app.owns_process = True
    try:
        app.refresh()
        assert gc.get_freeze_count() > 10_000 > len(gc.get_objects())
    finally:
        gc.unfreeze()


def test_datasets_are_no_models(tmp_path, data):
    pk.write(data, tmp_path / "d.plackett")
    changes = ModelStore([str(tmp_path / "d.plackett")]).refresh()
    assert [c.what for c in changes] == ["failed"] and "holds a dataset, not a model" in changes[0].reason


# ---------------------------------------------------------------------------------------------------------------- docs


def test_openapi_describes_every_route(one):
    document = get(one, "/openapi.json").json
    assert set(document["paths"]) == {route.path for route in one.routes}
    ids = [o["operationId"] for path in document["paths"].values() for o in path.values()]
    assert len(set(ids)) == len(ids)
    page = get(one, "/docs").body.decode()
    assert all(route.path in page for route in one.routes) and "://" not in page.replace("http://www.w3.org", "")


def test_settings_are_checked():
    with pytest.raises(ValueError, match="max_body=0"):
        Settings(max_body=0)
    with pytest.raises(ValueError, match="empty"):
        Settings(api_keys=("",))
