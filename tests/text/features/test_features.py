from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest
import yaml

import plackett as pk
from plackett import DataError, PlackettWarning
from plackett.text import BM25, RM3, Dirichlet, Document, Index, Link
from plackett.text.features.declaration import feature_of
from plackett.text.features.document import AttributeFeature, LinkFeature
from plackett.text.features.embedding import EmbeddingFeature
from plackett.text.features.extract import extract, extract_blocks
from plackett.text.features.feature_set import FeatureSet
from plackett.text.features.model import ModelFeature
from plackett.text.features.query import QueryFeature
from plackett.text.features.table import TableFeature
from plackett.text.features.transforms import TRANSFORMS

WORDS = [f"w{i}" for i in range(15)]


@pytest.fixture(scope="module")
def index():
    rng = np.random.default_rng(0)
    documents = [
        Document(
            f"d{i}",
            {
                "title": " ".join(rng.choice(WORDS, 3)),
                "body": " ".join(rng.choice(WORDS, rng.integers(5, 30))),
                "year": 1990.0 + i if i % 5 else None,
                "seen": datetime.date(2020, 1, 1 + i % 28),
            },
            (Link(f"d{(i * 7) % 60}"),),
        )
        for i in range(60)
    ]
    return Index.build(documents)


QUERIES = {f"q{i}": f"w{i} w{(3 * i) % 15} w{(5 * i + 1) % 15}" for i in range(12)}


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(1)
    offsets = np.concatenate(([0], np.cumsum(rng.integers(0, 20, 12))))
    return offsets, rng.integers(0, 60, offsets[-1])


def test_columns_equal_the_models(index, pairs):
    models = [BM25(), BM25(k1=0.5), Dirichlet(mu=30), RM3(n_documents=3)]
    features = FeatureSet([ModelFeature(model=model, field=field) for model in models for field in ("title", "body")])
    X = features.matrix(index, QUERIES, *pairs)
    columns = [model.scores(index, QUERIES, *pairs, field=field) for model in models for field in ("title", "body")]
    np.testing.assert_array_equal(X, np.column_stack(columns).astype(np.float32))


def test_blocks_and_threads_give_the_same(index, pairs, monkeypatch):
    features = FeatureSet([BM25(), {"query": "idf_sum"}, {"proximity": "span"}, {"length": "body"}])
    whole = features.matrix(index, QUERIES, *pairs)
    from plackett.text.features import feature_set

    monkeypatch.setattr(feature_set, "_ROWS", 10)
    for n_jobs in (1, 3):
        np.testing.assert_array_equal(features.matrix(index, QUERIES, *pairs, n_jobs=n_jobs), whole)
        blocks = list(features.blocks(index, QUERIES, *pairs, n_jobs=n_jobs))
        assert len(blocks) > 5
        np.testing.assert_array_equal(np.concatenate([block.X for block in blocks]), whole)


def test_kinds(index, pairs):
    features = FeatureSet(
        [
            BM25(),
            {"query": "length"},
            {"query": "idf_max", "field": "title"},
            {"length": "body", "unique": True},
            {"attribute": "year"},
            {"links": "pagerank", "transform": "log"},
        ]
    )
    described = features.describe()
    assert described["kind"].to_list() == ["pair", "query", "query", "document", "document", "document"]
    assert described["stream"].to_list() == ["default", "default", "title", "body", "year", "links"]
    assert (described["cost"] > 0).all()
    X = features.matrix(index, QUERIES, *pairs)
    query = np.repeat(np.arange(12), np.diff(pairs[0]))
    for q in np.unique(query):
        assert (np.ptp(X[query == q][:, 1:3], axis=0) == 0).all()
    by_document = {}
    for d, row in zip(pairs[1], X[:, 3:], strict=True):
        np.testing.assert_array_equal(by_document.setdefault(d, row), row)


def test_query_features_change_no_linear_ranking(index, pairs):
    X = FeatureSet([BM25(), {"query": "idf_sum"}]).matrix(index, QUERIES, *pairs).astype(float)
    query = np.repeat(np.arange(12), np.diff(pairs[0]))
    for q in np.unique(query):
        rows = X[query == q]
        assert (np.argsort(rows @ [1.0, 5.0]) == np.argsort(rows[:, 0])).all()


def test_query_statistics_by_hand(index):
    field = index.field("body")
    text = "w1 w1 w2 zebra"
    df = {t: field.document_frequency[field.term_ids([t])[0]] for t in ("w1", "w2")}
    cf = {t: field.collection_frequency[field.term_ids([t])[0]] for t in ("w1", "w2")}
    idf = {t: np.log(60 / df[t]) for t in df}
    expected = {
        "length": 4,
        "known": 3,
        "idf_sum": 2 * idf["w1"] + idf["w2"],
        "idf_mean": (2 * idf["w1"] + idf["w2"]) / 4,
        "idf_max": max(idf.values()),
        "idf_min": 0.0,  # of the unknown word
        "log_idf_sum": 2 * np.log(idf["w1"]) + np.log(idf["w2"]),
        "inverse_cf_sum": 2 * np.log(60 / cf["w1"] + 1) + np.log(60 / cf["w2"] + 1),
    }
    features = FeatureSet([QueryFeature(statistic=name, field="body") for name in expected])
    np.testing.assert_allclose(features.matrix(index, [text], [0, 1], [0])[0], list(expected.values()), rtol=1e-6)


def test_document_features(index):
    everything = ["w0"], [0, 60], range(60)
    X = FeatureSet(
        [
            AttributeFeature(attribute="year"),
            AttributeFeature(attribute="seen"),
            AttributeFeature(attribute="year", transform="known", name="has year"),
            LinkFeature(statistic="outlinks"),
            {"length": "title"},
        ]
    ).matrix(index, *everything)
    assert np.isnan(X[::5, 0]).all()
    assert X[1, 0] == 1991.0
    assert X[3, 1] == (datetime.date(2020, 1, 4) - datetime.date(1970, 1, 1)).days
    assert X[:3, 2].tolist() == [0.0, 1.0, 1.0]
    assert X[:3, 3].tolist() == [0.0, 1.0, 1.0]  # d0 links to itself
    assert (X[:, 4] == 3).all()
    with pytest.raises(DataError, match="holds text"):
        FeatureSet([{"attribute": "title"}]).matrix(index, *everything)


def test_tables(index, tmp_path):
    frame = pl.DataFrame({"docid": ["d1", "d2"], "clicks": [3, 8]})
    both = pl.DataFrame({"qid": ["1"], "docid": ["d2"], "rate": [0.25]})
    both.write_csv(tmp_path / "rates.csv")
    (tmp_path / "features.yaml").write_text(
        "- model: BM25\n  fields: [title, body]\n- table: rates.csv\n  column: rate\n  by: [qid, docid]\n"
    )
    from_file = FeatureSet.read(tmp_path / "features.yaml")
    assert from_file.names == ["BM25() title", "BM25() body", "rate"]
    X = FeatureSet([TableFeature(table=frame, column="clicks"), *from_file.features]).matrix(
        index, ["w1"], [0, 3], [1, 2, 3]
    )
    np.testing.assert_array_equal(X[:, 0], [3, 8, np.nan])
    np.testing.assert_array_equal(X[:, 3], [np.nan, 0.25, np.nan])
    texts = pl.DataFrame({"query": ["W1 w2", "w3"], "intent": [1.0, 2.0]})
    X = FeatureSet([TableFeature(table=texts, column="intent", by="query")]).matrix(
        index, ["w1  W2", "w4", "w3"], [0, 2, 3, 4], [1, 2, 3, 0]
    )
    np.testing.assert_array_equal(X[:, 0], [1, 1, np.nan, 2])
    with pytest.raises(DataError, match=r"by=\['docid', 'qid'\]; give one of \['docid'\]"):
        TableFeature(table=both, column="rate", by=("docid", "qid"))
    with pytest.raises(DataError, match="no column 'x'"):
        TableFeature(table=frame, column="x")
    with pytest.raises(DataError, match="'d1' occurs more than once"):
        TableFeature(table=pl.concat([frame, frame]), column="clicks")


def test_ids_in_a_table_are_texts(tmp_path):
    index = Index.build([Document("007", {"t": "w"}), Document("7", {"t": "w"}), Document("1.10", {"t": "w"})])
    (tmp_path / "clicks.csv").write_text("docid,clicks\n007,5\n7,6\n1.10,9\n")
    feature = TableFeature(table=tmp_path / "clicks.csv", column="clicks")
    np.testing.assert_array_equal(FeatureSet([feature]).matrix(index, ["w"], [0, 3], [0, 1, 2])[:, 0], [5, 6, 9])
    (tmp_path / "clicks.csv").write_text('docid,clicks\n"a,5\n')
    with pytest.raises(DataError, match=r"clicks\.csv: line 2: a quoted field does not end"):
        TableFeature(table=tmp_path / "clicks.csv", column="clicks")


def test_tables_equal_a_plain_lookup(index):
    rng = np.random.default_rng(0)
    pairs = sorted({(f"q{rng.integers(6)}", f"d{rng.integers(80)}") for _ in range(150)})  # some are unknown
    frame = pl.DataFrame({"qid": [q for q, _ in pairs], "docid": [d for _, d in pairs], "v": rng.random(len(pairs))})
    queries = {f"q{i}": "w1" for i in (5, 2, 9)}
    documents = rng.integers(0, index.n_documents, 90)
    X = FeatureSet([TableFeature(table=frame, column="v", by=("qid", "docid"))]).matrix(
        index, queries, [0, 30, 60, 90], documents
    )
    cells = {(q, d): v for q, d, v in frame.iter_rows()}
    asked = np.repeat(list(queries), 30)
    expected = [cells.get((q, index.id(int(d))), np.nan) for q, d in zip(asked, documents, strict=True)]
    np.testing.assert_array_equal(X[:, 0], np.array(expected, np.float32))


def test_embeddings(index):
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((60, 4))
    query = {"1": rng.standard_normal(4)}
    pairs = ["w1", "w2"], [0, 2, 3], [5, 6, 7]
    dot = FeatureSet([EmbeddingFeature(documents=vectors, queries=query, similarity="dot")]).matrix(index, *pairs)[:, 0]
    np.testing.assert_allclose(dot, [vectors[5] @ query["1"], vectors[6] @ query["1"], np.nan], rtol=1e-6)
    given = {"d5": vectors[5]}
    cosine = FeatureSet([EmbeddingFeature(documents=given, queries=query)]).matrix(index, *pairs)[:, 0]
    norms = np.linalg.norm(vectors[5]) * np.linalg.norm(query["1"])
    np.testing.assert_allclose(cosine, [vectors[5] @ query["1"] / norms, np.nan, np.nan], rtol=1e-6)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_of_anything_are_numbers_or_missing(name):
    values = TRANSFORMS[name](np.array([-1e3, -1.0, 0.0, 1.0, 1e3, np.nan]))
    assert not np.isinf(values).any()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"model": "BM52"}, "BM25"),
        ({"model": "BM25", "k2": 1}, "k1"),
        ({"model": "BM25", "k1": "x"}, "k1='x'; give a number"),
        ({"model": "BM25", "field": 0.5}, "field=0.5; give a text"),
        ({"model": "BM25", "fields": [[]]}, r"field=\[\]; give a text"),
        ({"length": 2}, "feature length: field=2; give a text"),
        ({"attribute": None}, "feature attribute: attribute=None; give a text"),
        ({"query": "x"}, "idf_sum"),
        ({"proximity": "x"}, "span"),
        ({"links": "x"}, "pagerank"),
        ({"set": "x"}, "ohsumed"),
        ({"table": "none.csv", "column": "x"}, "no such file"),
        ({"x": 1}, "has none of them"),
        ({"model": "BM25", "query": "length"}, "model and query|query and model"),
        ({"attribute": "year", "transform": "x"}, "log1p"),
        ({"model": "BM25", "fields": "title"}, "list of names"),
        (3, "not a feature"),
    ],
)
def test_bad_declarations_say_what_is_wrong(given, message):
    with pytest.raises(DataError, match=message):
        feature_of(given)


def test_bad_files_are_named(tmp_path):
    (tmp_path / "f.yaml").write_text("- model: BM25\n- model: nothing\n")
    with pytest.raises(DataError, match=r"f\.yaml: feature 2"):
        FeatureSet.read(tmp_path / "f.yaml")
    rng = np.random.default_rng(0)
    base = b"- model: BM25\n  field: body\n  k1: 0.9\n- {query: length}\n- proximity: span\n"
    for _ in range(80):
        text = bytearray(base)
        for _ in range(rng.integers(1, 5)):
            text[rng.integers(0, len(text))] = rng.integers(1, 256)
        (tmp_path / "f.yaml").write_bytes(bytes(text))
        try:
            result = FeatureSet.read(tmp_path / "f.yaml")
        except DataError:
            continue
        assert len(result) > 0


def test_extraction(index):
    labels = {"q0": {"d1": 2, "d59": 1}, "q1": {"d7": 1}}
    data = extract(index, QUERIES, [BM25()], judgements=labels, k=10)
    assert data.n_queries == 12
    assert np.diff(data.offsets).max() == 10
    first = BM25().search(index, QUERIES, 10)
    names = index.ids.to_numpy()
    for q in range(12):
        rows = slice(data.offsets[q], data.offsets[q + 1])
        documents, scores = first.of(q)
        assert data.docids[rows].tolist() == names[documents].tolist()
        np.testing.assert_allclose(data.X[rows, 0], scores, rtol=1e-6)
        own = labels.get(f"q{q}", {})
        assert data.y[rows].tolist() == [own.get(d, 0.0) for d in data.docids[rows]]
    with pytest.warns(PlackettWarning, match="10 of 12 queries have no candidates"):
        only = extract(index, QUERIES, [BM25()], judgements=labels, candidates="judged")
    assert sorted(only.docids.tolist()) == ["d1", "d59", "d7"]
    more = extract(index, QUERIES, [BM25()], judgements=labels, k=1, add_judged=True)
    assert {"d1", "d59", "d7"} <= set(more.docids.tolist())
    pooled = extract(index, QUERIES, [BM25()], candidates=[BM25(), Dirichlet(mu=5)], k=5)
    assert pooled.y is None
    assert len(pooled.X) >= 60
    with pytest.warns(PlackettWarning):
        given = extract(index, QUERIES, [BM25()], candidates={"q3": ["d4", "unknown", "d9"]})
    assert given.docids.tolist() == ["d4", "d9"]
    parts = list(extract_blocks(index, QUERIES, [BM25()], judgements=labels, k=10))
    assert sum(len(part.X) for part in parts) == len(data.X)
    with pytest.raises(DataError, match="no candidates"):
        extract(index, ["zebra"], [BM25()])


def test_extraction_is_public():
    assert pk.extract is extract
    assert pk.FeatureSet is FeatureSet


def test_judgements_of_other_queries_are_refused(index):
    with pytest.raises(DataError, match="no query has a judgement: the judgements are of 'Q1', the queries are 'q1'"):
        extract(index, {"q1": "whale"}, [BM25()], judgements={"Q1": {"a": 1}})


def test_queries_and_documents_that_are_left_out_are_counted(index):
    queries = {"q1": "w1", "q2": "zzz", "q3": "", "q4": "w2"}
    with pytest.warns(PlackettWarning, match="2 of 4 queries have no candidates, and no rows .*: 'q2', 'q3'"):
        data = extract(index, queries, ["BM25"])
    assert data.qids.tolist() == ["q1", "q4"]
    with pytest.raises(DataError, match="no candidates"):
        extract(index, {"q2": "zzz"}, ["BM25"])
    with pytest.warns(PlackettWarning, match="2 given candidates are not in the index, such as 'x1'"):
        data = extract(index, {"q1": "w1"}, ["BM25"], candidates={"q1": ["x1", "d3", "x2"]})
    assert data.docids.tolist() == ["d3"]


def test_links_of_an_index_without_links():
    unlinked = Index.build([Document("a", {"body": "w"}, (Link("elsewhere"), Link("a"))), Document("b", {"body": "w"})])
    with pytest.warns(PlackettWarning, match="feature 'log.pagerank.': no document of the index links to another"):
        extract(unlinked, {"q": "w"}, [{"links": "pagerank", "transform": "log"}])


def test_every_setting_is_part_of_the_name():
    """Variants of a feature can stand side by side."""
    declared = []
    for kind, settings in {
        "model: BM25": ("k1: 0.9", "b: 0.4", "k3: 7", "idf: rsj", "field: title"),
        "model: LMIR.DIR": ("mu: 10", "mu: 20"),
        "model: LMIR.JM": ("weight: 0.2",),
        "model: RM3": ("n_documents: 3", "n_terms: 4", "weight: 0.2", "inner: LMIR.DIR", "inner: {model: BM25, b: 0}"),
        "model: LSI": ("k: 10", "k: 20"),
        "url: depth": ("field: address", "transform: log1p"),
        "links: hostrank": ("field: address",),
        "length: title": ("unique: true",),
        "proximity: cover": ("field: title", "transform: sqrt"),
        "query: idf_sum": ("field: title",),
    }.items():
        declared += [yaml.safe_load("{" + ", ".join((kind, *more)) + "}") for more in [(), *((s,) for s in settings)]]
    assert len(set(FeatureSet(declared).names)) == len(declared)


def test_the_field_of_urls_of_a_set():
    names = [f.stream for f in feature_of({"url": "address", "set": "gov2", "fields": ["b", "a", "t", "u", "w"]})]
    assert names[43:] == ["address"] * 3
    assert set(names[:40]) == {"b", "a", "t", "u", "w"}


def test_errors_of_yaml_name_the_line(tmp_path):
    path = tmp_path / "features.yaml"
    path.write_text("- model: BM25\n- {length: title\n")
    with pytest.raises(DataError, match=r"features\.yaml: line 3, column 1: not YAML: expected ',' or '}'"):
        FeatureSet.read(path)
