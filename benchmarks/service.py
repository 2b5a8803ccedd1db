"""The scoring service: processor time per request against FastAPI, latency at half load, and a soak test.

``python benchmarks/service.py`` starts servers on loopback, sends requests of 100 documents × 136 features and reads
the processor time of the server from ``/proc`` (Linux). FastAPI with pydantic and LightGBM is measured where it is
installed, or in another environment: ``--peer-python PATH``.

``python benchmarks/service.py --soak`` sends 100,000 requests from eight clients while the model file is replaced all
the time. Every answer must be that of one of the models, none may be lost, and memory must not grow.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import plackett as pk

DOCUMENTS, FEATURES = 100, 136
PEER = """
import numpy as np, lightgbm, uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
class Body(BaseModel):
    features: list[list[float]]
class Scores(BaseModel):
    scores: list[float]
app = FastAPI()
booster = lightgbm.Booster(model_file={model!r})
@app.get("/v2/health/ready")
async def ready(): return {{}}
@app.post("/score")
async def score(body: Body) -> Scores:
    return Scores(scores=booster.predict(np.array(body.features), num_threads=1).tolist())
uvicorn.run(app, port={port}, log_level="error", http="httptools")
"""


# ------------------------------------------------------------------------------------------------------------- clients


class Client:
    """A connection that is kept open, with as little of HTTP as the servers need."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.socket: socket.socket | None = None

    def ask(self, request: bytes) -> tuple[int, bytes]:
        """Status and body of the answer. A connection that the server announced to close is opened again."""
        if self.socket is None:
            self.socket = socket.create_connection(("127.0.0.1", self.port))
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(request)
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._more()
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        length = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
        parts, size = [body], len(body)
        while size < length:
            parts.append(self._more())
            size += len(parts[-1])
        if b"connection: close" in lines:
            self.socket.close()
            self.socket = None
        return int(lines[0].split()[1]), b"".join(parts)

    def _more(self) -> bytes:
        data = self.socket.recv(1 << 18)
        if not data:
            raise ConnectionError("the server closed the connection before it answered")
        return data


def message(path: str, body: bytes, kind: str, **headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "host: localhost", f"content-type: {kind}", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def running(command: list[str], port: int) -> Iterator[int]:
    """A server process, once it is ready; its number."""
    process = subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError, ConnectionError, StopIteration):
                if Client(port).ask(b"GET /v2/health/ready HTTP/1.1\r\nhost: x\r\n\r\n")[0] == 200:
                    break
            if process.poll() is not None:
                raise RuntimeError(f"{command[:3]} ended with {process.returncode}")
            time.sleep(0.1)
        else:
            raise RuntimeError(f"{command[:3]} was not ready after a minute")
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def ours(port: int, *models: str) -> list[str]:
    program = "from plackett.cli import main; main()"
    return [sys.executable, "-c", program, "serve", *models, "--port", str(port), "--reload-interval", "0.2"]


def cpu_seconds(pid: int) -> float:
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    """Anonymous memory in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("this system does not tell RssAnon")


# ------------------------------------------------------------------------------------------------------------- measure


def model(folder: Path, trees: int, leaves: int) -> tuple[Path, Path]:
    """A LambdaMART in our format and in LightGBM's."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, FEATURES)).astype(np.float32)
    y = np.digitize(X[:, :8].sum(axis=1) + rng.normal(size=20_000), [0, 2, 4])
    ranker = pk.LambdaMART(n_estimators=trees, num_leaves=leaves, n_jobs=1).fit(X, y, qid=np.arange(20_000) // 100)
    ranker.save(folder / "m.plackett")
    (folder / "m.txt").write_text(ranker.scorer_.text)
    return folder / "m.plackett", folder / "m.txt"


def requests(X: np.ndarray) -> dict[str, bytes]:
    """The same documents in every form."""
    entry = {"name": "x", "shape": list(X.shape), "datatype": "FP32", "parameters": {"binary_data_size": X.nbytes}}
    header = json.dumps({"inputs": [entry], "parameters": {"binary_data_output": True}}).encode()
    tensor = {"name": "x", "shape": list(X.shape), "datatype": "FP32", "data": X.ravel().tolist()}
    infer = "/v2/models/m/infer"
    found = {
        "raw float32": message("/score", X.tobytes(), "application/octet-stream"),
        "Open Inference, binary": message(
            infer, header + X.tobytes(), "application/octet-stream", inference_header_content_length=str(len(header))
        ),
        "Open Inference, JSON": message(infer, json.dumps({"inputs": [tensor]}).encode(), "application/json"),
        "/rank, JSON": message("/rank", json.dumps({"features": X.tolist()}).encode(), "application/json"),
        "MLflow, JSON": message("/invocations", json.dumps({"instances": X.tolist()}).encode(), "application/json"),
    }
    with contextlib.suppress(ImportError):
        import pyarrow as pa

        sink = pa.BufferOutputStream()
        table = pa.table({str(j): X[:, j] for j in range(X.shape[1])})
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        found["Arrow"] = message("/score", sink.getvalue().to_pybytes(), "application/vnd.apache.arrow.stream")
    return found


def cost(pid: int, port: int, request: bytes, n: int) -> float:
    """Processor time of the server per request, in milliseconds; the best of three runs."""
    client = Client(port)
    for _ in range(20):
        status, body = client.ask(request)
        assert status == 200, body[:300]
    times = []
    for _ in range(3):
        start = cpu_seconds(pid)
        for _ in range(n):
            client.ask(request)
        times.append((cpu_seconds(pid) - start) / n * 1e3)
    return min(times)


def latency(port: int, request: bytes, seconds: float) -> tuple[float, float, float]:
    """Requests per second that two clients get through, then p50 and p99 in ms at half of that, on a fixed schedule."""
    done = [0, 0]
    end = time.perf_counter() + seconds

    def hurry(i: int) -> None:
        client = Client(port)
        while time.perf_counter() < end:
            client.ask(request)
            done[i] += 1

    both(hurry)
    rate = sum(done) / seconds
    times: list[float] = []
    start, step = time.perf_counter() + 0.1, 4.0 / rate

    def keep_time(i: int) -> None:
        client = Client(port)
        for k in range(int(seconds / step)):
            due = start + (k + i / 2) * step
            time.sleep(max(0.0, due - time.perf_counter()))
            client.ask(request)
            times.append(time.perf_counter() - due)  # waiting for an earlier answer counts, too

    both(keep_time)
    p50, p99 = np.quantile(times, [0.5, 0.99]) * 1e3
    return rate, float(p50), float(p99)


def both(work: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def compare(trees: int, leaves: int, n: int, peer_python: str) -> None:
    X = np.random.default_rng(1).normal(size=(DOCUMENTS, FEATURES)).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        own, text = model(Path(folder), trees, leaves)
        port = free_port()
        print(f"{trees} trees of {leaves} leaves, {DOCUMENTS} documents × {FEATURES} features; server CPU per request")
        figures: dict[str, float] = {}
        with running(ours(port, f"m={own}"), port) as pid:
            for name, request in requests(X).items():
                figures[name] = cost(pid, port, request, n)
            windows = [latency(port, requests(X)["raw float32"], 4.0) for _ in range(3)]
        port = free_port()
        peer = None
        known = subprocess.run([peer_python, "-c", "import fastapi, lightgbm, uvicorn"], capture_output=True)
        if known.returncode == 0:
            program = PEER.format(model=str(text), port=port)
            with running([peer_python, "-c", program], port) as pid:
                body = json.dumps({"features": X.tolist()}).encode()
                peer = cost(pid, port, message("/score", body, "application/json"), max(n // 5, 50))
            print(f"  {'FastAPI + pydantic + LightGBM':<32} {peer:7.3f} ms")
        for name, value in figures.items():
            ratio = "" if peer is None else f"   {peer / value:5.1f} × less"
            print(f"  {name:<32} {value:7.3f} ms{ratio}")
        for rate, p50, p99 in windows:  # anything else that runs on the machine shows in p99
            print(f"  raw float32: {rate:,.0f} requests/s of two clients; half of it: p50 {p50:.2f}, p99 {p99:.2f} ms")


# ---------------------------------------------------------------------------------------------------------------- soak


def soak(total: int, clients: int) -> None:
    """Requests from several clients while the model is replaced; an error ends the program."""
    X = np.random.default_rng(1).normal(size=(20, FEATURES)).astype(np.float32)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kinds, expected = [], []
        rng = np.random.default_rng(0)
        T = rng.normal(size=(2_000, FEATURES)).astype(np.float32)
        for i in range(2):
            ranker = pk.LambdaMART(n_estimators=30, num_leaves=15, n_jobs=1, random_state=i)
            ranker.fit(T, np.digitize(T[:, i], [0, 1]), qid=np.arange(2_000) // 50)
            ranker.save(folder / f"kind{i}")
            kinds.append((folder / f"kind{i}").read_bytes())
            expected.append(ranker.predict(X).tobytes())
        served = folder / "m.plackett"
        served.write_bytes(kinds[0])
        port = free_port()
        request = message("/score", X.tobytes(), "application/octet-stream")
        answered, wrong, seen = [0] * clients, [], [set() for _ in range(clients)]
        stop = threading.Event()

        def ask(i: int) -> None:
            client = Client(port)
            for _ in range(total // clients):
                try:
                    status, body = client.ask(request)
                except OSError as error:
                    wrong.append(repr(error))
                    return
                if status != 200 or body not in expected:
                    wrong.append((status, body[:200]))
                    return
                seen[i].add(expected.index(body))
                answered[i] += 1

        def replace() -> None:
            i = 0
            while not stop.wait(0.5):
                i += 1
                (folder / "next").write_bytes(kinds[i % 2])
                os.replace(folder / "next", served)

        with running(ours(port, f"m={served}"), port) as pid:
            threads = [threading.Thread(target=ask, args=(i,)) for i in range(clients)]
            replacing = threading.Thread(target=replace)
            replacing.start()
            for t in threads:
                t.start()
            start, memory = time.perf_counter(), []
            while any(t.is_alive() for t in threads):
                time.sleep(0.5)
                memory.append(resident(pid))
            stop.set()
            replacing.join()
            lines = Client(port).ask(b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n")[1].decode().splitlines()
        loads = next(line.split()[-1] for line in lines if 'reloads_total{result="loaded"}' in line)
        seconds = time.perf_counter() - start
        half = len(memory) // 2
        early, late = float(np.median(memory[half // 2 : half])), float(np.median(memory[-half // 2 :]))
        print(f"{sum(answered):,} of {total:,} requests answered in {seconds:.0f} s, {len(wrong)} wrong, {loads} loads")
        print(f"answers of model {sorted(set().union(*seen))}")
        print(f"memory {early:.1f} MB in the second quarter, {late:.1f} MB at the end")
        if wrong or sum(answered) != total // clients * clients:
            sys.exit(f"lost or wrong: {wrong[:3]}")
        if late > 1.05 * early + 5:
            sys.exit("memory grows")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--soak", action="store_true")
    parser.add_argument("--requests", type=int, default=100_000, help="of the soak test")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=1_000, help="requests in each measurement")
    parser.add_argument("--peer-python", default=sys.executable, help="Python that has FastAPI and LightGBM")
    arguments = parser.parse_args()
    if arguments.soak:
        soak(arguments.requests, arguments.clients)
    else:
        compare(100, 31, arguments.repeats, arguments.peer_python)
