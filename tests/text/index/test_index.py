"""The index: statistics and arrays against plain loops, whatever the segments and deletions."""

from __future__ import annotations

import datetime
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from plackett import DataError, PlackettWarning
from plackett.text import Analyzer, Document, Index, IndexWriter, Link, search
from plackett.text.index.collecting import GAP
from plackett.text.index.manifest import FILE
from text.index.naive import check_field

PLAIN = Analyzer(stop_words=("the",), stemmer=None)
WORDS = ["the", "a", "ab", "b", "wing", "lift", "drag", "flow", "été", "東京都", "über", "x1"]


def some_documents(n, seed=0, prefix="d"):
    draw = random.Random(seed)

    def text():
        return " ".join(draw.choices(WORDS, k=draw.randrange(12)))

    return [
        Document(f"{prefix}{i}", {"title": text(), "body": text(), "year": draw.randrange(1990, 2020)})
        for i in range(n)
    ]


def check_index(index, documents):
    """An index of these documents, in this order."""
    assert index.n_documents == len(documents)
    assert [index.id(i) for i in range(len(documents))] == [document.id for document in documents]
    assert index.numbers([d.id for d in documents] + ["?"]).tolist() == [*range(len(documents)), -1]
    for name in ("title", "body"):
        check_field(index.field(name), [PLAIN.sequence(document.fields[name]) for document in documents])
    both = [[*PLAIN.sequence(d.fields["title"]), *[None] * GAP, *PLAIN.sequence(d.fields["body"])] for d in documents]
    check_field(index.field("all"), both)
    assert index.values("year").tolist() == [document.fields["year"] for document in documents]
    for i, document in enumerate(documents):
        result = index.document(i)
        assert result.id == document.id
        assert result.fields == {name: value for name, value in document.fields.items() if value != ""}


def test_statistics_of_three_documents_by_hand():
    index = Index.build(
        [Document(c, {"body": text}) for c, text in zip("abc", ["new york york", "the new sun", ""], strict=True)],
        analyzer=PLAIN,
    )
    field = index.field()
    assert field.n_documents == 3
    assert field.lengths.tolist() == [3, 2, 0]
    assert (field.total_length, field.average_length) == (5, 5 / 3)
    new, sun, york = field.term_ids(["new", "sun", "york"])
    assert field.document_frequency[[new, sun, york]].tolist() == [2, 1, 1]
    assert field.collection_frequency[[new, sun, york]].tolist() == [2, 1, 2]
    assert field.positions(york)[2].tolist() == [1, 2]
    assert field.positions(sun)[2].tolist() == [2]  # the stop word keeps its place


def test_in_memory_equals_plain_loops():
    documents = some_documents(40)
    check_index(Index.build(documents, analyzer=PLAIN), documents)


def test_changes_equal_an_index_of_what_is_left(tmp_path):
    """Adding, replacing and deleting in several commits: as if the live documents had been indexed at once."""
    draw = random.Random(1)
    expected: dict[str, Document] = {}
    for commit in range(12):
        with IndexWriter(tmp_path, analyzer=PLAIN) as writer:
            new = some_documents(draw.randrange(1, 15), seed=commit, prefix=draw.choice("pq"))
            for document in new:
                expected.pop(document.id, None)
                expected[document.id] = document
            writer.add(new)
            gone = draw.sample(sorted(expected), min(len(expected), draw.randrange(4)))
            writer.delete([*gone, "unknown"])
            for name in gone:
                del expected[name]
        check_index(Index.open(tmp_path), list(expected.values()))
    segments = json.loads((tmp_path / FILE).read_text())["segments"]
    assert len(segments) <= 4
    with IndexWriter(tmp_path) as writer:
        writer.merge()
    (segment,) = json.loads((tmp_path / FILE).read_text())["segments"]
    assert segment["deleted"] is None
    files = {"index.json", "writer.lock", segment["documents"], *segment["fields"].values()}
    assert set(os.listdir(tmp_path)) == files
    check_index(Index.open(tmp_path), list(expected.values()))


def test_everything_deleted_leaves_an_empty_index(tmp_path):
    documents = some_documents(5)
    Index.create(tmp_path / "index", documents, analyzer=PLAIN)
    with IndexWriter(tmp_path / "index") as writer:
        writer.delete(d.id for d in documents)
    index = Index.open(tmp_path / "index")
    assert index.n_documents == 0
    assert index.field("all").n_terms == 0
    assert index.values("year").size == 0 and search(index, "wing year:1990..") == []
    with IndexWriter(tmp_path / "index") as writer:
        writer.add(documents)
    check_index(Index.open(tmp_path / "index"), documents)


def test_fields_that_come_later(tmp_path):
    """A combined field is complete although its parts appear one after the other, in a batch or between commits."""
    one, two = Document("1", {"title": "lift"}), Document("2", {"body": "drag"})
    texts = [["lift", *[None] * GAP], [*[None] * GAP, "drag"]]
    index = Index.build([one, two], analyzer=PLAIN)
    check_field(index.field("all"), texts)
    for document in (one, two):
        with IndexWriter(tmp_path, analyzer=PLAIN) as writer:
            writer.add(document)
    index = Index.open(tmp_path)
    assert index.fields == ["title", "body", "all"]
    result = index.field("all")
    assert [result.term(t) for t in result.stream.terms if t >= 0] == ["lift", "drag"]
    with IndexWriter(tmp_path) as writer:
        writer.add(Document("3", {"title": "wing", "body": "flow"}))
        writer.merge()
    result = Index.open(tmp_path).field("all")
    assert [result.term(t) for t in result.stream.terms if t >= 0] == ["lift", "drag", "wing", "flow"]
    assert result.lengths.tolist() == [1, 1, 2]


def test_same_id_twice_in_one_go(tmp_path):
    pair = [Document("a", {"body": "old"}), Document("b", {"body": "other"}), Document("a", {"body": "new"})]
    with pytest.warns(PlackettWarning, match="a document has an id that an earlier .* such as 'a'; the last one"):
        index = Index.create(tmp_path / "i", pair)
    assert [index.document(i).fields["body"] for i in range(2)] == ["other", "new"]
    with pytest.raises(DataError, match="two documents have the id 'a'"):
        Index.build(pair)


def test_numbers_dates_and_links_are_stored(tmp_path):
    documents = [
        Document("a", {"price": 1.5, "when": datetime.date(2024, 5, 31)}, (Link("b", "see b"), Link("zz"))),
        Document("b", {"when": "2024-06-01T12:00:00Z", "tag": "blue sky"}),
        Document("c", {"price": "7", "tags": ["x", "y z"]}, (Link("a"), Link("c"))),
    ]
    index = Index.create(tmp_path / "i", documents, kinds={"tag": "keyword"}, analyzer=PLAIN)
    assert index.fields == ["tags"]
    np.testing.assert_array_equal(index.values("price"), [1.5, np.nan, 7])
    assert index.values("when").astype("M8[h]").astype(str).tolist() == ["2024-05-31T00", "2024-06-01T12", "NaT"]
    assert index.values("tag").tolist() == ["", "blue sky", ""]
    assert [index.document(i).links for i in range(3)] == [document.links for document in documents]
    sources, targets = index.edges()
    assert list(zip(sources.tolist(), targets.tolist(), strict=True)) == [(0, 1), (2, 0), (2, 2)]
    with IndexWriter(tmp_path / "i") as writer:
        writer.delete(["a"])
    sources, targets = Index.open(tmp_path / "i").edges()
    assert list(zip(sources.tolist(), targets.tolist(), strict=True)) == [(1, 1)]


def test_segments_are_cut_when_full(tmp_path, monkeypatch):
    from plackett.text.index import collecting

    monkeypatch.setattr(collecting, "SEGMENT_TERMS", 200)
    monkeypatch.setattr(collecting, "_BATCH", 7)
    documents = some_documents(60)
    check_index(Index.build(documents, analyzer=PLAIN), documents)
    check_index(Index.create(tmp_path / "i", documents, analyzer=PLAIN), documents)


def test_a_reader_keeps_its_snapshot(tmp_path):
    documents = some_documents(20)
    before = Index.create(tmp_path / "i", documents, analyzer=PLAIN)
    with IndexWriter(tmp_path / "i") as writer:
        writer.delete(d.id for d in documents[:15])
        writer.merge()
    check_index(before, documents)
    check_index(Index.open(tmp_path / "i"), documents[15:])


def test_one_writer_at_a_time(tmp_path):
    with IndexWriter(tmp_path), pytest.raises(DataError, match="another process is writing"):
        IndexWriter(tmp_path)
    IndexWriter(tmp_path).close()


def _add_good_and_bad(folder):
    with IndexWriter(folder) as writer:
        writer.add(some_documents(3, prefix="n"))
        writer.add([Document("x", {"body": {"a": 1}})])


def test_an_error_leaves_the_last_commit(tmp_path):
    documents = some_documents(6)
    Index.create(tmp_path / "i", documents, analyzer=PLAIN)
    with pytest.raises(DataError, match="document 'x': field 'body' is a dict"):
        _add_good_and_bad(tmp_path / "i")
    check_index(Index.open(tmp_path / "i"), documents)
    assert len(os.listdir(tmp_path / "i")) == 2 + 4  # manifest, lock; documents and three fields


def test_refusals_say_what_to_do(tmp_path):
    with pytest.raises(DataError, match=r"holds no index"):
        Index.open(tmp_path)
    Index.create(tmp_path / "i", some_documents(2), analyzer=PLAIN)
    with pytest.raises(DataError, match="there is already an index"):
        Index.create(tmp_path / "i", [])
    with pytest.raises(DataError, match="with another analyzer"):
        IndexWriter(tmp_path / "i", analyzer=Analyzer())
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "photo.jpg").write_bytes(b"")
    with pytest.raises(DataError, match=r"holds other files, such as 'photo\.jpg'"):
        IndexWriter(tmp_path / "other")
    index = Index.open(tmp_path / "i")
    with pytest.raises(DataError, match="no text field 'titel'; did you mean title"):
        index.field("titel")
    with pytest.raises(DataError, match="no stored field 'yaer'; did you mean year"):
        index.values("yaer")
    with pytest.raises(DataError, match="names 'titel', which is not among the text fields: title, body"):
        Index.build(some_documents(2), combine={"both": ["titel", "body"]})
    with pytest.raises(DataError, match="document 'a': field 'n' is 'many', but the field holds numbers"):
        Index.build([Document("a", {"n": "many"})], kinds={"n": "number"})
    with pytest.raises(DataError, match="document 'a': field 'n' is '31.5.', but the field holds dates, written as"):
        Index.build([Document("a", {"n": "31.5."})], kinds={"n": "date"})
    with pytest.raises(ValueError, match=r"kinds\['n'\] must be one of text, keyword, number, date"):
        Index.build([], kinds={"n": "integer"})


_COMMITS = """
import sys
from plackett.text import Analyzer, Document, IndexWriter
for commit in range(10_000):
    with IndexWriter(sys.argv[1], analyzer=Analyzer(stemmer=None)) as writer:
        writer.add([Document(f"{commit}-{i}", {"title": f"t{i}", "body": f"common c{commit}"}) for i in range(5)])
        if commit > 2:
            writer.delete([f"{commit - 3}-0"])
    print(commit, flush=True)
"""


@pytest.mark.parametrize("attempt", [0, *(pytest.param(i, marks=pytest.mark.full) for i in range(1, 8))])
def test_killed_at_any_moment_the_last_commit_is_intact(tmp_path, attempt):
    draw = random.Random(attempt)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    folder = tmp_path / "i"
    process = subprocess.Popen(
        [sys.executable, "-c", _COMMITS, str(folder)], stdout=subprocess.PIPE, text=True, env=environment
    )
    for _ in range(3):
        assert process.stdout.readline()
    time.sleep(draw.random() * 0.1)
    process.kill()
    done = [int(line) for line in process.stdout.read().split()]
    process.wait()
    last = done[-1] if done else 2
    index = Index.open(folder)
    commits = next(c for c in range(last, last + 3) if 5 * (c + 1) - max(0, c - 2) == index.n_documents)
    expected = {f"{c}-{i}" for c in range(commits + 1) for i in range(5)} - {f"{c}-0" for c in range(commits - 2)}
    assert {index.id(i) for i in range(index.n_documents)} == expected
    field = index.field("body")
    (term,) = field.term_ids(["common"])
    assert field.document_frequency[term] == len(expected)
    with IndexWriter(folder) as writer:  # the lock is free, and what was left behind does no harm
        writer.merge()
    merged = Index.open(folder)
    assert {merged.id(i) for i in range(merged.n_documents)} == expected


def test_readers_beside_a_writer(tmp_path):
    """Opening works while commits replace and remove files."""
    folder = tmp_path / "i"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", _COMMITS, str(folder)], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout.readline()
    try:
        sizes = []
        for _ in range(30):
            index = Index.open(folder)
            assert index.field("body").n_documents == index.n_documents == len(index.table)
            sizes.append(index.n_documents)
        assert sizes == sorted(sizes)
    finally:
        process.kill()
        process.stdout.read()
        process.wait()


def test_damaged_folders_raise_errors_of_ours(tmp_path):
    """Flipped, missing and added bytes anywhere: a clear error, or an index that still answers."""
    Index.create(tmp_path / "i", some_documents(12), analyzer=PLAIN)
    with IndexWriter(tmp_path / "i") as writer:
        writer.delete(["d3"])
    files = [path for path in sorted((tmp_path / "i").iterdir()) if path.name != "writer.lock"]
    good = {path: path.read_bytes() for path in files}
    draw = random.Random(0)
    errors = 0
    for _ in range(150):
        path = draw.choice(files)
        bytes_ = bytearray(good[path])
        for _ in range(draw.choice((1, 1, 4))):
            how = draw.randrange(4)
            i = draw.randrange(len(bytes_))
            if how == 0:
                bytes_[i] ^= 1 << draw.randrange(8)
            elif how == 1:
                bytes_[i : i + 4] = draw.randbytes(4)
            elif how == 2:
                del bytes_[i : i + draw.choice((1, 8, 64))]
            else:
                bytes_[i:i] = draw.randbytes(draw.choice((1, 8)))
        path.write_bytes(bytes_)
        try:
            index = Index.open(tmp_path / "i")
            for name in index.fields:
                field = index.field(name)
                assert field.n_documents == index.n_documents
                field.term_ids(["wing", "b"])
            for name in index.kinds:
                index.values(name)
            [index.document(i) for i in range(index.n_documents)]
            index.edges()
        except DataError:
            errors += 1
        path.write_bytes(good[path])
    assert errors > 75


def test_settings_are_stored(tmp_path):
    analyzer = Analyzer(stop_words=("été", "the"), stemmer="french", word_ngrams=2, character_ngrams=None)
    Index.create(
        tmp_path / "i", some_documents(3), analyzer=analyzer, kinds={"title": "keyword"}, combine={"x": ["body"]}
    )
    index = Index.open(tmp_path / "i")
    assert index.analyzer == analyzer
    assert index.kinds == {"title": "keyword", "body": "text", "year": "number"}
    assert index.fields == ["body", "x"]
    assert index.default_field == "x"


def test_path_may_be_a_string(tmp_path):
    assert Index.create(str(tmp_path / "i"), []).n_documents == 0
    assert Path(tmp_path / "i" / FILE).exists()


def test_same_id_in_two_segments_of_one_go(tmp_path, monkeypatch):
    monkeypatch.setattr("plackett.text.index.collecting._BATCH", 2)
    monkeypatch.setattr("plackett.text.index.collecting.SEGMENT_TERMS", 1)
    documents = [Document(name, {"body": f"text {i}"}) for i, name in enumerate("abcabd")]
    with pytest.warns(PlackettWarning, match="2 documents have an id that an earlier document had, such as 'a'"):
        index = Index.create(tmp_path / "i", documents)
    assert {index.id(i): index.document(i).fields["body"] for i in range(4)} == {
        "a": "text 3",
        "b": "text 4",
        "c": "text 2",
        "d": "text 5",
    }


def test_strings_that_are_all_dates_are_dates():
    values = ["2020-01-01", "", "2021-05-31T12:00:00Z", None, "2021-05-31 14:00+02:00"]
    index = Index.build([Document(str(i), {"day": value, "body": "a"}) for i, value in enumerate(values)])
    assert index.kinds["day"] == "date"
    assert search(index, "day:>=2021")[0].id == "2"
    np.testing.assert_array_equal(index.values("day")[[2]], index.values("day")[[4]])  # the same moment
    for other in ("not yet", "2020-02-30", "2020", "20200101"):
        mixed = Index.build([Document("0", {"day": "2020-01-01"}), Document("1", {"day": other})])
        assert mixed.kinds["day"] == "text"
    assert Index.build([Document("0", {"day": "2020-01-01"})], kinds={"day": "text"}).kinds["day"] == "text"


def test_a_later_value_that_is_no_date_says_what_to_do(tmp_path):
    with IndexWriter(tmp_path / "i") as writer:
        writer.add(Document("a", {"day": "2020-01-01"}))
    with (
        IndexWriter(tmp_path / "i") as writer,
        pytest.raises(DataError, match=r"'soon', but the field holds dates.*text"),
    ):
        writer.add(Document("b", {"day": "soon"}))


def test_a_declared_field_that_no_document_has_is_reported(tmp_path):
    documents = [Document("a", {"year": "1990", "body": "x"})]
    message = "no document has the field 'yaer', whose kind is declared; did you mean year"
    with pytest.warns(PlackettWarning, match=message):
        Index.build(documents, kinds={"yaer": "number"})
    with pytest.warns(PlackettWarning, match=message):
        Index.create(tmp_path / "i", documents, kinds={"yaer": "number"})


def test_kinds_of_an_index_that_exists(tmp_path):
    Index.create(tmp_path / "i", [Document("a", {"year": 1990})])
    with pytest.raises(DataError, match="'year' holds number in this index, not text"):
        IndexWriter(tmp_path / "i", kinds={"year": "text"})
    with IndexWriter(tmp_path / "i", kinds={"tag": "keyword", "year": "number"}) as writer:
        writer.add(Document("b", {"tag": "blue sky"}))
    assert Index.open(tmp_path / "i").kinds == {"year": "number", "tag": "keyword"}
    with pytest.raises(DataError, match="other combined fields"):
        IndexWriter(tmp_path / "i", combine={"both": ["x", "y"]})


def test_half_a_surrogate_pair():
    with pytest.raises(DataError, match="the id has half a surrogate pair"):
        Index.build([Document("a\ud800", {"x": "b"}), Document("a\udc00", {"x": "b"})])
    with pytest.raises(DataError, match="is not a name for a field"):
        Index.build([Document("a", {"x\ud800": "b"})])
    index = Index.build(
        [Document("a", {"x": "b\ud800", "k": "\ud800"}, (Link("?\ud800"),)), Document("??", {"x": "b"})],
        kinds={"k": "keyword"},
    )
    assert index.document(0).fields == {"x": "b\ufffd", "k": "\ufffd"}
    assert index.edges()[0].size == 0


def test_very_many_fields():
    few = [Document(str(i), {f"n{i}": i}) for i in range(1000)]  # numbers are columns of one file
    assert len(Index.build(few).kinds) == 1000
    with pytest.raises(DataError, match="document '200': 'f200' would be text field number 201"):
        Index.build([Document(str(i), {f"f{i}": "x"}) for i in range(1000)])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_the_folder_is_refused(tmp_path):
    """Opening it would wait for ever."""
    folder = tmp_path / "i"
    Index.create(folder, some_documents(3))
    for file in sorted(folder.iterdir()):
        content = file.read_bytes()
        file.unlink()
        os.mkfifo(file)
        with pytest.raises(DataError, match="is a pipe, socket or device, not a file"):
            IndexWriter(folder) if file.name == "writer.lock" else Index.open(folder)
        file.unlink()
        file.write_bytes(content)
    assert Index.open(folder).n_documents == 3


@pytest.mark.parametrize("docid", [5, "", None])
def test_ids_are_texts_that_are_not_empty(docid):
    with pytest.raises(DataError, match="a document has the id"):
        Index.build([Document(docid, {"title": "wing"})])


@pytest.mark.parametrize("frame", [list, pl.DataFrame, pd.DataFrame, lambda rows: pl.DataFrame(rows).to_arrow()])
def test_documents_in_any_form(frame, tmp_path):
    rows = [{"docid": "a", "title": "Wings"}, {"docid": "b", "title": "A slipstream"}]
    documents = [Document("a", {"title": "Wings"}), Document("b", {"title": "A slipstream"})]
    for index in (Index.build(frame(rows)), Index.create(tmp_path / "i", frame(rows))):
        assert [index.document(i) for i in range(2)] == documents
    with IndexWriter(tmp_path / "i") as writer:
        writer.add(frame(rows[:1]))
    assert Index.open(tmp_path / "i").n_documents == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("docs.jsonl", "got a str; read_documents reads files"),
        ({"id": "a"}, "got a dict"),
        ([{"id": "a"}, "b"], "document 1 is a str; give a Document, or a dict"),
        ([{"title": "a"}], r"document 0: no id; looked for id, _id.*in a frame or a dict, call it id"),
    ],
)
def test_what_are_no_documents(given, message):
    with pytest.raises(DataError, match=message):
        Index.build(given)
