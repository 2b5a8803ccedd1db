"""The service on a real socket: slow and broken clients, replacement under load, a stop that loses nothing."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import http.client
import shutil
import socket
import ssl
import subprocess
import threading
import time

import numpy as np
import pytest

import plackett as pk
from plackett.serve.application import application
from plackett.serve.http import Deferred, Response
from plackett.serve.server import bound_socket, make_server, serve
from plackett.serve.service import Route

pytest.importorskip("orjson")
pytest.importorskip("uvicorn")
connection = pytest.importorskip("plackett.serve.connection")
RAW = {"content-type": "application/octet-stream"}


@contextlib.contextmanager
def serving(app, **options):
    """The service in a thread; yields the port, and what stops it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = make_server(app, host="127.0.0.1", port=port, **options)
    loop: list[asyncio.AbstractEventLoop] = []

    async def run():
        loop.append(asyncio.get_running_loop())
        await server.serve()

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    deadline = time.monotonic() + 60
    while not (server.started and app.models.ready) and time.monotonic() < deadline:
        time.sleep(0.01)

    def stop():
        if thread.is_alive():
            loop[0].call_soon_threadsafe(server.stop)

    try:
        yield port, stop
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


def ask(port, data):
    """What the server sends to raw bytes until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall(data)
        result = b""
        while part := client.recv(65536):
            result += part
    return result


def test_broken_and_slow_heads(one, monkeypatch):
    monkeypatch.setattr(connection, "_HEAD_TIMEOUT", 0.2)
    with serving(one) as (port, _):
        assert ask(port, b"\x16\x03\x01 what\r\n\r\n").startswith(b"HTTP/1.1 400 ")
        large = b"GET /v2 HTTP/1.1\r\nhost: x\r\nx: " + b"y" * 100_000
        assert ask(port, large).startswith(b"HTTP/1.1 431 ")
        for slow in (b"", b"GET /v2 HTT", b"GET /v2 HTTP/1.1\r\nhost: x\r\n"):
            assert b"408 " in ask(port, slow)
        second = b"GET /v2/health/live HTTP/1.1\r\nhost: x\r\n\r\nGET /v2"
        result = ask(port, second)
        assert result.startswith(b"HTTP/1.1 200 ") and b"HTTP/1.1 408 " in result


def test_heads_are_limited_in_bytes_and_fields(one, monkeypatch):
    """In one piece or in many, in the address, the fields or the trailers; a large body in many chunks is none."""
    monkeypatch.setattr(connection, "_HEAD_TIMEOUT", 0.5)
    start = b"POST /score HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
    chunked = start + b"content-type: application/octet-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    small = b"".join(b"x%d: y\r\n" % i for i in range(200))
    medium = b"".join(b"x%d: %s\r\n" % (i, b"y" * 1000) for i in range(100))
    length = b"content-length: 160000\r\ncontent-type: application/octet-stream\r\n\r\n"
    with serving(one) as (port, _):
        assert b" 431 " in ask(port, start + small + b"\r\n") and b"128 header fields" in ask(port, start + small)
        assert b" 431 " in ask(port, start + medium + b"\r\n") and b" 431 " in ask(port, start + medium)
        assert b" 431 " in ask(port, b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\nhost: x\r\n\r\n")
        assert b" 431 " in ask(port, chunked + b"0\r\n" + small)
        assert b" 431 " in ask(port, chunked + b"0\r\nx: " + b"y" * 400_000)
        assert b" 431 " in ask(port, chunked + b"1;" + b"y" * 400_000)
        in_chunks = b"4\r\n\0\0\0\0\r\n" * 40_000 + b"0\r\n\r\n"
        assert b" 200 " in ask(port, chunked + in_chunks)
        assert b" 200 " in ask(port, start + length + b"\0" * 160_000)
        kept = start.replace(b"connection: close\r\n", b"") + length + b"\0" * 160_000
        result = ask(port, kept + b"GET /v2 HTTP/1.1\r\nhost:")  # a head that begins in the piece that ends a body
        assert result.startswith(b"HTTP/1.1 200 ") and b"HTTP/1.1 408 " in result


def test_empty_lines_do_not_keep_a_connection(one, monkeypatch):
    monkeypatch.setattr(connection, "_HEAD_TIMEOUT", 0.3)
    with serving(one) as (port, _), socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        client.sendall(b"GET /v2/health/live HTTP/1.1\r\nhost: x\r\n\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 200 ")
        client.sendall(b"\r\n")
        result = b""
        while part := client.recv(65536):
            result += part
        assert b"HTTP/1.1 408 " in result


def statuses(result):
    """Of the answers, in their order."""
    return [int(part[:3]) for part in result.split(b"HTTP/1.1 ")[1:]]


PING = b"GET /v2/health/live HTTP/1.1\r\nhost: x\r\n\r\n"


def test_requests_that_wait_in_a_connection_are_limited(one):
    """Those up to the limit are answered, and then the connection ends with the reason."""
    with serving(one) as (port, _):
        last = PING.replace(b"host: x", b"host: x\r\nconnection: close")
        assert statuses(ask(port, PING * 32 + last)) == [200] * 33
        result = ask(port, PING * 5_000)
        assert 33 <= statuses(result).count(200) < 5_000 and b"more than 32 requests wait" in result
        assert statuses(result) == [200] * (len(statuses(result)) - 1) + [429]


def test_why_a_connection_ends_comes_after_the_answers_before_it(one):
    body = b"POST /score HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
    with serving(one) as (port, _):
        assert statuses(ask(port, PING * 3 + b"\x16\x03\x01 what\r\n\r\n")) == [200, 200, 200, 400]
        assert statuses(ask(port, PING * 2 + body + b"no chunk")) == [200, 200, 400]
        assert statuses(ask(port, PING + b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n")) == [200, 431]
        assert statuses(ask(port, body + b"no chunk")) == [400]


@contextlib.contextmanager
def reading_slowly(port):
    """A client with a small buffer that has asked for a large answer."""
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        client.settimeout(30)
        client.connect(("127.0.0.1", port))
        client.sendall(b"GET /large HTTP/1.1\r\nhost: x\r\n\r\n")
        yield client


def test_who_does_not_read_is_disconnected_and_who_reads_slowly_is_not(one, monkeypatch):
    size = 12 << 20
    one.routes.append(Route("GET", "/large", lambda app, request: Response(bytes(size)), ""))
    with serving(one) as (port, _):
        monkeypatch.setattr(connection, "_READ_TIMEOUT", 0.2)
        with reading_slowly(port) as client:
            time.sleep(1)
            result = 0
            with contextlib.suppress(ConnectionResetError):
                while part := client.recv(1 << 20):
                    result += len(part)
            assert result < size
        monkeypatch.setattr(connection, "_READ_TIMEOUT", 1.0)
        with reading_slowly(port) as client:
            result = 0
            while result < size:
                result += len(client.recv(1 << 20))
                time.sleep(0.005)


def test_slow_bodies(trees):
    app = application({"trees": trees}, body_timeout=0.2)
    with serving(app) as (port, _):
        result = ask(port, b"POST /score HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n" + b"\0" * 16)
        assert result.startswith(b"HTTP/1.1 408 ") and b"0.2 seconds" in result


def test_bodies_that_are_larger_than_they_look(one):
    """Each is refused with its reason, and then others are answered, and the service stops."""
    pa = pytest.importorskip("pyarrow")
    names = ["bm25", "age", "clicks", "price"]
    table = pa.table({name: pa.array(np.zeros(2_000_000, np.float32)) for name in names})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    header = ",".join(f"c{i}" for i in range(150_000)).encode()
    gzip_of = {"content-type": "application/json", "content-encoding": "gzip"}
    with serving(one) as (port, _):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        for path, body, headers, status in (
            ("/score", sink.getvalue().to_pybytes(), {"content-type": "application/vnd.apache.arrow.stream"}, 413),
            ("/invocations", header, {"content-type": "text/csv"}, 400),
            ("/rank", gzip.compress(bytes(100_000_000)), gzip_of, 413),
            ("/rank", gzip.compress(b'{"items":[' + b"{}," * 4_000_000 + b"{}]}"), gzip_of, 413),
            ("/rank", gzip.compress(b'{"features": [[1, 2, 3, 4]]}'), gzip_of, 200),
            ("/score", np.zeros((3, 4), np.float32).tobytes(), RAW, 200),
        ):
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            result = answer.read()
            assert answer.status == status, result


def test_replacement_under_load(tmp_path, trees, linear, data):
    """A small soak: every answer is that of one of the two models, and both are seen."""
    path = tmp_path / "m.plackett"
    trees.save(path)
    X = data.X[:10]
    expected = [ranker.predict(X).tobytes() for ranker in (trees, linear)]
    app = application([path], reload_interval=0.02)
    seen, wrong, done = set(), [], threading.Event()

    def client(port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        n = 0
        while n < 100 or not done.is_set():
            connection.request("POST", "/score", X.tobytes(), RAW)
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200 or body not in expected:
                wrong.append((answer.status, body))
                return
            seen.add(expected.index(body))
            n += 1

    with serving(app) as (port, _):
        threads = [threading.Thread(target=client, args=(port,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for i in range(6):
            loads = app.metrics.reloads["loaded"]
            (linear if i % 2 == 0 else trees).save(path)
            deadline = time.monotonic() + 20
            while app.metrics.reloads["loaded"] == loads and time.monotonic() < deadline:
                time.sleep(0.005)
        done.set()
        for thread in threads:
            thread.join(60)
    assert not wrong and seen == {0, 1}
    assert app.metrics.reloads == {"loaded": 7, "failed": 0, "removed": 0, "skipped": 0}


def test_stop_loses_no_request(trees):
    """Requests that are under way, and those that come while the service is draining, are answered."""
    app = application({"trees": trees})

    def slow(app, request):
        return Deferred(lambda: (time.sleep(0.4), Response(b"{}"))[1])

    app.routes.append(Route("GET", "/slow", slow, ""))
    body, answers = np.zeros((3, 4), np.float32).tobytes(), []

    def client(port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", "/slow")
        answers.append(connection.getresponse().status)

    with serving(app, drain=0.3) as (port, stop):
        kept = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        kept.request("POST", "/score", body, RAW)
        assert kept.getresponse().read()
        threads = [threading.Thread(target=client, args=(port,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        time.sleep(0.1)
        stop()
        deadline = time.monotonic() + 5
        while not app.draining and time.monotonic() < deadline:
            time.sleep(0.005)
        kept.request("POST", "/score", body, RAW)
        answer = kept.getresponse()
        assert answer.status == 200 and answer.getheader("connection") == "close"
        answer.read()
        check = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        check.request("GET", "/v2/health/ready")
        assert check.getresponse().status == 503
        for thread in threads:
            thread.join(20)
        assert answers == [200, 200]


def test_who_has_connected_when_the_listener_closes_is_answered(one):
    """Before and after the connection was accepted, whether it is new or was used before."""

    async def run():
        listener = bound_socket("127.0.0.1", 0)
        address = listener.getsockname()
        server = make_server(one)
        server.config.load()
        server.lifespan = server.config.lifespan_class(server.config)
        await server.startup(sockets=[listener])
        kept, silent = socket.create_connection(address), socket.create_connection(address)
        kept.sendall(PING)
        while not kept_answered(server):
            await asyncio.sleep(0.01)
        waiting = [socket.create_connection(address) for _ in range(20)]  # the loop has no time to accept them
        for client in (kept, *waiting):
            client.sendall(PING)
        await server.shutdown(sockets=[listener])
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address)
        return [everything(client) for client in (kept, *waiting, silent)]

    def kept_answered(server):
        return server.server_state.total_requests == 1

    def everything(client):
        with client:
            client.settimeout(10)
            return b"".join(iter(lambda: client.recv(65536), b""))

    first, *others, silent = asyncio.run(run())
    assert statuses(first) == [200, 200] and first.count(b"connection: close") == 1
    assert [statuses(result) for result in others] == [[200]] * 20 and silent == b""


def test_a_port_in_use_is_one_clear_error(one, caplog):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with caplog.at_level("INFO", "plackett.serve"), pytest.raises(OSError, match=f"127.0.0.1:{port}: it is in use"):
            serve(one, port=port)
    assert not caplog.records
    with pytest.raises(OSError, match="cannot listen on 'no.such.host.invalid'"):
        serve(one, host="no.such.host.invalid")


def test_unix_sockets(tmp_path):
    """A socket that a killed process left behind is replaced; one in use, or another file, is not."""
    path = tmp_path / "s"
    bound_socket("", 0, str(path)).close()  # closed, and still there
    with bound_socket("", 0, str(path)), pytest.raises(OSError, match="in use"):
        bound_socket("", 0, str(path))
    path.unlink()
    path.write_text("precious")
    with pytest.raises(OSError, match="in use"):
        bound_socket("", 0, str(path))
    assert path.read_text() == "precious"


def test_bad_certificates_are_one_clear_error(tmp_path, one):
    for name in ("key.pem", "cert.pem"):
        (tmp_path / name).write_text("no certificate")
    with pytest.raises(pk.DataError, match="not a certificate and its key"):
        serve(one, tls_cert=str(tmp_path / "cert.pem"), tls_key=str(tmp_path / "key.pem"))


def test_tls(tmp_path, one):
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run([*command, "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True)
    with serving(one, ssl_certfile=str(cert), ssl_keyfile=str(key)) as (port, _):
        context = ssl.create_default_context(cafile=str(cert))
        context.check_hostname = False
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=20)
        connection.request("GET", "/v2/health/live")
        assert connection.getresponse().status == 200
        connection.close()
