from __future__ import annotations

import pytest

from plackett import DataError
from plackett.text.retrieval.reading import read_queries


@pytest.mark.spec("infra.search_engine")
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
