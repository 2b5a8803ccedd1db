from __future__ import annotations

import pytest

from plackett import DataError
from plackett.text.retrieval.reading import read_queries


@pytest.mark.parametrize(
    "text",
    [
        "q1\tblue whales\nq2\tsky\n",
        '{"id": "q1", "text": "blue whales"}\n\n{"_id": "q2", "query": "sky"}\n',
        "<top>\n<num> Number: q1\n<title> blue\nwhales\n<desc> x\n</top>\n<top><num>q2</num><title>sky</title></top>",
        ".I q1\n.W\nblue\nwhales\n.I q2\n.W\nsky\n",
    ],
)
def test_formats(tmp_path, text):
    (tmp_path / "queries").write_text(text)
    assert {q: " ".join(t.split()) for q, t in read_queries(tmp_path / "queries").items()} == {
        "q1": "blue whales",
        "q2": "sky",
    }


def test_plain_lines_are_numbered(tmp_path):
    (tmp_path / "queries.txt").write_text("blue whales\nsky\n")
    assert read_queries(tmp_path / "queries.txt") == {"1": "blue whales", "2": "sky"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no queries"),
        ("q1\tx\n\nq2 y\nq3 z\n", r":3: no tab between id and text: 'q2 y' \(2 of 3 lines have none\)"),
        ("q1\tx\nq2\t \n", ":2: a query needs an id and a text"),
        ("a\tx\na\ty\n", "'a' occurs more than once"),
        ('{"id": 1}', ":1: a query needs 'text'"),
        ('{"id": "1", "text": "x"}\n{"id"', ":2: not JSON"),
        ("<top><num>1</num></top>", "lacks <num> or <title>"),
    ],
)
def test_errors(tmp_path, text, message):
    (tmp_path / "queries").write_text(text)
    with pytest.raises(DataError, match=message):
        read_queries(tmp_path / "queries")


def test_tables_have_a_header_line(tmp_path):
    """In a table without tabs each line was taken for a query."""
    asked = {"q1": "grüne Schuhe, Größe 40", "q2": 'Topf 3"'}
    (tmp_path / "queries.csv").write_text('note,query,qid\n,"grüne Schuhe, Größe 40",q1\n\nx,"Topf 3""",q2\n')
    (tmp_path / "queries.tsv").write_text('qid\tquery\nq1\tgrüne Schuhe, Größe 40\nq2\tTopf 3"\n')
    assert read_queries(tmp_path / "queries.csv") == read_queries(tmp_path / "queries.tsv") == asked


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "q.csv",
            "nr,wort\n1,rot\n",
            r"q\.csv: the queries need a column 'id' or .*; the header line has 'nr', 'wort'",
        ),
        ("q.csv", "id,text\n1,rot\n2\n", r"q\.csv:3: a query needs an id and a text: '2'"),
        ("q.csv", "id,text\n1,rot,grün\n", r"q\.csv:2: a query needs an id and a text"),
        ("q.csv", "", "the queries need a column"),
        ("q.parquet", "PAR1", r"q\.parquet: queries are read from text; write them as \.csv"),
    ],
)
def test_tables_that_are_no_queries_are_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=message):
        read_queries(tmp_path / name)
