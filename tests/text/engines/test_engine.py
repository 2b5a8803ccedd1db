"""Feature logging of a search engine. The answers are written after the plug-in's documentation."""

from __future__ import annotations

import base64
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import numpy as np
import pytest
from typer.testing import CliRunner

import plackett as pk
from plackett import DataError, PlackettWarning
from plackett.cli.app import app
from plackett.text import Engine, FeatureLog, extract_from_engine

#: Documents by id: the words of the title, and votes.
FILMS = {
    "7555": (["rambo"], 6.0),
    "1370": (["rambo", "iii"], None),
    "1369": (["rambo", "first", "blood"], 5.5),
    "4241": (["rocky"], 7.0),
}


def answer(body):
    """What the engine says to one search: the films that match, with the value of each feature that matches."""
    (*given, logged) = body["query"]["bool"]["filter"]
    sltr, specification = logged["sltr"], body["ext"]["ltr_log"]["log_specs"]
    if sltr["featureset"] != "films":
        cause = {"type": "invalid_argument_exception", "reason": f"unknown feature set [{sltr['featureset']}]"}
        return {"error": {"root_cause": [cause], "type": "search_phase_execution_exception"}, "status": 400}
    assert specification["named_query"] == sltr["_name"]
    word = sltr["params"]["keywords"]
    if given:
        ids = [docid for docid in FILMS if docid in given[0]["terms"]["_id"]]
    else:
        assert body["query"]["bool"]["must"] == {"match": {"title": word}}
        ids = [docid for docid, (title, _) in FILMS.items() if word in title]
    hits = []
    for docid in ids[: body["size"]]:
        title, votes = FILMS[docid]
        entry = [{"name": "title"}, {"name": "votes"}]
        if word in title:
            entry[0]["value"] = 1 / len(title)
        if votes is not None:
            entry[1]["value"] = votes
        fields = {"_ltrlog": [{"other": []}, {specification["name"]: entry}]}
        hits.append(
            {"_index": "films", "_id": docid, "_score": 1.5, "fields": fields, "matched_queries": [sltr["_name"]]}
        )
    return {"took": 3, "timed_out": False, "_shards": {"total": 1, "failed": 0}, "hits": {"hits": hits}, "status": 200}


@pytest.fixture
def engine():
    """A server that answers as an engine does; its requests are kept."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            content = self.rfile.read(int(self.headers["Content-Length"])).decode()
            seen.append((self.path, dict(self.headers)))
            status, reply = 200, b"not json"
            if self.path == "/films/_msearch":
                assert content.endswith("\n")
                lines = content.splitlines()
                assert set(lines[::2]) <= {"{}"}
                reply = json.dumps({"responses": [answer(json.loads(line)) for line in lines[1::2]]}).encode()
            elif self.path != "/broken/_msearch":
                status, reply = 404, b'{"error": {"reason": "no such index [x]"}}'
            self.send_response(status)
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", seen
    server.shutdown()
    server.server_close()
    thread.join()


LOG = FeatureLog(featureset="films", query={"match": {"title": "{query}"}})
QUERIES = {"q1": "rambo", "q2": "rocky"}
LABELS = {"q1": {"7555": 3, "1369": 1, "4241": 0}, "q2": {"4241": 2, "gone": 1}}


def test_candidates_of_the_engine(engine):
    url, seen = engine
    data = extract_from_engine(f"{url}/films", QUERIES, LOG, judgements=LABELS)
    assert data.qids.tolist() == ["q1", "q2"]
    assert data.docids.tolist() == ["7555", "1370", "1369", "4241"]
    assert data.y.tolist() == [3, 0, 1, 2]
    assert list(data.feature_names) == ["title", "votes"]
    np.testing.assert_allclose(data.X, [[1, 6], [1 / 2, np.nan], [1 / 3, 5.5], [1, 7]], rtol=1e-6)
    assert len(seen) == 1  # sent together
    zeros = FeatureLog(featureset="films", query=LOG.query, missing_as_zero=True)
    assert extract_from_engine(f"{url}/films", QUERIES, zeros, k=2).X[1, 1] == 0


def test_given_and_added_documents(engine):
    url, _ = engine
    with pytest.warns(PlackettWarning, match="1 given documents are not in the engine's index"):
        data = extract_from_engine(f"{url}/films", QUERIES, LOG, judgements=LABELS, candidates="judged")
    assert data.docids.tolist() == ["7555", "1369", "4241", "4241"]
    assert np.isnan(data.X[2, 0])  # "rocky" does not match "rambo"
    data = extract_from_engine(f"{url}/films", QUERIES, LOG, judgements=LABELS, k=1, add_judged=True)
    assert data.docids.tolist() == ["7555", "1369", "4241", "4241"]
    with pytest.warns(PlackettWarning, match="1 of 2 queries have no candidates, .* 'q2'"):
        extract_from_engine(f"{url}/films", {"q1": "rambo", "q2": "nothing"}, LOG)


def test_requests_are_those_of_the_documentation():
    body = FeatureLog(featureset="films", params={"keywords": "{query}", "size": 3}, store="mine").request(
        "rambo", 10, ["7555", "1370"]
    )
    assert body["size"] == 2
    assert body["query"] == {
        "bool": {
            "filter": [
                {"terms": {"_id": ["7555", "1370"]}},
                {
                    "sltr": {
                        "_name": "plackett_features",
                        "featureset": "films",
                        "store": "mine",
                        "params": {"keywords": "rambo", "size": 3},
                    }
                },
            ]
        }
    }
    assert body["ext"] == {"ltr_log": {"log_specs": {"name": "plackett_log", "named_query": "plackett_features"}}}
    assert FeatureLog(featureset="films").request("x {query}", 1)["query"]["bool"]["must"] == {
        "multi_match": {"query": "x {query}", "fields": ["*"], "lenient": True}
    }


def test_faults_of_the_engine_are_named(engine):
    url, seen = engine
    with pytest.raises(DataError, match=r"query 'q1': the engine refused it: .*unknown feature set \[other\]"):
        extract_from_engine(f"{url}/films", QUERIES, "other")
    with pytest.raises(DataError, match="HTTP 404: .*no such index"):
        extract_from_engine(f"{url}/x", QUERIES, LOG)
    with pytest.raises(DataError, match="the answer is not JSON"):
        extract_from_engine(f"{url}/broken", QUERIES, LOG)
    with pytest.raises(DataError, match="cannot be reached"):
        extract_from_engine("http://127.0.0.1:9/films", QUERIES, LOG)
    with pytest.raises(DataError, match="no document was found for any of 1 queries"):
        extract_from_engine(f"{url}/films", {"q": "nothing"}, LOG)
    for address in ("localhost:9200/films", "ftp://x/films", "http://localhost:9200"):
        with pytest.raises(DataError, match="is not the address of an index"):
            Engine(address)
    extract_from_engine(url.replace("//", "//me:a%40b@") + "/films", QUERIES, LOG)
    assert seen[-1][1]["Authorization"] == "Basic " + base64.b64encode(b"me:a@b").decode()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([], "is not an object"),
        ({"error": "boom"}, "refused it: 'boom'"),
        ({"timed_out": True, "hits": {"hits": []}}, r"incomplete \(it timed out\)"),
        ({"_shards": {"failed": 2}, "hits": {"hits": []}}, "2 shards failed"),
        ({"took": 1}, "has no hits"),
        ({"hits": {"hits": [{"_id": "a", "_score": 1.0}]}}, "document 'a' has no logged features"),
        ({"hits": {"hits": [{"_id": "a", "fields": {"_ltrlog": [{"plackett_log": [{"value": 1}]}]}}]}}, "has no hits"),
        (
            {
                "hits": {
                    "hits": [{"_id": "a", "fields": {"_ltrlog": [{"plackett_log": [{"name": "x", "value": "y"}]}]}}]
                }
            },
            "query 'q': document 'a' has a feature that is not a number: .*'y'",
        ),
    ],
)
def test_bad_answers(answer, message):
    with pytest.raises(DataError, match=message):
        LOG.hits(answer, "query 'q'")


@pytest.mark.parametrize(
    ("ids", "options", "message"),
    [
        (["1", "2", "1"], {}, "query 'q1': document '1' comes twice; ids must be unique"),
        (["1", "2"], {"candidates": {"q1": ["2", "3"]}}, "query 'q1': the engine returned document '1', which was not"),
    ],
)
def test_answers_that_do_not_fit_the_question(ids, options, message):
    entry = {"_ltrlog": [{"plackett_log": [{"name": "x", "value": 1}]}]}
    engine = Engine("http://127.0.0.1:9/films")
    object.__setattr__(
        engine,
        "search",
        lambda bodies: [{"hits": {"hits": [{"_id": i, "fields": entry} for i in ids]}} for _ in bodies],
    )
    with pytest.raises(DataError, match=message):
        extract_from_engine(engine, {"q1": "rambo"}, LOG, **options)


def test_command(engine, tmp_path):
    url, seen = engine
    (tmp_path / "queries.tsv").write_text("q1\trambo\nq2\trocky\n")
    (tmp_path / "query.json").write_text('{"match": {"title": "{query}"}}')
    pk.write_qrels(LABELS, tmp_path / "qrels")

    def call(*more):
        arguments = ["extract", f"{url}/films", tmp_path / "queries.tsv", "--features", "films", *more]
        return CliRunner().invoke(app, [str(word) for word in arguments])

    options = ("--engine-query", tmp_path / "query.json", "--judgements", tmp_path / "qrels", "--header", "X-Key: 5")
    result = call(*options, "--out", tmp_path / "train.parquet")
    assert result.exit_code == 0, result.output
    assert "2 queries, 4 documents, 2 features" in result.output
    assert pk.read(tmp_path / "train.parquet").y.tolist() == [3, 0, 1, 2]
    assert seen[-1][1]["X-Key"] == "5"
    assert call("--candidates", "BM25", "--out", tmp_path / "x.letor").exit_code == 2
    assert call("--field", "title", "--out", tmp_path / "x.letor").exit_code == 2
    (tmp_path / "query.json").write_text("[]")
    assert "expected a query such as" in str(call(*options, "--out", tmp_path / "x.letor").exception)
