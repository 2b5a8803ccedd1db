"""An index, runs and a dataset on the same page."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.text import Document, Index
from plackett.text.features.extract import judged
from plackett.workbench.application import application
from plackett.workbench.bench import Workbench
from plackett.workbench.columns.base import Query
from plackett.workbench.sources.index import IndexSource
from plackett.workbench.sources.opening import open_source
from plackett.workbench.sources.runs import RunsSource
from plackett.workbench.store import Store
from workbench.conftest import Client, documents


def test_runs_alone_are_searched_judged_and_measured(runs_bench):
    client = Client(application(runs_bench))
    state = client.get("/api/state").json
    assert state["source"]["kind"] == "runs" and not state["source"]["searchable"]
    result = client.get("/api/search?qid=3").json
    assert [column["name"] for column in result["columns"]] == ["first", "second"]
    assert len(result["columns"][0]["ids"]) == 10 and result["labels"]["doc2"] == 2.0
    measured = client.get("/api/evaluate?set=given&measures=nDCG@10").json
    expected = pk.evaluate_run(runs_bench.given, runs_bench.column("first").results, ["nDCG@10"]).mean["nDCG@10"]
    assert measured["means"]["first"]["nDCG@10"] == pytest.approx(expected)
    done = client.post("/api/judge", {"rater": "ann", "qid": "3", "docid": "doc1", "grade": 4})
    assert done.status == 200 and runs_bench.labels()["3"]["doc1"] == 4.0
    assert client.get("/api/search?qid=3&filters=x:1&columns=first").json["columns"][0]["error"]
    letor = client.get("/export/letor").body.decode()
    assert letor.startswith("# 1: first\n# 2: second\n")


def test_ranker_on_runs_uses_their_ranks(runs_bench):
    source = runs_bench.source
    data = source.training_data(source.queries, runs_bench.labels(), [])
    ids, rows = source.places("1", ["first", "second"])
    own = source.columns["first"].rank(runs_bench.query("", "1"), 10).ids
    assert [rows[ids.index(docid), 0] for docid in own] == pytest.approx([1 / rank for rank in range(1, 11)])
    column = source.add_ranker("fused", pk.ListNet(n_jobs=1).fit(data), ())
    assert set(column.rank(runs_bench.query("", "1"), 100).ids) == set(ids)


def test_dataset_alone_is_shown_by_ids_and_features(dataset_bench):
    client = Client(application(dataset_bench))
    source = dataset_bench.source
    qid = next(iter(source.queries))
    result = client.get(f"/api/search?qid={qid}&columns=ListNet&columns=match_1").json
    listed = result["columns"][0]
    rows = slice(source.data.offsets[0], source.data.offsets[1])
    order = np.argsort(-source.columns["ListNet"].scores[rows], kind="stable")
    assert listed["ids"] == source.docids[rows][order].tolist()
    document = client.get(f"/api/document?id={listed['ids'][0]}&qid={qid}").json
    values = [float(field["value"][0][0]) for field in document["fields"]]
    np.testing.assert_allclose(values, source.data.X[rows][order[0]], rtol=1e-4)
    why = client.get(f"/api/explain?column=ListNet&qid={qid}&a={listed['ids'][0]}&b={listed['ids'][1]}").json
    assert why["method"] == "linear"
    assert sum(part["contribution"] for part in why["parts"]) == pytest.approx(why["scores"][0] - why["scores"][1])
    measured = client.get("/api/evaluate?set=given&measures=nDCG@10&columns=ListNet").json
    expected = pk.evaluate(source.data, source.columns["ListNet"].scores, ["nDCG@10"]).mean["nDCG@10"]
    assert measured["means"]["ListNet"]["nDCG@10"] == pytest.approx(expected, abs=1e-9)


def test_command_line_names_any_of_the_three(tmp_path, index):
    index.save(tmp_path / "index")
    opened = open_source([str(tmp_path / "index")], ["Dirichlet(mu=500)"])
    assert opened.kind == "index" and list(opened.columns) == ["BM25", "Dirichlet(mu=500)"]
    opened = open_source([str(tmp_path / "index")], ["BM25(k1=0.9, b=0.4)", "LMIR.DIR"])
    assert list(opened.columns) == ["BM25", "BM25(k1=0.9, b=0.4)", "LMIR.DIR"]
    pk.text.SearchPipeline(index).save(tmp_path / "shop")
    assert list(open_source([str(tmp_path / "shop")]).columns) == ["BM25", "shop"]
    (tmp_path / "a.run").write_text("7 Q0 d1 1 2.5 tag\n7 Q0 d2 2 1.5 tag\n")
    runs = open_source([str(tmp_path / "a.run")])
    assert runs.kind == "runs" and runs.queries == {"7": "7"}
    (tmp_path / "x.qrels").write_text("7 0 d2 1\n")
    bench = Workbench(runs, Store(), labels=judged(tmp_path / "x.qrels"))
    assert bench.labels() == {"7": {"d2": 1.0}}
    data = pk.datasets.make_ranking(6, 5, 3, random_state=0)
    pk.write(data, tmp_path / "data.txt")
    made = open_source([str(tmp_path / "data.txt")])
    means = [pk.evaluate(data, data.X[:, j], ["nDCG@10"]).mean["nDCG@10"] for j in range(3)]
    assert made.kind == "dataset" and list(made.columns) == [f"feature {np.argmax(means) + 1}"]
    pk.LinearRegression().fit(data).save(tmp_path / "m.plackett")
    assert list(open_source([str(tmp_path / "data.txt")], [str(tmp_path / "m.plackett")]).columns) == ["m"]


@pytest.mark.parametrize(
    ("paths", "rankers", "said"),
    [
        (["nowhere"], [], "nowhere: no such file"),
        (["index", "index"], [], "one index"),
        (["index"], ["missing.plackett"], "no such file"),
        (["index"], ["BM26"], "did you mean"),
        (["index"], ["LMIR.DIX"], "LMIR.DIX"),
        (["index"], ["dense.run"], "no such file"),
        (["index"], ["BM25(what=1)"], "what"),
        (["data.txt"], ["x"], "neither a file nor a feature"),
    ],
)
def test_wrong_arguments_are_named(tmp_path, monkeypatch, index, paths, rankers, said):
    monkeypatch.chdir(tmp_path)
    index.save(tmp_path / "index")
    pk.write(pk.datasets.make_ranking(3, 4, 2, random_state=0), tmp_path / "data.txt")
    with pytest.raises(pk.DataError, match=said):
        open_source(paths, rankers)


def test_every_document_can_be_opened(index, bench):
    client = Client(application(bench))
    for document in documents(5):
        assert client.get(f"/api/document?id={document.id}").json["title"] == document.fields["title"]
    assert client.get("/api/document?id=nothing").status == 422


def test_long_runs_are_measured_to_their_end(tmp_path):
    (tmp_path / "long.run").write_text("".join(f"1 Q0 d{r} {r} {-r} long\n" for r in range(1, 1501)))
    source = RunsSource("runs")
    source.add(str(tmp_path / "long.run"))
    client = Client(application(Workbench(source, Store(), labels={"1": {"d5": 1.0, "d200": 1.0, "d1250": 1.0}})))
    result = client.get("/api/evaluate?set=given&measures=AP&measures=nDCG@300").json
    assert result["means"]["long"]["AP"] == pytest.approx((1 / 5 + 2 / 200 + 3 / 1250) / 3)
    gains = [1 / np.log2(6), 1 / np.log2(201)]
    ideal = sum(1 / np.log2(i + 2) for i in range(3))
    assert result["means"]["long"]["nDCG@300"] == pytest.approx(sum(gains) / ideal)
    # with a snapshot, both are measured as far as it goes
    client.post("/api/snapshots", {"name": "s", "column": "long", "set": "given"})
    result = client.get("/api/evaluate?set=given&measures=AP&columns=long&columns=snapshot:+s").json
    assert result["depth"] == 1000
    assert result["means"]["long"] == result["means"]["snapshot: s"] == {"AP": pytest.approx((1 / 5 + 2 / 200) / 3)}


def test_cut_off_of_a_measure_is_reached_in_an_index():
    from plackett.text import Document, Index

    index = Index.build([Document(f"d{i}", {"body": "whale " + "sea " * i}) for i in range(150)])
    bench = Workbench(IndexSource(index), Store(), labels={"q": {f"d{i}": 1.0 for i in range(150)}})
    bench.source.queries = {"q": "whale"}
    result = Client(application(bench)).get("/api/evaluate?set=given&columns=BM25&measures=R@120&measures=AP").json
    assert result["means"]["BM25"]["R@120"] == pytest.approx(0.8) and result["depth"] == 120


def test_cards_have_the_beginning_that_a_snippet_lacks():
    far = "An engine with two pistons. " + "It has many parts. " * 40 + "The whale swims."
    given = [
        Document("a", {"title": "Engines", "body": far}),
        Document("b", {"title": "Whale", "body": "A whale sings."}),
        Document("whale", {"title": "whale", "body": ""}),
    ]
    source = IndexSource(Index.build(given))
    cards = {card["id"]: card for card in source.cards(["a", "b", "whale"], Query(None, "whale"))}
    assert cards["a"]["lead"].startswith("An engine with two pistons.") and cards["a"]["lead"].endswith(" …")
    assert len(cards["a"]["lead"]) <= 162
    assert cards["b"]["lead"] == ""  # the snippet has it
    assert (cards["whale"]["lead"], cards["whale"]["snippet"]) == ("", [])  # nothing but the title


def test_words_of_grades_are_checked():
    import typer

    from plackett.cli.workbench import _scale

    assert _scale("no,  partly , yes") == ("no", "partly", "yes")
    for wrong in ("yes", "no,,yes", ",".join("abcdefghijk")):
        with pytest.raises(typer.BadParameter, match="2 to 10 words"):
            _scale(wrong)
