"""Readers of documents."""

from __future__ import annotations

import datetime
import gzip
import random

import polars as pl
import pytest

from plackett import DataError
from plackett.text import Document, Link, read_documents
from plackett.text.documents.anchors import with_anchors
from plackett.text.documents.html import read_page


def read(tmp_path, name, text, **options):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read_documents(path, **options))


def test_json_lines(tmp_path):
    text = (
        '{"_id": 7, "title": "Wings", "year": 1958, "tags": ["a", "b"], "none": null}\n\n'
        '{"id": "x", "links": ["7", {"target": "y", "anchor": "why"}]}\r\n'
    )
    expected = [
        Document("7", {"title": "Wings", "year": 1958, "tags": ["a", "b"]}),
        Document("x", {}, (Link("7"), Link("y", "why"))),
    ]
    assert read(tmp_path, "docs.jsonl", text) == expected
    assert read(tmp_path, "docs.jsonl.gz", gzip.compress(text.encode())) == expected
    assert read(tmp_path, "docs", text) == expected  # by its first character
    assert [d.id for d in read(tmp_path, "d.txt", '{"a": 1, "sku": "s"}', id_field="sku")] == ["s"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": 1}\n{"id": ', r"docs\.jsonl:2: not JSON"),
        ("[1]", r"docs\.jsonl, entry 1: a document is a JSON object"),
        ('[{"id": 1}, {"name": "x"}]', r"docs\.jsonl, entry 2: no id"),
        ('[{"id": 1}', r"docs\.jsonl: not JSON"),
        ("3", r"docs\.jsonl:1: a document is a JSON object"),
        ('{"name": "x"}', r"docs\.jsonl:1: no id; looked for id, _id, .* among name\..*id_field=.*--id-field"),
        ('{"id": 1.5}', r"the id 1\.5 is neither text nor a whole number"),
        ('{"id": 1, "links": "a"}', "links must be a list, found 'a'"),
        ('{"id": 1, "links": [[]]}', "a link is an id or has a target"),
    ],
)
def test_bad_json_lines_name_the_line(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read(tmp_path, "docs.jsonl", text)


def test_tables(tmp_path):
    text = 'docno,title,price,day\n1,Wings,2.5,2024-05-31\n2,"a, b",,\n'
    expected = [
        Document("1", {"title": "Wings", "price": 2.5, "day": datetime.date(2024, 5, 31)}),
        Document("2", {"title": "a, b"}),
    ]
    assert read(tmp_path, "docs.csv", text) == expected
    assert read(tmp_path, "docs.tsv", "docno\ttitle\n1\tWings\n") == [Document("1", {"title": "Wings"})]
    pl.read_csv(text.encode(), try_parse_dates=True).write_parquet(tmp_path / "docs.parquet")
    assert list(read_documents(tmp_path / "docs.parquet")) == expected
    with pytest.raises(DataError, match="not a table that can be read"):
        read(tmp_path, "bad.parquet", b"no parquet at all")
    with pytest.raises(DataError, match=r"row 1: no id"):
        read(tmp_path, "bad.csv", "a,b\n1,2\n")


TREC = """<DOC>
<DOCNO> FT-1 </DOCNO>
<TITLE>Wings</TITLE>
<TEXT>
Lift <b>and</b> drag
</TEXT>
<TEXT>More</TEXT>
</DOC>
<doc>
<docno>2</docno>
plain
text
</doc>
"""


def test_trec(tmp_path):
    assert read(tmp_path, "docs.trec", TREC) == [
        Document("FT-1", {"text": "Lift  and  drag\nMore", "title": "Wings"}),
        Document("2", {"text": "plain\ntext"}),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<DOC>\n<DOCNO>1</DOCNO>\n", ":1: the document has no </DOC>"),
        ("<DOC>\n<DOC>\n", ":2: <DOC> inside the document that begins in line 1"),
        ("</DOC>", ":1: </DOC> without <DOC>"),
        ("<DOC>\nx\n</DOC>", ":1: the document has no <DOCNO>"),
        ("<DOC>\n<DOCNO>1</DOCNO>\n<TITLE>x\n</DOC>", ":1: <TITLE> is not closed"),
        ("hello", ":1: text outside of <DOC>"),
    ],
)
def test_bad_trec_names_the_line(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read(tmp_path, "docs.trec", text)


def test_smart(tmp_path):
    text = ".I 1\n.T\nwings in\na slipstream .\n.A\nbrenckman\n.W\nlift\n.X\n1 2 3\n.I 2\n.W\n.W\ndrag\n"
    assert read(tmp_path, "cran.all", text) == [
        Document("1", {"title": "wings in\na slipstream .", "author": "brenckman", "text": "lift"}),
        Document("2", {"text": "drag"}),
    ]
    text = "*TEXT 017 01/04/63 PAGE 020\n\nTHE ALLIES\n\n*TEXT 020 01/04/63\nNEXT\n*STOP\n"
    assert read(tmp_path, "TIME.ALL", text) == [Document("1", {"text": "THE ALLIES"}), Document("2", {"text": "NEXT"})]
    for bad, message in ((".T\nx", ":1: .T before the first .I"), (".I 1\nx", ":2: text outside of a field")):
        with pytest.raises(DataError, match=message):
            read(tmp_path, "bad.all", bad)


def test_html_folder(tmp_path):
    pytest.importorskip("selectolax")
    (tmp_path / "site" / "sub").mkdir(parents=True)
    (tmp_path / "site" / "index.html").write_text(
        "<html><head><title>Home &amp; more</title><style>p {}</style></head><body><p>Hello "
        "<a href='sub/b.htm#part'>the b page</a> <a href='https://example.org/x'>far</a> <a href='mailto:me'>me</a>"
        "<a href='#top'>top</a></p><script>var x</script></body>"
    )
    (tmp_path / "site" / "sub" / "b.htm").write_bytes("<p>Grüße <a href='../index.html'>home</a>".encode())
    home, b = read_documents(tmp_path / "site")
    assert home.id == "index.html"
    assert home.fields == {"title": "Home & more", "text": "Hello the b page far me top"}
    assert home.links == (Link("sub/b.htm", "the b page"), Link("https://example.org/x", "far"))
    assert b == Document("sub/b.htm", {"text": "Grüße home"}, (Link("index.html", "home"),))
    first, second = with_anchors([home, b])
    assert (first.fields["anchor"], second.fields["anchor"]) == ("home", "the b page")


def test_folders_and_refusals(tmp_path):
    read(tmp_path, "in/a.jsonl", '{"id": 1}')
    read(tmp_path, "in/deep/b.trec", TREC)
    (tmp_path / "in" / "notes.pdf").write_bytes(b"")
    assert [d.id for d in read_documents(tmp_path / "in")] == ["1", "FT-1", "2"]
    (tmp_path / "empty").mkdir()
    for source, options, message in (
        (tmp_path / "none", {}, "no such file or folder"),
        (tmp_path / "empty", {}, "no file of a known format"),
        (tmp_path / "in" / "notes.pdf", {}, "unknown format of documents; give one of jsonl, table"),
        (tmp_path / "in", {"format": "jsonn"}, "unknown format of documents 'jsonn'; did you mean jsonl"),
    ):
        with pytest.raises(DataError, match=message):
            list(read_documents(source, **options))


def test_collections_of_ir_datasets(monkeypatch):
    import sys
    from types import SimpleNamespace
    from typing import NamedTuple

    class Doc(NamedTuple):
        doc_id: str
        text: str
        raw: bytes

    def load(name):
        if name != "toy":
            raise KeyError(name)
        return SimpleNamespace(has_docs=lambda: True, docs_iter=lambda: iter([Doc("1", "wings", b"x")]))

    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=load))
    assert list(read_documents("ir_datasets:toy")) == [Document("1", {"text": "wings"})]
    with pytest.raises(DataError, match="ir_datasets has no collection 'toi'"):
        list(read_documents("ir_datasets:toi"))
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(ImportError, match="pip install ir_datasets"):
        list(read_documents("ir_datasets:toy"))


def test_files_of_strangers(tmp_path):
    """Damaged files of every format: documents or an error of ours."""
    pytest.importorskip("selectolax")
    draw = random.Random(0)
    good = {
        "a.jsonl": b'{"id": "a", "title": "x", "links": [{"target": "b"}]}\n' * 3,
        "a.csv": b'id,title,n\n1,"a b",2\n2,c,3\n',
        "a.trec": TREC.encode(),
        "a.all": b".I 1\n.T\nx\n.W\ny\n.I 2\n.W\nz\n",
        "a/a.html": b"<title>x</title><p>y <a href='http://[x'>z</a>",
    }
    errors = 0
    for _ in range(400):
        name = draw.choice(list(good))
        data = bytearray(good[name])
        for _ in range(draw.randrange(1, 6)):
            i = draw.randrange(len(data) + 1)
            data[i : i + draw.randrange(3)] = draw.randbytes(draw.randrange(3))
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        try:
            documents = list(read_documents(path.parent if name.endswith(".html") else path))
            assert all(isinstance(d, Document) and d.id for d in documents)
        except DataError:
            errors += 1
    assert errors > 50


def test_a_folder_of_plain_text(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_text("\ufeffMoby Dick\n\nA whale.\n")
    (tmp_path / "sub" / "b.md").write_text("# Wings\nLift.")
    (tmp_path / "c.txt").write_text("<DOC>\n<DOCNO>t1</DOCNO>\n<TEXT>drag</TEXT>\n</DOC>\n")
    (tmp_path / "long.txt").write_text("word " * 100)
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8")
    result = {document.id: document.fields for document in read_documents(tmp_path)}
    assert result == {
        "a.txt": {"title": "Moby Dick", "text": "Moby Dick\n\nA whale."},
        "sub/b.md": {"title": "Wings", "text": "# Wings\nLift."},
        "t1": {"text": "drag"},
        "long.txt": {"text": "word " * 99 + "word"},
    }
    assert [document.id for document in read_documents(tmp_path / "a.txt")] == ["a.txt"]
    assert [document.id for document in read_documents(tmp_path / "c.txt")] == ["t1"]
    assert len(list(read_documents(tmp_path / "c.txt", format="text"))) == 1


@pytest.mark.parametrize(
    ("encoding", "head"),
    [
        ("iso-8859-2", '<meta charset="iso-8859-2">'),
        ("cp1251", '<META http-equiv=Content-Type content="text/html; charset=windows-1251">'),
        ("shift-jis", "<?xml version='1.0' encoding='Shift_JIS'?>"),
        ("utf-8-sig", '<meta charset="iso-8859-1">'),  # the mark counts for more
        ("utf-16", ""),
        ("utf-8", '<meta charset="nonsense">'),
        ("utf-8", '<meta charset="utf-16">'),  # cannot be: it was read byte by byte
        ("utf-8", '<meta charset="punycode">'),
    ],
)
def test_pages_are_read_in_their_encoding(encoding, head):
    pytest.importorskip("selectolax")
    word = {"iso-8859-2": "łódź", "cp1251": "маяк", "shift-jis": "東京"}.get(encoding, "naïve 東京")
    page = read_page(f"{head}<title>{word}</title><p>{word}".encode(encoding), "a.html")
    assert page.fields == {"title": word, "text": word}


def test_text_that_is_not_utf_8_is_windows_1252(tmp_path):
    text = "straße – café"
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_bytes(text.encode("cp1252"))
    (tmp_path / "notes" / "b.txt").write_bytes(("東京 naïve " * 3).encode() + b"\xff")  # one bad byte: still UTF-8
    first, second = read_documents(tmp_path / "notes")
    assert first.fields["text"] == text
    assert second.fields["text"].startswith("東京 naïve")
    trec = f"<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>\n{text}\n</TEXT>\n</DOC>\n".encode("cp1252")
    assert text in str(read(tmp_path, "t.trec", trec)[0].fields)
    pytest.importorskip("selectolax")
    for head in ("", "<meta charset=iso-8859-1>"):  # as browsers read it
        assert read_page(f"{head}<p>{text}".encode("cp1252"), "a").fields == {"text": text}


def test_ids_in_a_table_are_texts(tmp_path):
    for given in (["007", "7"], ["1.10", "1.1"], ["2024-01-01", "x"], ["1e3", "12345678901234567890123"]):
        text = "".join(f"{docid},wing,{year}\n" for docid, year in zip(given, (1958, 1960), strict=True))
        result = read(tmp_path, "docs.csv", "sku,title,year\n" + text, id_field="sku")
        assert [(document.id, document.fields["year"]) for document in result] == [(given[0], 1958), (given[1], 1960)]
        assert [document.id for document in read(tmp_path, "docs.csv", "docid,title,year\n" + text)] == given


def test_errors_of_tables_are_in_our_words(tmp_path):
    with pytest.raises(DataError, match=r"docs\.csv: line 3: a quoted field does not end$"):
        read(tmp_path, "docs.csv", 'id,title\n1,a\n2,"b\n')
    assert read(tmp_path, "docs.csv", "id,title\n1,café\n".encode("cp1252"))[0].fields == {"title": "café"}


def test_a_json_array_reads_as_its_lines_do(tmp_path):
    records = ['{"id": 1, "title": "Wings"}', '{"id": "x", "links": ["1"]}']
    lines = read(tmp_path, "docs.jsonl", "\n".join(records))
    assert read(tmp_path, "docs.json", f"\n [{', '.join(records)}]\n") == lines
    assert read(tmp_path, "array", "[" + ",\n".join(records) + "]") == lines  # by its first character
    assert read(tmp_path, "none.json", "[]") == []


def test_two_files_of_a_folder_with_the_same_ids_are_refused(tmp_path):
    """A file of queries has numbers of its own: as documents, they would replace those with the same numbers."""
    folder = tmp_path / "collection"
    folder.mkdir()
    (folder / "cran.all").write_text(".I 1\n.W\nwings\n.I 2\n.W\nslipstream\n")
    (folder / "query.text").write_text(".I 1\n.W\nwhat is lift\n")
    with pytest.raises(DataError, match=r"query\.text: document .1. is also in .*cran\.all\. Name the files"):
        list(read_documents(folder))
    assert [document.id for document in read_documents(folder / "cran.all")] == ["1", "2"]
    (folder / "query.text").write_text(".I 3\n.W\nmore\n")
    assert [document.id for document in read_documents(folder)] == ["1", "2", "3"]


def test_files_of_a_folder_that_are_left_out_are_named(tmp_path, caplog):
    (tmp_path / "docs.jsonl").write_text('{"id": 1}')
    (tmp_path / "paper.pdf").write_bytes(b"%PDF")
    assert len(list(read_documents(tmp_path))) == 1
    assert "1 file left out, of no known format, such as paper.pdf" in caplog.text


def test_separator_of_a_table(tmp_path):
    text = "id;title\n1;Wings, blue\n"
    with pytest.raises(DataError, match=r"docs\.csv: the columns are separated by ';', not by ','; give separator="):
        read(tmp_path, "docs.csv", text)
    assert read(tmp_path, "docs.csv", text, separator=";") == [Document("1", {"title": "Wings, blue"})]
