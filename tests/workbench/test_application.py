"""What the page asks, without a browser: answers, refusals, and who may ask."""

from __future__ import annotations

import json
import re
from contextlib import closing
from urllib.parse import urlencode

import numpy as np
import pytest

import plackett as pk
from plackett.workbench.application import ACTIONS, application
from plackett.workbench.store import Store
from workbench.conftest import QUERIES, Client, documents, index_bench, judged


def query(**parameters):
    return urlencode([(k, one) for k, v in parameters.items() for one in (v if isinstance(v, list) else [v])])


def test_search_is_that_of_the_library(client, index):
    result = client.get("/api/search?" + query(q="whale ice", columns=["BM25", "RM3"], k=5)).json
    hits = pk.text.search(index, "whale ice", k=5)
    assert result["columns"][0]["ids"] == [hit.id for hit in hits]
    np.testing.assert_allclose(result["columns"][0]["scores"], [hit.score for hit in hits], rtol=1e-6)
    results = pk.text.RM3().search(index, ["whale ice"], 5)
    assert result["columns"][1]["ids"] == [index.id(int(d)) for d in results.documents]
    assert set(result["cards"]) == {docid for column in result["columns"] for docid in column["ids"]}
    both = set(result["columns"][0]["ids"]) & set(result["columns"][1]["ids"])
    assert result["overlap"][0]["common"] == len(both) and 0 <= result["overlap"][0]["rbo"] <= 1


def test_snippets_are_pieces_of_text_not_markup(client):
    result = client.get("/api/search?" + query(q="whale", columns="BM25")).json
    card = result["cards"][result["columns"][0]["ids"][0]]
    assert any(hit and text.lower().startswith("whale") for text, hit in card["snippet"])
    assert any("<b>" in text for text, _ in card["snippet"])  # as it is in the document: the page makes text of it
    whole = client.get("/api/document?" + query(id=card["id"], q="whale")).json
    body = next(field for field in whole["fields"] if field["name"] == "body")
    stored = next(doc for doc in documents() if doc.id == card["id"]).fields["body"]
    assert "".join(text for text, _ in body["value"]) == stored


@pytest.mark.parametrize("column", ["BM25", "RM3"])
def test_filters_select_and_keep_the_order(client, column):
    every = client.get("/api/search?" + query(q="whale reef", columns=column, k=60)).json["columns"][0]
    some = client.get("/api/search?" + query(q="whale reef", columns=column, k=60, filters="year:>=1980")).json[
        "columns"
    ][0]
    year = {doc.id: doc.fields["year"] for doc in documents()}
    assert some["ids"] == [docid for docid in every["ids"] if year[docid] >= 1980]


def test_error_in_one_column_leaves_the_others(client):
    result = client.get("/api/search?" + query(q="whale (", columns=["BM25", "RM3"])).json
    assert "parenthes" in result["columns"][0]["error"] or result["columns"][0]["error"]
    assert result["columns"][1]["error"] is None and result["columns"][1]["ids"]


def test_query_of_a_set_finds_the_same_wherever_it_is_asked(client, bench):
    texts = {"a": '"whale near"', "b": "whale (", "c": "nobody: whale -ice", "d": "whale -ice"}
    bench.store.add_queries("odd", texts)
    for name in ("BM25", "RM3"):
        run = bench.run(name, "odd", 20)
        for qid, text in texts.items():
            result = client.get("/api/search?" + query(qid=qid, q=text, columns=name, k=20)).json["columns"][0]
            assert result["error"] is None and result["ids"] == list(run[qid])


def test_explanation_adds_up_to_the_score(client):
    result = client.get("/api/search?" + query(q="whale ice", columns="BM25")).json["columns"][0]
    a, b = result["ids"][0], result["ids"][-1]
    one = client.get("/api/explain?" + query(column="BM25", q="whale ice", a=a)).json
    assert sum(part["contribution"] for part in one["parts"]) == pytest.approx(result["scores"][0], rel=1e-5)
    two = client.get("/api/explain?" + query(column="BM25", q="whale ice", a=a, b=b)).json
    gap = result["scores"][0] - result["scores"][-1]
    assert sum(part["contribution"] for part in two["parts"]) == pytest.approx(gap, rel=1e-4)
    assert two["ranks"] == {a: 1, b: len(result["ids"])}


def test_ranker_is_a_column_with_features_explained(bench):
    source = bench.source
    data = source.training_data(QUERIES, bench.labels(), [])
    source.add_ranker("learned", pk.LambdaMART(n_estimators=5, min_child_samples=2, n_jobs=1).fit(data), ())
    client = Client(application(bench))
    result = client.get("/api/search?" + query(q="whale ice", columns=["learned"], k=20)).json["columns"][0]
    assert result["error"] is None
    # the batch form that query sets use orders as the single one does
    assert list(bench.column("learned").run({"x": "whale ice"}, 20)["x"])[:10] == result["ids"][:10]
    a, b = result["ids"][0], result["ids"][-1]
    why = client.get("/api/explain?" + query(column="learned", q="whale ice", a=a, b=b)).json
    assert why["method"] == "trees"
    assert sum(part["contribution"] for part in why["parts"]) == pytest.approx(why["scores"][0] - why["scores"][1])


def test_judging_a_typed_query_gives_it_an_id(client, bench):
    done = client.post("/api/judge", {"rater": " ann ", "docid": "d01", "grade": 2, "q": "blue  otter"})
    assert done.status == 200 and done.json["query"] == {"qid": "t1", "text": "blue otter"}
    again = client.post("/api/judge", {"rater": "ann", "docid": "d02", "grade": 0, "q": "blue otter"}).json
    assert again["query"]["qid"] == "t1"
    assert bench.store.labels("ann") == {"t1": {"d01": 2.0, "d02": 0.0}}
    undone = client.post("/api/undo", {"rater": "ann"}).json
    assert undone["undone"]["docid"] == "d02" and undone["current"] is None
    # a query of a set is itself, however it is asked
    known = client.post("/api/judge", {"rater": "ann", "docid": "d01", "grade": 1, "q": QUERIES["q0"]}).json
    assert known["query"]["qid"] == "q0"


def test_what_raters_say_goes_before_the_file(client, bench):
    docid = next(iter(bench.given["q0"]))
    client.post("/api/judge", {"rater": "ann", "docid": docid, "grade": 4, "qid": "q0"})
    assert bench.labels()["q0"][docid] == 4.0
    client.post("/api/undo", {"rater": "ann"})
    assert bench.labels()["q0"][docid] == bench.given["q0"][docid]


def test_pool_and_next_follow_what_is_judged(client):
    plan = client.get("/api/next?" + query(set="given", rater="ann", depth=3)).json
    pool = client.get("/api/pool?" + query(set="given", qid=plan["next"], rater="ann", depth=3)).json
    open_ones = [one for one in pool["documents"] if not one["missing"]]
    assert plan["queries"][0]["left"] == len(open_ones)
    for one in open_ones:
        client.post("/api/judge", {"rater": "ann", "docid": one["id"], "grade": 1, "qid": plan["next"]})
    after = client.get("/api/next?" + query(set="given", rater="ann", depth=3)).json
    assert after["next"] != plan["next"] and after["left"] == plan["left"] - len(open_ones)
    assert client.get("/api/next?" + query(set="given", rater="bob", depth=3)).json["left"] == plan["left"]


def test_missing_documents_are_those_that_are_judged_but_not_found(index):
    best = pk.text.search(index, QUERIES["q0"], k=1)[0].id
    labels = {"q0": {best: 2.0, "nowhere": 3.0}}
    client = Client(application(index_bench(index, labels=labels)))
    result = client.get("/api/missing?set=given").json["missing"]
    assert result[0]["docid"] == "nowhere" and result[0]["absent"] == ["BM25", "RM3"]
    pool = client.get("/api/pool?set=given&qid=q0").json["documents"]
    assert [one["id"] for one in pool if one["missing"]] == ["nowhere"]


def test_evaluation_is_that_of_compare_runs(client, bench):
    result = client.get("/api/evaluate?" + query(set="given", measures=["nDCG@10", "AP"])).json
    runs = {name: bench.column(name).run(QUERIES, 100) for name in ("BM25", "RM3")}
    compared = pk.compare_runs(judged(list(documents())), runs, ["nDCG@10", "AP"])
    for row in compared.table.iter_rows(named=True):
        assert result["means"][row["system"]][row["measure"]] == pytest.approx(row["mean"])
    p = {(row["measure"], row["a"]): row["p"] for row in compared.pairs.iter_rows(named=True)}
    assert {(row["measure"], row["a"]): row["p"] for row in result["pairs"]} == pytest.approx(p)
    assert [row["qid"] for row in result["rows"]] == sorted(QUERIES)


def test_snapshot_keeps_what_was_found(client, bench):
    client.post("/api/snapshots", {"name": "before", "column": "BM25", "set": "given"})
    client.post("/api/snapshots", {"name": "other", "column": "RM3", "set": "given"})
    columns = ["snapshot: before", "snapshot: other", "BM25"]
    result = client.get("/api/evaluate?" + query(set="given", columns=columns)).json["means"]
    assert result["snapshot: before"] == result["BM25"] != result["snapshot: other"]
    listed = client.get("/api/search?" + query(qid="q1", columns=columns)).json["columns"]
    assert listed[0]["ids"] == listed[2]["ids"]
    assert client.post("/api/snapshots", {"name": "before", "column": "BM25", "set": "given"}).status == 422


@pytest.mark.parametrize(
    ("text", "queries", "judgements"),
    [
        ("blue whale\nred fish\n", {"1": "blue whale", "2": "red fish"}, 0),
        ("a\tblue whale\nb\tred fish", {"a": "blue whale", "b": "red fish"}, 0),
        ('{"id": "a", "text": "blue"}', {"a": "blue"}, 0),
        ("query,docid,rating\nblue whale,d1,3\nblue whale,d2,0", {"1": "blue whale"}, 2),
        ('qid,query\n7,"blue, whale"', {"7": "blue, whale"}, 0),
        ("q7 0 d1 2\nq7 0 d2 0\nq8 0 d1 1", {"q7": "q7", "q8": "q8"}, 3),
        ("best films of 2023\ntop ten for 2024\n", {"1": "best films of 2023", "2": "top ten for 2024"}, 0),
        ("qid,query,docid,grade\nq  1,blue,d1,2", {"q 1": "blue"}, 1),
        ("<top><num> Number: 5 <title> blue whale </top>", {"5": "blue whale"}, 0),
    ],
)
def test_query_sets_are_imported_in_many_forms(client, bench, text, queries, judgements):
    done = client.post("/api/sets/import", {"name": "mine", "text": text})
    assert done.status == 200, done.body
    assert bench.store.sets()["mine"] == queries and done.json["judgements"] == judgements


def test_queries_without_ids_never_get_the_judgements_of_others(client, bench):
    def imported(name, text):
        return client.post("/api/sets/import", {"name": name, "text": text}).json

    assert imported("first", "blue whale\nred fish\n")["note"] == ""
    client.post("/api/judge", {"rater": "ann", "docid": "d01", "grade": 3, "q": "blue whale"})
    imported("second", "green turtle\nred fish\n")
    imported("third", "query,docid,grade\nold seal,d02,1\nblue whale,d03,2")
    sets = bench.store.sets()
    assert sets["first"] == {"1": "blue whale", "2": "red fish"}
    assert sets["second"] == {"3": "green turtle", "2": "red fish"}
    assert sets["third"] == {"4": "old seal", "1": "blue whale"}
    assert bench.store.labels() == {"1": {"d01": 3.0, "d03": 2.0}, "4": {"d02": 1.0}}
    # judgements stay when a set is removed, and are for the same query when it comes back
    for name in ("first", "second", "third"):
        client.post("/api/sets/remove", {"name": name})
    imported("fourth", "grey seal\nblue whale")
    assert bench.store.sets()["fourth"] == {"5": "grey seal", "1": "blue whale"}
    # the same for queries that were typed
    typed = [client.post("/api/judge", {"rater": "a", "docid": "d", "grade": 1, "q": "typed one"}).json["query"]["qid"]]
    client.post("/api/sets/remove", {"name": "typed"})
    for text in ("typed two", "typed one"):
        done = client.post("/api/judge", {"rater": "a", "docid": "d", "grade": 1, "q": text}).json
        typed.append(done["query"]["qid"])
    assert typed == ["t1", "t2", "t1"]


def test_ids_that_two_sets_share_are_pointed_out(client):
    assert client.post("/api/sets/import", {"name": "one", "text": "x1\tblue whale"}).json["note"] == ""
    note = client.post("/api/sets/import", {"name": "two", "text": "x1\tred fish"}).json["note"]
    assert "'x1'" in note and "'one'" in note
    pool = client.get("/api/pool?" + query(set="two", qid="x1")).json
    assert pool["query"]["text"] == "red fish"


def test_name_of_a_rater_is_the_same_with_more_blanks(client):
    client.post("/api/judge", {"rater": "ann  lee", "docid": "d01", "grade": 3, "qid": "q0"})
    pool = client.get("/api/pool?" + query(set="given", qid="q0", rater="ann  lee", depth=100)).json
    assert [doc["grade"] for doc in pool["documents"] if doc["id"] == "d01"] == [3.0]


def test_csv_brings_back_notes_and_raters(client, bench, index):
    notes = {"d01": 'two\nlines, \u2028 and "marks"', "d02": "=1+1", "d03": ""}
    for docid, note in notes.items():
        grade = None if docid == "d01" else 2
        client.post("/api/judge", {"rater": "-ann", "docid": docid, "grade": grade, "qid": "q0", "note": note})
    table = client.get("/export/csv").body.decode()
    other = index_bench(index)
    done = Client(application(other)).post("/api/judgements/import", {"rater": "x", "text": table})
    assert done.json == {"judgements": 2}
    kept = [one[2:] for one in bench.store.judgements()]
    assert [one[2:] for one in other.store.judgements()] == kept and {one[0] for one in kept} == {"-ann"}
    # a line that has only a note takes no grade away
    client.post("/api/judge", {"rater": "-ann", "docid": "d01", "grade": 1, "qid": "q0"})
    client.post("/api/judgements/import", {"rater": "x", "text": table})
    assert bench.store.labels("-ann")["q0"]["d01"] == 1.0


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/api/sets/import", {"name": "mine", "text": "  "}, "nothing in it"),
        ("/api/sets/import", {"name": "given", "text": "x"}, "choose a name"),
        ("/api/judgements/import", {"rater": "a", "text": "q1 0 d1"}, "the file:1: expected 'query iteration"),
        ("/api/judgements/import", {"rater": "a", "text": "qid,docid,grade\nq,d,high"}, "the grade is 'high'"),
        ("/api/judgements/import", {"rater": "a", "text": "x,y\n1,2"}, "no column qid"),
        ("/api/judge", {"rater": "", "docid": "d", "q": "x"}, "name of its rater"),
        ("/api/judge", {"rater": "a", "docid": "d"}, "needs a query"),
        ("/api/judge", {"rater": "a", "docid": "d", "q": "x", "grade": "3"}, "grade is '3'; give a number"),
        ("/api/judge", {"rater": "a", "docid": "d", "q": "x", "grade": 1e9}, "from 0 to 100"),
        ("/api/judge", {"rater": "a", "docid": "d", "q": "x", "stars": 3}, "unknown parameter 'stars'"),
        ("/api/columns", {"ranker": "/etc/passwd"}, "command line"),
        ("/api/columns", {"ranker": "RM4"}, "did you mean"),
        ("/api/snapshots", {"name": "s", "column": "nobody", "set": "given"}, "no ranker 'nobody'"),
        ("/api/train", {"set": "given", "rankers": []}, "at least one ranker"),
        ("/api/train", {"set": "given", "rankers": ["os.system"]}, "rankers of plackett"),
        ("/api/train", {"set": "given", "rankers": ["ListNet"], "measure": "what"}, "what"),
        ("/api/train/add", {"number": 7}, "no experiment 7"),
    ],
)
def test_refusals_say_what_to_do(client, path, body, said):
    done = client.post(path, body)
    assert done.status == 422 and said in done.json["error"]


def test_exports_are_read_back(client, bench, tmp_path):
    for docid, grade in (("d01", 2), ("d02", 0), ("d03", 1)):
        client.post("/api/judge", {"rater": "ann", "docid": docid, "grade": grade, "qid": "q0", "note": 'a "b", c'})
    (tmp_path / "x.qrels").write_bytes(client.get("/export/qrels?rater=ann").body)
    assert pk.read_qrels(tmp_path / "x.qrels").rows() == [("q0", "d01", 2.0), ("q0", "d02", 0.0), ("q0", "d03", 1.0)]
    table = client.get("/export/csv").body.decode()
    assert '"a ""b"", c"' in table
    assert client.post("/api/judgements/import", {"rater": "x", "text": table}).json == {"judgements": 3}
    client.post("/api/judge", {"rater": "bob", "docid": "d01", "grade": 2, "qid": "q0", "note": "=1+1"})
    assert ",'=1+1," in client.get("/export/csv?rater=bob").body.decode()
    (tmp_path / "x.txt").write_bytes(client.get("/export/letor?rater=ann").body)
    data = pk.read_letor(tmp_path / "x.txt")
    assert sorted(data.y.tolist()) == [0.0, 1.0, 2.0] and data.docids.tolist() == ["d01", "d02", "d03"]
    expected = bench.source.training_data(QUERIES, bench.store.labels("ann"), [], judged_only=True)
    np.testing.assert_allclose(data.X, expected.X)


def test_answers_have_a_strict_policy(client):
    for path in ("/", "/api/state", "/page/main.js", "/api/nothing"):
        headers = client.get(path).headers
        policy = headers[b"content-security-policy"].decode()
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert headers[b"x-content-type-options"] == b"nosniff"


def test_page_names_only_files_that_there_are(client):
    page = client.get("/").body.decode()
    names = re.findall(r'(?:href|src)="(/page/[^"]+)"', page)
    assert names and not re.search(r"https?://", page)
    seen = set()
    while names:
        name = names.pop()
        if name in seen:
            continue
        seen.add(name)
        answer = client.get(name)
        assert answer.status == 200, name
        text = answer.body.decode()
        assert "innerHTML" not in text and "eval(" not in text
        names += [f"/page/{file}" for file in re.findall(r'from "\./([^"]+)"', text)]
    assert len(seen) > 9
    for path in ("/page/..%2fapplication.py", "/page/.hidden", "/page/index.htm", "/page/"):
        assert client.get(path).status == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": "http://127.0.0.1:8765", "sec_fetch_site": "same-origin"}, 200),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
        ({"content_type": "text/plain"}, 415),
        ({"content_type": "application/x-www-form-urlencoded"}, 415),
        ({"host": "evil.example:8765"}, 421),
        ({"host": "[::1].evil.example"}, 421),
        ({"host": "[::1"}, 421),
        ({"host": "[::1]8765"}, 421),
        ({"host": "127.0.0.1:evil.example"}, 421),
        ({"host": "127.0.0.1:8765@evil.example"}, 421),
        ({"host": "127.0.0.1:"}, 421),
        ({"host": "localhost\n"}, 421),
        ({"host": "localhost:8765"}, 200),
        ({"host": "[::1]:8765"}, 200),
    ],
)
def test_other_sites_cannot_change_anything(client, bench, headers, status):
    done = client.post("/api/judge", {"rater": "a", "docid": "d", "qid": "q0", "grade": 1}, **headers)
    assert done.status == status
    assert (bench.store.labels() != {}) == (status == 200)


def test_token_is_needed_where_there_is_one(bench):
    client = Client(application(bench, token="secret"))
    there = {"host": "bench.example:80"}
    assert client.get("/api/state", **there).status == client.get("/", **there).status == 401
    assert client.get("/api/state", authorization="Bearer wrong", **there).status == 401
    assert client.get("/api/state", authorization="Bearer secret", **there).status == 200
    page = client.get("/?token=secret", **there)
    cookie = page.headers[b"set-cookie"].decode()
    assert page.status == 200 and "HttpOnly" in cookie and "SameSite=Strict" in cookie
    assert client.get("/api/state", cookie=cookie.partition(";")[0], **there).status == 200
    assert client.get("/api/state", cookie="x=y; plackett_workbench=wrong", **there).status == 401
    crossed = client.post("/api/undo", {"rater": "a"}, authorization="Bearer secret", origin="http://evil", **there)
    assert crossed.status == 403


@pytest.mark.parametrize("token", ["a b+c;d=é", 'x"y', "%41&"])
def test_any_token_opens_the_address_that_is_printed(bench, token):
    from plackett.workbench.server import _with_token

    client = Client(application(bench, token=token))
    page = client.get("/" + _with_token(token))
    assert page.status == 200
    cookie = page.headers[b"set-cookie"].decode().partition(";")[0]
    assert client.get("/api/state", cookie=cookie).status == 200


def test_empty_token_is_none(bench):
    client = Client(application(bench, token=""))
    assert client.get("/api/state", authorization="Bearer ", host="bench.example:80").status == 421
    assert client.get("/api/state").status == 200


def test_a_store_that_is_damaged_while_it_runs_is_an_answer(bench, tmp_path):
    """Not a stack trace for each request."""
    path = tmp_path / "store.sqlite"
    with closing(Store(path)) as store:
        store.judge_all((("ann", "q0", f"d{i}", 1.0, "x" * 100) for i in range(2_000)), "ann")
    bench.store = Store(path)
    bench.store._connection.execute("PRAGMA shrink_memory")  # what was read is not kept
    client = Client(application(bench))
    with path.open("r+b") as file:
        file.seek(2 * 4096)
        file.write(b"\xff" * (path.stat().st_size - 2 * 4096))
    judged = client.post("/api/judge", {"rater": "ann", "docid": "d5", "qid": "q0", "grade": 1})
    for answer in (client.get("/api/state"), judged):
        assert answer.status == 422 and re.search(r"store\.sqlite: damaged \(.*\.recover", answer.json["error"])
    with pytest.raises(pk.DataError, match="damaged .*; nothing was saved"):
        bench.store.judge("ann", "q0", "d5", 1)


def test_description_names_every_action(client):
    described = json.loads(client.get("/openapi.json").body)
    assert {(path, method.upper()) for path, own in described["paths"].items() for method in own} == {
        (one.path, one.method) for one in ACTIONS
    }
