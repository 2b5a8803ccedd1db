"""Several processes on one socket: what they count together, replacement, a stop that loses nothing."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from asgi_client import get, post
from plackett.serve.application import application
from plackett.serve.worker import Worker

pytest.importorskip("uvicorn")
pytest.importorskip("orjson")
RAW = "application/octet-stream"


def values(page):
    lines = [line for line in page.splitlines() if not line.startswith("#")]
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


def test_counts_are_summed_and_never_fall(tmp_path, trees):
    trees.save(tmp_path / "m.plackett")
    apps = [application([tmp_path / "m.plackett"], worker=Worker(i, 2, tmp_path)) for i in (1, 2)]
    body = np.zeros((5, 4), np.float32).tobytes()
    apps[0].refresh()
    assert get(apps[0], "/v2/health/ready").status == 503  # the other is not
    apps[1].refresh()
    seen = []
    for i in (0, 1, 1, 0, 1):
        assert post(apps[i], "/score", body, content_type=RAW).status == 200
        seen.append(values(get(apps[i], "/metrics").body.decode()))
    documents = [result["plackett_documents_total"] for result in seen]
    assert documents == sorted(documents) and documents[-1] == 25
    assert seen[-1]['plackett_requests_total{route="/score",status="200"}'] == 5
    assert seen[-1]['plackett_request_seconds_count{route="/score"}'] == 5
    assert [seen[-1][f'plackett_reloads_total{{result="loaded",worker="{i}"}}'] for i in (1, 2)] == [1, 1]
    assert get(apps[0], "/v2/health/ready").status == get(apps[0], "/ping").status == 200
    text = get(apps[0], "/metrics").body.decode()
    helps = [line for line in text.splitlines() if line.startswith("# HELP")]
    assert len(helps) == len(set(helps))
    successor = application([tmp_path / "m.plackett"], worker=Worker(2, 2, tmp_path))
    successor.refresh()
    result = values(get(successor, "/metrics").body.decode())
    assert result["plackett_documents_total"] == 25
    assert result['plackett_reloads_total{result="loaded",worker="2"}'] == 2


def test_a_successor_has_what_the_others_have(tmp_path, trees, linear, data):
    """Where the file is damaged by now, or gone, it takes the copy that the others keep."""
    shared = tmp_path / "shared"
    shared.mkdir()
    paths = [tmp_path / "named.plackett", tmp_path / "models" / "shop.plackett", tmp_path / "models" / "web.plackett"]
    (tmp_path / "models").mkdir()
    for path in paths:
        trees.save(path)
    arguments = [paths[0], tmp_path / "models"]

    def worker(number):
        app = application(arguments, worker=Worker(number, 2, shared))
        app.refresh()
        return app

    def scores(app, name):
        return post(app, f"/score/{name}", data.X.tobytes(), content_type=RAW).body

    first = worker(1)
    linear.save(paths[1])  # replaced while it runs
    first.refresh()
    paths[0].unlink()
    paths[1].write_bytes(paths[1].read_bytes()[:-5])
    paths[2].unlink()
    first.refresh()
    second = worker(2)
    assert second.models.lacking == []
    for app in (first, second):
        assert scores(app, "named") == trees.predict(data).tobytes()
        assert scores(app, "shop") == linear.predict(data).tobytes()
        assert get(app, "/v2/models/web/ready").status == 404
        assert "truncated" in get(app, "/v2/models/shop").json["parameters"]["failed"]["1"]
    (shared / "shop@1.plackett").write_bytes(b"damaged, too")
    assert worker(2).models.lacking == ["shop@1"]  # it would not take part
    trees.save(paths[1])
    second.refresh()
    assert scores(second, "shop") == trees.predict(data).tobytes()
    assert worker(2).models.lacking == []


def test_what_cannot_be_kept_is_served_and_logged(tmp_path, trees, caplog):
    trees.save(tmp_path / "m.plackett")
    app = application([tmp_path / "m.plackett"], worker=Worker(1, 2, tmp_path))
    app.models.kept = tmp_path / "not there"
    with caplog.at_level("ERROR", "plackett.serve"):
        app.refresh()
    assert "no copy can be kept" in caplog.records[0].fields["reason"] and app.models.ready


@contextlib.contextmanager
def running(*arguments):
    """The command in a process of its own; yields it, the port and the lines of its log."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-c", "from plackett.cli import main; main()", "serve", "--port", str(port), *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    log = []
    reader = threading.Thread(target=lambda: log.extend(map(json.loads, process.stderr)))
    reader.start()
    try:
        yield process, port, log
    finally:
        process.kill()
        process.wait()
        reader.join()


def until(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, http.client.HTTPException):
            if condition():
                return
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


def ask(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, body, {"content-type": RAW})
    answer = connection.getresponse()
    return answer.status, answer.read()


@pytest.mark.full
def test_workers_serve_reload_survive_and_stop(tmp_path, trees, linear, data):
    path = tmp_path / "m.plackett"
    trees.save(path)
    X = data.X[:10]
    with running(str(path), "--workers", "2", "--drain", "0.3") as (process, port, log):
        until(lambda: ask(port, "GET", "/ping")[0] == 200)
        assert {ask(port, "POST", "/score", X.tobytes())[1] for _ in range(10)} == {trees.predict(X).tobytes()}
        linear.save(path)
        until(lambda: sum(line["message"] == "model loaded" for line in log) == 4)
        assert {ask(port, "POST", "/score", X.tobytes())[1] for _ in range(10)} == {linear.predict(X).tobytes()}
        children = [int(line["worker"]) for line in log if line["message"] == "ready"]
        assert sorted(children) == [1, 2]
        pids = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True).stdout
        first = int(pids.split()[0])
        time.sleep(1.0)  # what is counted is published
        before = values(ask(port, "GET", "/metrics")[1].decode())["plackett_documents_total"]
        assert before == 200
        os.kill(first, signal.SIGKILL)
        until(lambda: sum(line["message"] == "ready" for line in log) == 3)
        for _ in range(10):
            assert ask(port, "POST", "/score", X.tobytes())[0] == 200
        time.sleep(1.0)
        assert values(ask(port, "GET", "/metrics")[1].decode())["plackett_documents_total"] == 300
        for pid in pids.split()[1:]:  # signals go to the parent
            os.kill(int(pid), signal.SIGTERM)
        assert ask(port, "GET", "/ping")[0] == 200
        process.send_signal(signal.SIGTERM)
        until(lambda: ask(port, "GET", "/ping")[0] == 503)
        assert ask(port, "POST", "/score", X.tobytes())[0] == 200
        assert process.wait(20) == 0
    assert log[-1]["message"] == "stopped"


@pytest.mark.full
def test_a_damaged_file_does_not_reach_a_worker_that_is_replaced(tmp_path, trees, data):
    """Every request to any of the models is answered while a worker is killed and comes back."""
    for name in ("good", "other"):
        trees.save(tmp_path / f"{name}.plackett")
    body = data.X[:10].tobytes()
    with running(str(tmp_path), "--workers", "2", "--drain", "0.1") as (process, port, log):
        until(lambda: ask(port, "GET", "/ping")[0] == 200)
        (tmp_path / "other.plackett").write_bytes(b"damaged")
        pids = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True).stdout
        time.sleep(5)  # a worker that lived longer is replaced at once
        os.kill(int(pids.split()[0]), signal.SIGKILL)
        until(lambda: sum(line["message"] == "ready" for line in log) == 3)
        for name in ("good", "other") * 20:
            assert ask(port, "POST", f"/score/{name}", body)[0] == 200
        assert ask(port, "GET", "/v2/health/ready")[0] == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


@pytest.mark.full
def test_workers_end_with_their_parent(tmp_path, trees):
    trees.save(tmp_path / "m.plackett")
    with running(str(tmp_path / "m.plackett"), "--workers", "2") as (process, port, _):
        until(lambda: ask(port, "GET", "/ping")[0] == 200)
        process.kill()
        process.wait()

        def refused():
            try:
                ask(port, "GET", "/ping")
            except ConnectionRefusedError:
                return True
            return False

        until(refused)
