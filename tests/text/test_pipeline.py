"""Retrieve, compute features, rank: one object, one folder."""

from __future__ import annotations

import json
import random

import numpy as np
import polars as pl
import pytest

import plackett as pk
from plackett import DataError
from plackett.text import (
    BM25,
    BM25F,
    RM3,
    Dirichlet,
    Document,
    FeatureSet,
    Index,
    Propagated,
    SearchPipeline,
    SequentialDependence,
    search,
)
from plackett.text.pipeline import FILE

WORDS = ["wing", "lift", "drag", "flow", "jet", "heat", "shock", "layer"]


def make_index(n=80):
    draw = random.Random(0)
    return Index.build(
        Document(str(i), {"body": " ".join(draw.choices(WORDS, k=draw.randrange(1, 20))), "year": 1950 + i % 40})
        for i in range(n)
    )


class Years:
    """Two features computed here: the year, and the length of the document."""

    names = ("year", "length")

    def matrix(self, index, queries, offsets, documents):
        assert offsets == [0, len(documents)]
        return np.column_stack([index.values("year")[documents], index.field().lengths[documents]]).astype(np.float32)


def newest_first():
    """A ranker that has learned that newer documents are better."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(1950, 1990, 200), rng.integers(1, 20, 200)]).astype(np.float32)
    return pk.ListNet().fit(X, (X[:, 0] - 1950) // 10, qid=np.repeat(np.arange(20), 10))


def test_without_a_ranker_it_is_search():
    index = make_index()
    result = SearchPipeline(index).search("wing -heat year:>1960", 7)
    expected = search(index, "wing -heat year:>1960", 7)
    assert [(hit.id, hit.score) for hit in result] == [(hit.id, hit.score) for hit in expected]
    assert result[0].snippet() == expected[0].snippet()


def test_candidates_are_ranked_by_the_ranker():
    index, ranker = make_index(), newest_first()
    pipeline = SearchPipeline(index, ranker, Years(), candidates=20)
    candidates = search(index, "wing shock", 20)
    rows = np.array([[h.document.fields["year"], index.field().lengths[h.number]] for h in candidates], np.float32)
    scores = ranker.predict(rows, qid=np.zeros(20, int))
    order = sorted(range(20), key=lambda i: (-scores[i], i))[:5]
    result = pipeline.search("wing shock", 5)
    assert [hit.id for hit in result] == [candidates[i].id for i in order]
    assert [hit.score for hit in result] == pytest.approx([scores[i] for i in order])
    assert [hit.retrieval_score for hit in result] == pytest.approx([candidates[i].score for i in order])
    assert result[0].features == {"year": rows[order[0], 0], "length": rows[order[0], 1]}
    assert pipeline.search("nothing of the kind") == []


def test_a_folder_without_a_ranker(tmp_path):
    index = make_index()
    pipeline = SearchPipeline(index, candidates=33)
    pipeline.save(tmp_path / "p")
    loaded = SearchPipeline.load(tmp_path / "p")
    assert loaded.candidates == 33
    assert [(h.id, h.score) for h in loaded.search("wing lift")] == [
        (h.id, h.score) for h in pipeline.search("wing lift")
    ]
    with pytest.raises(DataError, match="not empty"):
        pipeline.save(tmp_path / "p")


@pytest.mark.parametrize("as_file", [False, True])
def test_a_folder_with_features_and_ranker(tmp_path, as_file):
    pytest.importorskip("plackett.text.features")
    index = make_index()
    declarations = [{"model": "BM25"}, {"attribute": "year"}]
    rng = np.random.default_rng(0)
    X = rng.random((60, 2)).astype(np.float32)
    ranker = pk.ListNet().fit(X, (X[:, 1] > 0.5).astype(int), qid=np.repeat(np.arange(6), 10))
    if as_file:
        (tmp_path / "f.yaml").write_text("- model: BM25\n- attribute: year\n")
        declarations = tmp_path / "f.yaml"
    pipeline = SearchPipeline(index, ranker, declarations)
    pipeline.save(tmp_path / "p")
    loaded = SearchPipeline.load(tmp_path / "p")
    for query in ("wing", "shock layer"):
        result, expected = loaded.search(query), pipeline.search(query)
        assert [(h.id, h.score, h.features) for h in result] == [(h.id, h.score, h.features) for h in expected]


def test_refusals(tmp_path):
    index = make_index(3)
    with pytest.raises(DataError, match="a ranker needs the features"):
        SearchPipeline(index, newest_first())
    with pytest.raises(DataError, match="candidates=0; give a whole number of 1 or more"):
        SearchPipeline(index, candidates=0)
    with pytest.raises(DataError, match="features made in Python cannot be saved"):
        SearchPipeline(index, newest_first(), Years()).save(tmp_path / "p")
    with pytest.raises(DataError, match=r"holds no pipeline"):
        SearchPipeline.load(tmp_path)
    SearchPipeline(index).save(tmp_path / "q")
    good = json.loads((tmp_path / "q" / FILE).read_text())
    for change in ({"kind": 1}, {"format_version": 2}, {"candidates": "x"}, {"features": 1}, {"model": 1}):
        (tmp_path / "q" / FILE).write_text(json.dumps(good | change))
        with pytest.raises(DataError, match=FILE):
            SearchPipeline.load(tmp_path / "q")
    (tmp_path / "q" / FILE).write_text("{")
    with pytest.raises(DataError, match="damaged"):
        SearchPipeline.load(tmp_path / "q")


def test_save_of_an_index_keeps_live_documents_only(tmp_path):
    from plackett.text import IndexWriter

    Index.create(
        tmp_path / "i", [Document("a", {"x": "one"}), Document("b", {"x": "two"}), Document("c", {"x": "one"})]
    )
    with IndexWriter(tmp_path / "i") as writer:
        writer.delete(["a"])
    Index.open(tmp_path / "i").save(tmp_path / "copy")
    copy = Index.open(tmp_path / "copy")
    assert [copy.id(i) for i in range(copy.n_documents)] == ["b", "c"]
    assert copy.field("x").document_frequency.tolist() == [1, 1]
    with IndexWriter(tmp_path / "copy") as writer:
        writer.add(Document("d", {"x": "two"}))
    assert Index.open(tmp_path / "copy").n_documents == 3


def test_features_are_found_by_name():
    class Reversed(Years):
        names = Years.names[::-1]

        def matrix(self, *given):
            return super().matrix(*given)[:, ::-1]

    class Other(Years):
        names = ("year", "words")

    index, X = make_index(), np.random.default_rng(0).random((60, 2)).astype(np.float32)
    qid = np.repeat(np.arange(6), 10)
    data = pk.RankingDataset.from_arrays(X, (X[:, 0] > 0.5).astype(int), qid, feature_names=Years.names)
    ranker = pk.ListNet(alpha=0.1).fit(data)
    one, other = (SearchPipeline(index, ranker, features()).search("wing") for features in (Years, Reversed))
    assert one and [(hit.id, hit.score) for hit in one] == [(hit.id, hit.score) for hit in other]
    with pytest.raises(DataError, match="length"):
        SearchPipeline(index, ranker, Other()).search("wing")


def test_other_models_understand_conditions():
    index = make_index()
    result = SearchPipeline(index, model=RM3()).search("wing -heat year:>1960", 80)
    whole = RM3().search(index, ["wing"], 80)
    fields = [index.document(int(d)).fields for d in whole.documents]
    kept = ["heat" not in f["body"] and "wing" in f["body"].split() and f["year"] > 1960 for f in fields]
    assert [hit.number for hit in result] == whole.documents[kept].tolist()
    assert [hit.score for hit in result] == whole.scores[kept].tolist()
    assert result == SearchPipeline(index, model=RM3()).search("wing", 80, filters="-heat year:>1960 +wing")
    for pipeline in (SearchPipeline(index), SearchPipeline(index, model=RM3())):
        with pytest.raises(DataError, match="column 6: the index has no field 'nofield'"):
            pipeline.search("wing nofield:x")
        assert pipeline.search("nofield:wing", plain=True)


def test_features_see_the_words_of_the_query_alone():
    index = make_index()
    features = FeatureSet([{"model": "BM25"}, {"query": "length"}])
    X = np.random.default_rng(0).random((20, 2)).astype(np.float32)
    ranker = pk.ListNet().fit(X, X[:, 0] > 0.5, qid=np.repeat(np.arange(4), 5))
    pipeline = SearchPipeline(index, ranker, features, candidates=80)
    plain, asked = pipeline.search("wing lift", 80), pipeline.search('(wing OR body:"lift") -heat year:>1960', 80)
    values = {hit.id: hit.features for hit in plain}
    assert asked and all(hit.features == values[hit.id] for hit in asked)


def test_tables_by_query(tmp_path):
    """By id only if it is given, by text always; the saved folder has the tables."""
    index = make_index()
    rates = pl.DataFrame({"qid": ["q7"] * 80, "docid": [str(i) for i in range(80)], "rate": np.arange(80.0)})
    rates.write_csv(tmp_path / "rates.csv")
    rates.select(pl.lit("Wing  lift").alias("query"), "docid", pl.col("rate").alias("r2")).write_parquet(
        tmp_path / "r.parquet"
    )
    declared = [
        {"table": str(tmp_path / "rates.csv"), "column": "rate", "by": ["qid", "docid"]},
        {"table": str(tmp_path / "r.parquet"), "column": "r2", "by": ["query", "docid"]},
    ]
    X = np.random.default_rng(0).random((20, 2)).astype(np.float32)
    ranker = pk.ListNet().fit(X, X[:, 0] > 0.5, qid=np.repeat(np.arange(4), 5))
    pipeline = SearchPipeline(index, ranker, declared)
    with pytest.raises(DataError, match="feature 'rate' is looked up by the id of the query; give it: qid="):
        pipeline.search("wing lift")
    pipeline.save(tmp_path / "p")
    for name in ("rates.csv", "r.parquet"):
        (tmp_path / name).unlink()
    for each in (pipeline, SearchPipeline.load(tmp_path / "p")):
        for hit in each.search("wing lift", qid="q7"):
            assert hit.features == {"rate": float(hit.id), "r2": float(hit.id)}
        with pytest.raises(DataError, match="missing values"):
            each.search("wing lift", qid="q8")


@pytest.mark.parametrize(
    "model",
    [
        RM3(model=Dirichlet(mu=30), n_terms=5),
        BM25(k1=0.9),
        BM25F(weights={"body": 2.0}),
        SequentialDependence(model=Dirichlet(mu=30)),
        Propagated(model=BM25(b=0.3), along="out"),
    ],
    ids=str,
)
def test_models_are_saved_with_their_parameters(tmp_path, model):
    index = make_index()
    SearchPipeline(index, model=model).save(tmp_path / "p")
    assert SearchPipeline.load(tmp_path / "p").model == model


def test_first_documents_do_not_depend_on_how_many_are_asked_for():
    index, ranker = make_index(), newest_first()
    pipeline = SearchPipeline(index, ranker, Years(), candidates=5)
    few = [hit.id for hit in pipeline.search("wing shock", 3)]
    many = [hit.id for hit in pipeline.search("wing shock", 1000)]
    assert many[:3] == few and len(many) == 5
