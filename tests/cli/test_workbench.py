"""``plackett workbench``: what the command line opens; the server itself is not started."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from plackett.cli.app import app

pytest.importorskip("starlette", reason="needs the extra serve")
pytest.importorskip("Stemmer", reason="needs the extra text")


def call(*arguments):
    return CliRunner().invoke(app, ["workbench", *map(str, arguments)])


@pytest.fixture
def opened(monkeypatch):
    result = []
    monkeypatch.setattr("plackett.workbench.server.serve", lambda bench, **options: result.append((bench, options)))
    return result


@pytest.fixture
def runs(tmp_path):
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2.5 a\nq1 Q0 d2 2 1.5 a\n")
    (tmp_path / "b.run").write_text("q1 Q0 d2 1 2.5 b\n")
    (tmp_path / "x.qrels").write_text("q1 0 d2 1\nq9 0 d9 2\n")
    return tmp_path


def test_runs_and_judgements_are_opened(opened, runs):
    result = call(runs / "a.run", runs / "b.run", "--qrels", runs / "x.qrels", "--store", runs / "s" / "w.sqlite")
    assert result.exit_code == 0, result.output
    ((bench, options),) = opened
    assert list(bench.source.columns) == ["a", "b"] and bench.labels()["q9"] == {"d9": 2.0}
    assert options == {"host": "127.0.0.1", "port": 8765, "token": None}
    assert (runs / "s" / "w.sqlite").exists()


def test_index_with_queries_and_rankers_is_opened(opened, tmp_path):
    documents = [{"id": "a", "title": "Whales", "body": "Blue whales sing."}, {"id": "b", "body": "A blue sky."}]
    (tmp_path / "docs.jsonl").write_text("\n".join(map(json.dumps, documents)))
    CliRunner().invoke(app, ["index", str(tmp_path / "docs.jsonl"), "--out", str(tmp_path / "i")])
    (tmp_path / "q.tsv").write_text("1\tblue whale\n")
    more = ("--ranker", "RM3", "--ranker", "Dirichlet(mu=100)", "--queries", tmp_path / "q.tsv", "--port", 9000)
    result = call(tmp_path / "i", *more, "--store", tmp_path / "w.sqlite")
    assert result.exit_code == 0, result.output
    ((bench, options),) = opened
    assert list(bench.source.columns) == ["BM25", "RM3", "Dirichlet(mu=100)"] and options["port"] == 9000
    assert bench.query("", "1").text == "blue whale"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere",), "no such file or folder"),
        (("--qrels", "nowhere"), "not a file"),
        (("a.run", "--ranker", "nowhere.run"), "no such file"),
    ],
)
def test_what_is_wrong_is_named(opened, runs, monkeypatch, arguments, said):
    monkeypatch.chdir(runs)
    result = call(*arguments)
    assert result.exit_code != 0 and said in result.output + str(result.exception)
    assert opened == []
