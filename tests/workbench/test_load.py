"""Many clients at once, and requests that make no sense."""

from __future__ import annotations

import http.client
import json
import random
import signal
import subprocess
import sys
import threading
import urllib.request

import pytest

from plackett.workbench.application import ACTIONS, application, openapi
from plackett.workbench.store import Store
from workbench.conftest import QUERIES, Client, index_bench, served


def work(port, client, requests, sent, failed, graded):
    """One client: judges, and searches in between; what was acknowledged is noted."""
    rng = random.Random(client)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for i in range(requests):
        qid = rng.choice(list(QUERIES))
        if i % 2:
            connection.request("GET", f"/api/search?qid={qid}&q={QUERIES[qid].replace(' ', '+')}&k=10")
        else:
            body = {"rater": f"r{client}", "qid": qid, "docid": f"d{i:02d}", "grade": rng.randrange(5)}
            connection.request("POST", "/api/judge", json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        result = json.loads(answer.read())
        sent.append(1)
        if answer.status != 200:
            failed.append((answer.status, result))
        elif not i % 2:
            graded[f"r{client}", qid, body["docid"]] = body["grade"]
    connection.close()


def clients(bench, requests):
    sent, failed, graded = [], [], {}
    with served(bench) as server:
        threads = [
            threading.Thread(target=work, args=(server.port, n, requests // 8, sent, failed, graded)) for n in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failed == [] and len(sent) == requests
    kept = {(one.rater, one.qid, one.docid): one.grade for one in bench.store.judgements()}
    assert kept == graded


def test_eight_clients_lose_nothing(index, tmp_path):
    clients(index_bench(index, Store(tmp_path / "store.sqlite")), 160)


@pytest.mark.full
def test_ten_thousand_requests_while_training_lose_nothing(index, tmp_path, bench):
    full = index_bench(index, Store(tmp_path / "store.sqlite"), labels=bench.given)
    full.train("given", ["ListNet", "LambdaMART"], [], "nDCG@10", 3, 2)
    clients(full, 10_000)
    full.jobs.close()


def junk(rng, depth=0):
    """Values of any kind that JSON has."""
    makers = [
        lambda: rng.choice(
            ["", "x", "BM25", "given", "q0", "d01", "\ud800", "\x00", "a" * 3000, "snapshot: x", "🐋", "-1"]
        ),
        lambda: rng.choice([0, 1, -1, 10**30, 1e308, 0.5, 2**63]),
        lambda: rng.choice([None, True, False]),
        lambda: [junk(rng, depth + 1) for _ in range(rng.randrange(4))] if depth < 3 else [],
        lambda: {str(junk(rng, 3)): junk(rng, depth + 1) for _ in range(rng.randrange(3))} if depth < 3 else {},
    ]
    return rng.choice(makers)()


def test_nonsense_is_refused_with_a_reason(index):
    from urllib.parse import urlencode

    client = Client(application(index_bench(index)))
    rng = random.Random(0)
    skipped = {"/api/train"}  # starts a process; its parameters are tested by themselves
    seen = set()
    for _ in range(600):
        one = rng.choice([one for one in ACTIONS if one.path not in skipped])
        given = {name: junk(rng) for name in one.parameters if rng.random() < 0.8}
        if rng.random() < 0.1:
            given["more"] = junk(rng)
        if one.method == "GET":
            pairs = [
                (k, str(x).encode("utf-8", "replace"))
                for k, v in given.items()
                for x in (v if isinstance(v, list) else [v])
            ]
            answer = client.get(f"{one.path}?{urlencode(pairs)}")
        else:
            answer = client.post(one.path, json.dumps(given).encode(), content_type="application/json")
        seen.add(answer.status)
        assert answer.status in (200, 400, 404, 422), (one.path, given, answer.body)
        if answer.status != 200:
            assert answer.json["error"]
    assert seen >= {200, 422}
    for body in (b"", b"[]", b"{", b"\xff", b"1", b'{"rater": NaN}'):
        assert client.post("/api/judge", body, content_type="application/json").status in (400, 422)


@pytest.mark.full
def test_schema_holds_for_generated_requests(index):
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    from hypothesis import HealthCheck, Phase, settings

    with served(index_bench(index)) as server:
        described = openapi()
        described["paths"].pop("/api/train")
        schema = schemathesis.openapi.from_dict(described)
        for operation in schema.get_all_operations():
            case_of = operation.ok().as_strategy()

            @settings(
                max_examples=60,
                deadline=None,
                database=None,
                derandomize=True,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @__import__("hypothesis").given(case=case_of)
            def check(case):
                answer = case.call(base_url=server.url)
                assert answer.status_code in (200, 400, 404, 415, 422), (case, answer.content)

            check()


@pytest.mark.full
def test_judgement_that_the_server_acknowledged_survives_kill(tmp_path):
    store = tmp_path / "store.sqlite"
    program = (
        "import sys\n"
        "from plackett.text import Document, Index\n"
        "from plackett.workbench.bench import Workbench\n"
        "from plackett.workbench.server import serve\n"
        "from plackett.workbench.sources.index import IndexSource\n"
        "from plackett.workbench.store import Store\n"
        "index = Index.build([Document('a', {'body': 'blue whales'})])\n"
        "serve(Workbench(IndexSource(index), Store(sys.argv[1])), port=int(sys.argv[2]))\n"
    )
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(store), str(port)], stdout=subprocess.PIPE, text=True
    )
    assert "The workbench is at" in process.stdout.readline()
    import time

    for _ in range(100):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api/state", timeout=5).read()
            break
        except OSError:
            time.sleep(0.1)
    for i in range(20):
        body = json.dumps({"rater": "ann", "q": "blue", "docid": f"d{i}", "grade": 2}).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/api/judge", body, {"Content-Type": "application/json"}
        )
        assert urllib.request.urlopen(request, timeout=10).status == 200
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert Store(store).labels() == {"t1": {f"d{i}": 2.0 for i in range(20)}}
