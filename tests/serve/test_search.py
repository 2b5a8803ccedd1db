"""``/search``: what a saved search pipeline finds, over HTTP."""

from __future__ import annotations

import os
import random
import shutil

import numpy as np
import pytest

import plackett as pk
from asgi_client import get, post
from plackett.explanations.hits import explain_hits
from plackett.serve.application import application
from plackett.serve.engine import ServedEngine
from plackett.serve.sources import sources
from plackett.serve.worker import Worker
from plackett.text import RM3, Document, FeatureSet, Index, SearchPipeline

pytest.importorskip("orjson")
WORDS = ["wing", "lift", "drag", "flow", "jet", "heat", "shock", "layer"]
FEATURES = [{"model": "BM25"}, {"length": "body"}]


@pytest.fixture(scope="module")
def index():
    draw = random.Random(0)
    return Index.build(
        Document(
            str(i),
            {
                "title": f"No. {i}",
                "body": " ".join(draw.choices(WORDS, k=draw.randrange(1, 20))),
                "year": 1950 + i % 40,
            },
        )
        for i in range(80)
    )


@pytest.fixture(scope="module")
def pipeline(index):
    queries = dict(enumerate(WORDS))
    result = [SearchPipeline(index).search(word, 20) for word in WORDS]
    documents = np.array([hit.number for hits in result for hit in hits])
    offsets = np.cumsum([0, *map(len, result)])
    features = FeatureSet(FEATURES)
    X = features.matrix(index, list(queries.values()), offsets, documents)
    qid = np.repeat(np.arange(len(WORDS)), np.diff(offsets))
    data = pk.RankingDataset.from_arrays(X, X[:, 1] < np.median(X[:, 1]), qid, feature_names=features.names)
    return SearchPipeline(index, pk.ListNet(n_jobs=1).fit(data), FEATURES, candidates=20)


@pytest.fixture
def engine(pipeline, tmp_path):
    pipeline.save(tmp_path / "engine")
    return tmp_path / "engine"


def served(*arguments, **options):
    app = application(list(arguments), **options)
    app.refresh()
    return app


@pytest.mark.parametrize("path", ["/search", "/search/engine"])
def test_an_engine_finds_what_the_pipeline_finds(engine, path):
    app, pipeline = served(engine), SearchPipeline.load(engine)
    asked = {"query": "wing -heat", "filters": "year:1960..", "k": 5, "explain": True}
    answer = post(app, path, asked)
    hits = pipeline.search("wing -heat", 5, filters="year:1960..")
    assert answer.status == 200 and answer.json["engine"] == "engine" and len(hits) == 5
    result = answer.json["items"]
    assert [(one["id"], one["score"], one["retrieval_score"]) for one in result] == [
        (hit.id, hit.score, hit.retrieval_score) for hit in hits
    ]
    assert [(one["title"], one["snippet"]) for one in result] == [(hit.title, hit.snippet()) for hit in hits]
    assert [one["explanation"] for one in result] == explain_hits(pipeline, hits)
    assert {part["feature"] for part in result[0]["explanation"]} == set(pipeline.features.names)
    assert "explanation" not in post(app, path, {"query": "wing"}).json["items"][0]
    assert len(post(app, path, {"query": "wing"}).json["items"]) == 10
    ranked = post(app, "/rank", {"features": {name: [1.0, 2.0] for name in pipeline.features.names}})
    assert ranked.status == 200  # its ranker is served, too


def test_an_engine_without_a_ranker(index, tmp_path):
    SearchPipeline(index).save(tmp_path / "plain")
    SearchPipeline(index, model=RM3()).save(tmp_path / "rm3")
    app = served(tmp_path / "plain", f"other={tmp_path / 'rm3'}")
    result = post(app, "/search/plain", {"query": "wing", "k": 1, "explain": True}).json["items"][0]["explanation"]
    assert [(part["field"], part["term"]) for part in result] == [("all", "wing")]
    assert post(app, "/search/other", {"query": "wing"}).status == 200
    answer = post(app, "/search/other", {"query": "wing", "explain": True})
    assert answer.status == 400 and answer.json["error"] == "explain: only BM25 and rankers can be explained"
    assert post(app, "/search", {"query": "wing"}).json["error"] == "name a search engine: there are other, plain"
    assert post(app, "/rank/plain", {"items": []}).status == 404
    assert get(app, "/v2/health/ready").status == 200


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({}, "query"),
        ({"query": "  "}, "query"),
        ({"query": 3}, "query"),
        ({"query": "x" * 1001}, "query has 1001 characters"),
        ({"query": "(wing"}, "query, column 1"),
        ({"query": "wing", "filters": "year:hot"}, "filters, column 1"),
        ({"query": "wing", "filters": "+" * 30}, "filters"),
        ({"query": "wing", "filters": 1990}, "filters"),
        ({"query": "wing", "k": 0}, "k must be"),
        ({"query": "wing", "k": 101}, "k must be"),
        ({"query": "wing", "k": True}, "k must be"),
        ({"query": "wing", "plain": "no"}, "plain"),
        ({"query": "wing", "explain": 1}, "explain"),
        ({"query": "wing", "field": "boddy"}, "boddy"),
        ({"query": "wing", "qid": 7}, "qid"),
        ({"query": "wing", "top": 5}, "top"),
        ([], "query"),
    ],
)
def test_errors_name_the_field(index, asked, named):
    app = application({})
    app.models.engines = {"e": ServedEngine(SearchPipeline(index), "e", "search")}
    answer = post(app, "/search", asked)
    assert answer.status == 400 and named in answer.json["error"]
    assert post(app, "/search/f", asked).status == 404


def test_odd_queries(engine, caplog):
    """Right or refused with the reason, whatever is written."""
    app, draw = served(engine), random.Random(0)
    parts = [
        "wing",
        "heat",
        "year:",
        "title:",
        ">=",
        "1960",
        "..",
        "+",
        "-",
        "(",
        ")",
        '"',
        "AND",
        "OR",
        "NOT",
        " ",
        "\0",
        "é",
    ]
    statuses = set()
    for _ in range(300):
        query, filters = ("".join(draw.choices(parts, k=draw.randrange(12))) for _ in range(2))
        asked = {"query": query, "filters": filters, "k": draw.randrange(-1, 102), "explain": draw.random() < 0.5}
        answer = post(app, "/search", asked)
        statuses.add(answer.status)
        assert answer.status == 200 or (answer.status == 400 and len(answer.json["error"]) > 5), asked
    assert statuses == {200, 400} and not [r for r in caplog.records if r.levelname == "ERROR"]


def test_an_engine_that_is_replaced_is_loaded(engine, index, pipeline, tmp_path):
    app = served(engine)
    assert app.models.refresh() == []
    with pk.text.IndexWriter(engine / "index") as writer:
        writer.add(Document("new", {"body": "zeppelin"}))
    app.refresh()
    assert [one["id"] for one in post(app, "/search", {"query": "zeppelin"}).json["items"]] == ["new"]
    (engine / "pipeline.json").write_text("{}")
    app.refresh()
    assert post(app, "/search", {"query": "zeppelin"}).status == 200  # what was served stays
    again = served(engine)
    for path in ("/search", "/search/engine"):
        answer = post(again, path, {"query": "zeppelin"})
        assert answer.status == 503 and "pipeline.json: not a pipeline" in answer.json["error"]
    assert get(again, "/v2/health/ready").status == get(again, "/v2/models/engine/ready").status == 200  # its ranker
    shutil.rmtree(engine)
    pipeline.save(engine)
    again.refresh()
    assert post(again, "/search", {"query": "wing"}).status == 200


def test_a_worker_without_the_engine_of_the_others_does_not_take_part(engine, tmp_path):
    (tmp_path / "shared").mkdir()
    first, second = (Worker(number, 2, tmp_path / "shared") for number in (1, 2))
    assert served(engine, worker=first).models.lacking == served(engine, worker=second).models.lacking == []
    os.remove(engine / "index" / "index.json")
    assert served(engine, worker=second).models.lacking == ["engine@search"]


def test_the_engine_is_described(engine):
    app = served(engine)
    operation = get(app, "/openapi.json").json["paths"]["/search/{engine}"]["post"]
    assert operation["parameters"][0]["schema"]["enum"] == ["engine"]
    assert "SearchPipeline(Index(80 documents" in get(app, "/docs").body.decode()
    assert 'model="engine",version="search"' in get(app, "/metrics").body.decode()
    assert [(source.name, source.version) for source in sources([str(engine)])] == [
        ("engine", "search"),
        ("engine", "1"),
    ]


def test_features_that_are_looked_up_by_the_query(index, tmp_path):
    (tmp_path / "clicks.csv").write_text("qid,docid,clicks\n" + "".join(f"7,{i},{i}\n" for i in range(80)))
    features = [{"model": "BM25"}, {"table": str(tmp_path / "clicks.csv"), "column": "clicks", "by": ["qid", "docid"]}]
    X = np.random.default_rng(0).random((60, 2), np.float32)
    names = FeatureSet(features).names
    data = pk.RankingDataset.from_arrays(X, X[:, 1] > 0.5, np.repeat(np.arange(6), 10), feature_names=names)
    SearchPipeline(index, pk.LambdaMART(n_estimators=3, n_jobs=1).fit(data), features).save(tmp_path / "engine")
    app = served(tmp_path / "engine")
    answer = post(app, "/search", {"query": "wing"})
    assert answer.status == 400 and "looked up by the id of the query" in answer.json["error"]
    assert post(app, "/search", {"query": "wing", "qid": "7"}).status == 200
