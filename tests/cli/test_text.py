"""``plackett index`` and ``plackett search``."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from plackett.cli.app import app
from plackett.text import Index

pytest.importorskip("Stemmer", reason="needs the extra text")

DOCUMENTS = [
    {"id": "a", "title": "Whales", "body": "Blue whales sing in the deep sea.", "year": 1990, "genre": "nature"},
    {"id": "b", "title": "The sky", "body": "The sky is blue, the sea is wide.", "year": 2005, "genre": "nature"},
    {"id": "c", "title": "A whale of a time", "body": "Comedy with songs.", "year": 1999, "genre": "film"},
]


def call(*arguments):
    return CliRunner().invoke(app, [str(word) for word in arguments])


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs.jsonl").write_text("\n".join(map(json.dumps, DOCUMENTS)))
    result = call("index", tmp_path / "docs.jsonl", "--out", tmp_path / "i", "--kind", "genre=keyword", "--json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["documents"] == 3
    assert record["kinds"] == {"genre": "keyword", "title": "text", "body": "text", "year": "number"}
    assert set(record["fields"]) == {"title", "body", "all"}
    return tmp_path


def test_info_of_an_index_is_what_index_said(folder):
    shown = call("info", folder / "i", "--json")
    assert shown.exit_code == 0 and json.loads(shown.stdout)["documents"] == 3
    assert set(json.loads(shown.stdout)["fields"]) == {"title", "body", "all"}
    said = call("info", folder / "i").stdout
    assert "3 documents" in said and "genre: keyword" in said and "year: number" in said


def test_tables_with_semicolons(tmp_path):
    (tmp_path / "d.csv").write_text("id;title\n1;Wings\n")
    refused = call("index", tmp_path / "d.csv", "--out", tmp_path / "j")
    assert refused.exit_code != 0 and "--separator CHARACTER" in str(refused.exception)
    assert call("index", tmp_path / "d.csv", "--out", tmp_path / "j", "--separator", ";").exit_code == 0
    (tmp_path / "d.csv").write_text("qid;label;f\n1;0;2\n1;1;3\n")
    shown = call("info", tmp_path / "d.csv", "--separator", ";", "--json")
    assert json.loads(shown.stdout)["n_features"] == 1


def test_search_finds_and_explains(folder):
    result = call("search", folder / "i", "blue whales", "-k", "2", "--explain")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("1. a  ") and lines[0].endswith("Whales")
    assert "**Blue whales** sing in the deep sea." in lines[1]
    assert "all:whale" in result.stdout and "in 2 documents" in result.stdout
    actual = json.loads(call("search", folder / "i", "blue whales", "--explain", "--json").stdout)
    assert [hit["id"] for hit in actual] == ["a", "c", "b"]  # c is shorter than b
    for hit in actual:
        assert sum(weight for _, weight, _ in hit["why"]) == pytest.approx(hit["score"], rel=1e-5)


def test_search_with_conditions(folder):
    def ids(*arguments):
        return [hit["id"] for hit in json.loads(call("search", folder / "i", *arguments, "--json").stdout)]

    assert ids("whale year:<1995") == ["a"]
    assert ids("sea", "--filter", "genre:nature -year:1990") == ["b"]
    assert ids("whale", "--field", "title") == ["a", "c"]
    assert ids('whale"', "--plain") == ["a", "c"]
    assert call("search", folder / "i", "zebra").stdout == "nothing found\n"


def test_adding_and_replacing(folder):
    (folder / "more.csv").write_text("id,title,body\na,Whales,gone\nd,New,zebra\n")
    assert call("index", folder / "more.csv", "--out", folder / "i").exit_code == 2
    result = call("index", folder / "more.csv", "--out", folder / "i", "--add")
    assert result.exit_code == 0, result.output
    assert "4 documents" in result.stdout
    index = Index.open(folder / "i")
    assert {index.id(i) for i in range(4)} == {"a", "b", "c", "d"}
    assert "1. d" in call("search", folder / "i", "zebra").stdout
    assert call("index", folder / "more.csv", "--out", folder / "nowhere", "--add").exit_code == 2


def test_saved_folder_is_searched_like_an_index(folder):
    assert call("search", folder / "i", "sea", "--save", folder / "p").exit_code == 0
    assert call("search", folder / "p", "sea").stdout == call("search", folder / "i", "sea").stdout


def test_analysis_is_chosen_once(folder):
    (folder / "stop.txt").write_text("sea\ndeep")
    options = ("--stemmer", "none", "--stop-words", folder / "stop.txt", "--word-ngrams", 2)
    assert call("index", folder / "docs.jsonl", "--out", folder / "j", *options).exit_code == 0
    analyzer = Index.open(folder / "j").analyzer
    assert (analyzer.stemmer, analyzer.stop_words, analyzer.word_ngrams) == (None, ("sea", "deep"), 2)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("index", "{}/none.jsonl", "--out", "{}/x"), "no such file or folder"),
        (("index", "{}/docs.jsonl", "--out", "{}/x", "--stemmer", "englisch"), "did you mean english"),
        (("index", "{}/docs.jsonl", "--out", "{}/x", "--stop-words", "klingon"), "neither english, none nor a file"),
        (("index", "{}/docs.jsonl", "--out", "{}/x", "--kind", "year"), "write name=kind"),
        (("search", "{}/none", "x"), "holds no index"),
        (("search", "{}/i", "x", "--model", "BM26"), "unknown text 'BM26'"),
        (("search", "{}/i", "x", "--model", "Index"), "is not a retrieval model"),
        (("search", "{}/i", "x", "--ranker", "m"), "give --ranker and --features together"),
        (("search", "{}/i", '"x'), "the quotation mark is not closed"),
    ],
)
def test_mistakes_are_named(folder, argv, message):
    result = call(*(word.format(folder) for word in argv))
    assert result.exit_code != 0
    assert message in " ".join((result.output + str(result.exception)).replace("│", " ").split())


def test_a_query_that_begins_with_a_minus(folder):
    result = call("search", folder / "i", "-whale blue")
    assert result.exit_code == 2
    assert "plackett search INDEX -- '-whale blue'" in " ".join(result.output.replace("│", " ").split())
    assert call("search", folder / "i", "--", "-whale blue").stdout.startswith("1. b")
    assert "--kind" not in call("search", folder / "i", "--feild", "x", "y").output  # a misspelt option


def test_search_in_a_field_with_any_model(folder):
    assert "nothing found" in call("search", folder / "i", "sing", "--field", "title", "--model", "RM3").stdout
    assert "1. a" in call("search", folder / "i", "sing", "--field", "body", "--model", "RM3").stdout


def test_dates_are_found_in_strings(folder):
    lines = [{"id": str(i), "body": "x", "released": f"20{i:02}-05-31"} for i in range(30)]
    (folder / "dates.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert call("index", folder / "dates.jsonl", "--out", folder / "d").exit_code == 0
    actual = json.loads(call("search", folder / "d", "released:>=2020-01-01", "-k", 100, "--json").stdout)
    assert [hit["id"] for hit in actual] == [str(i) for i in range(20, 30)]
    (folder / "dates.jsonl").write_text('{"id": "a", "released": "soon"}')
    call("index", folder / "dates.jsonl", "--out", folder / "e")
    result = call("search", folder / "e", "released:>=2020-01-01")
    assert "'released' holds text" in str(result.exception)
    assert "--kind released=date" in str(result.exception)
