"""Small workbenches of each kind, a server on a free port, and a page in Chromium where there is one."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import plackett as pk
from asgi_client import get, post
from plackett.text import Document, Index
from plackett.workbench.application import application
from plackett.workbench.bench import Workbench
from plackett.workbench.sources.dataset import DatasetSource
from plackett.workbench.sources.index import IndexSource
from plackett.workbench.sources.runs import RunsSource
from plackett.workbench.store import Store

pytest.importorskip("starlette", reason="the workbench needs the extra serve")
pytest.importorskip("uvicorn", reason="the workbench needs the extra serve")
pytest.importorskip("Stemmer", reason="the workbench needs the extra text")

ANIMALS = ["whale", "shark", "dolphin", "seal", "otter", "penguin", "albatross", "turtle"]
VERBS = ["sings", "hunts", "sleeps", "dives", "plays", "swims"]
PLACES = ["ice", "reef", "harbour", "shore", "deep water", "kelp"]


def documents(n=60):
    rng = np.random.default_rng(0)
    for i in range(n):
        animal, verb, place = (str(rng.choice(tokens)) for tokens in (ANIMALS, VERBS, PLACES))
        text = (
            f"The {animal} {verb} near the {place}. " * int(rng.integers(1, 4))
            + f"A <b>{rng.choice(ANIMALS)}</b> & co."
        )
        yield Document(
            f"d{i:02d}", {"title": f"{animal.title()} {i}", "body": text, "year": 1950 + i, "place": place.split()[0]}
        )


QUERIES = {f"q{i}": f"{animal} {PLACES[i % len(PLACES)]}" for i, animal in enumerate(ANIMALS)}


def judged(docs):
    """Grades by what the documents say: 2 with animal and place, 1 with the animal."""
    result = {}
    for qid, text in QUERIES.items():
        animal, position = text.split()[0], text.split()[1]
        for doc in docs:
            body = doc.fields["body"]
            if animal in body:
                result.setdefault(qid, {})[doc.id] = 2.0 if position in body else 1.0
    return result


@pytest.fixture(scope="session")
def index():
    return Index.build(documents(), kinds={"place": "keyword"})


def index_bench(index, store=None, labels=None):
    source = IndexSource(index, "sea")
    source.add("RM3")
    source.queries = dict(QUERIES)
    return Workbench(source, store or Store(), labels=labels)


@pytest.fixture
def bench(index):
    made = index_bench(index, labels=judged(list(documents())))
    yield made
    made.jobs.close()


@pytest.fixture
def runs_bench(tmp_path):
    rng = np.random.default_rng(1)
    source = RunsSource("runs")
    for name in ("first", "second"):
        lines = [
            f"{q} Q0 doc{d} {rank} {20 - rank} {name}\n"
            for q in range(1, 7)
            for rank, d in enumerate(rng.permutation(20)[:10].tolist(), 1)
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines))
        source.add(str(tmp_path / f"{name}.run"))
    labels = {str(q): {f"doc{d}": float(d % 3) for d in range(0, 20, 2)} for q in range(1, 7)}
    return Workbench(source, Store(), labels=labels)


@pytest.fixture
def dataset_bench():
    data = pk.datasets.make_ranking(12, 8, 5, random_state=0)
    source = DatasetSource(data, "made")
    source.add_ranker("ListNet", pk.ListNet(n_jobs=1).fit(data), ())
    source.add("2")
    return Workbench(source, Store())


class Client:
    """Requests without a socket, as the page sends them."""

    def __init__(self, app):
        self.app = app

    def get(self, path, **headers):
        return get(self.app, path, **{"host": "127.0.0.1:8765", **headers})

    def post(self, path, body, **headers):
        return post(self.app, path, body, **{"host": "127.0.0.1:8765", **headers})


@pytest.fixture
def client(bench):
    return Client(application(bench))


@contextlib.contextmanager
def served(bench, **options):
    """The workbench on a free port, in a thread."""
    import uvicorn

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    app = application(bench, **options)
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning", lifespan="off", access_log=False)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        yield SimpleNamespace(url=f"http://127.0.0.1:{port}", port=port, bench=bench)
    finally:
        server.should_exit = True
        thread.join(10)


# ------------------------------------------------------------------------------------------------------------ Chromium


def _browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    result = next((p for name in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(name))), None)
    if result is None:
        pytest.skip("there is no Chromium on this machine (Debian: apt-get install chromium)")
    return playwright.sync_playwright(), result


@pytest.fixture(scope="module")
def browser():
    """For one file of tests: while Playwright runs, an event loop does, and `asyncio.run` would not work elsewhere."""
    starter, path = _browser()
    with starter as playwright:
        # one process for all pages: each test has an origin of its own, and would start another
        flags = ["--no-sandbox", "--renderer-process-limit=1", "--disable-site-isolation-trials"]
        browser = playwright.chromium.launch(executable_path=path, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def shot(request):
    """Keep a picture of a page if PLACKETT_SCREENSHOTS names a folder."""

    def keep(page, name):
        folder = os.environ.get("PLACKETT_SCREENSHOTS")
        if folder:
            page.screenshot(path=str(Path(folder, f"{name}.png")))

    return keep


@pytest.fixture
def open_page(browser):
    """Open a page of a workbench; faults in its scripts and broken rules of its policy fail the test."""
    contexts, faults = [], []

    def opened(url, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 860}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text) if "Content Security" in message.text else None)
        page.goto(url)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture(scope="session")
def axe():
    """The source of axe-core: ``npm install axe-core`` beside the tests, or its file named by PLACKETT_AXE."""
    places = [os.environ.get("PLACKETT_AXE", ""), "node_modules/axe-core/axe.min.js"]
    path = next((Path(position) for position in places if position and Path(position).is_file()), None)
    if path is None:
        pytest.skip("axe-core is not installed (npm install axe-core)")
    return path.read_text("utf-8")
