"""Diversified runs, in Python and on the command line."""

from __future__ import annotations

import json

import polars as pl
import pytest
from typer.testing import CliRunner

import plackett as pk
from plackett import DataError
from plackett.cli.app import app
from plackett.diversity.runs import diversify

RUN = {"q1": {"a": 3.0, "b": 2.9, "c": 2.0}, "2": {"x": 1.0, "y": 0.5}}
ALIKE = [("q1", "a", "b", 1.0), ("q1", "b", "a", 1.0), ("q1", "a", "elsewhere", 0.5)]


def order(run, qid):
    return run.filter(run["qid"] == qid).sort("score", descending=True)["docid"].to_list()


def test_similarities_and_vectors_say_the_same():
    result = diversify(RUN, "MMR", similarity=ALIKE, trade_off=0.5)
    assert order(result, "q1") == ["a", "c", "b"]
    assert order(result, "2") == ["x", "y"]
    vectors = pk.RankingDataset.from_arrays(
        [[1, 0], [1, 0], [0, 1], [1, 0], [0, 1]], None, ["q1", "q1", "q1", "2", "2"], docids=["a", "b", "c", "x", "y"]
    )
    assert diversify(RUN, "MMR", vectors=vectors, trade_off=0.5).equals(result)


@pytest.mark.parametrize(
    "text", ["q1 a b 1\nq1 a elsewhere 0.5\n", "qid,docid,other,weight\nq1,a,b,1\nq1,a,elsewhere,0.5\n", '"q1",a,b\n']
)
def test_similarities_from_the_files_of_relations(tmp_path, text):
    (tmp_path / "alike.csv").write_text(text)
    result = diversify(RUN, "MMR", similarity=tmp_path / "alike.csv", trade_off=0.5)
    assert order(result, "q1") == ["a", "c", "b"]
    (tmp_path / "alike.csv").write_text("q1 a b 1\n\nq1 a b 1\n")
    with pytest.raises(DataError, match=r"alike\.csv, line 3: qid 'q1', docid 'a', other 'b' occurs a second time"):
        diversify(RUN, "MMR", similarity=tmp_path / "alike.csv")


def test_vectors_are_found_by_document_alone():
    result = diversify(RUN, "MMR", similarity=ALIKE, trade_off=0.5)
    names = list("abcxy")
    vectors = pk.RankingDataset.from_arrays([[1, 0], [1, 0], [0, 1], [1, 0], [0, 1]], None, names, docids=names)
    assert diversify(RUN, "MMR", vectors=vectors, trade_off=0.5).equals(result)


def test_command_line_with_vectors_without_queries(tmp_path):
    (tmp_path / "web.run").write_text("".join(f"q1 Q0 {d} {i} {3 - i}.0 t\n" for i, d in enumerate("abc")))
    pl.DataFrame({"docid": list("abc"), "u": [1.0, 1.0, 0.0], "v": [0.0, 0.0, 1.0]}).write_csv(tmp_path / "vectors.csv")
    out = tmp_path / "new.run"
    call = ["diversify", str(tmp_path / "web.run"), "--out", str(out), "--vectors", str(tmp_path / "vectors.csv")]
    done = CliRunner().invoke(app, [*call, "-p", "trade_off=0.3"])
    assert done.exit_code == 0, done.output
    assert [line.split()[2] for line in out.read_text().splitlines()] == ["a", "c", "b"]


def test_aspects_may_differ_in_number_between_queries():
    aspects = [("q1", "one", "a", 0.9), ("q1", "one", "b", 0.9), ("q1", "two", "c", 0.9), ("2", "only", "y", 1.0)]
    result = diversify(RUN, "IASelect", aspects=aspects, relevance="none")
    assert order(result, "q1") == ["a", "c", "b"]
    assert order(result, "2") == ["y", "x"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "MMR needs to know which documents are alike"),
        ({"similarity": ALIKE, "vectors": pk.RankingDataset.from_arrays([[1.0]])}, "say the same thing"),
        ({"vectors": pk.RankingDataset.from_arrays([[1.0]])}, "the dataset has no document ids"),
        (
            {"vectors": pk.RankingDataset.from_arrays([[1.0]], None, ["q1"], docids=["a"])},
            "4 of 5 documents of the run are not in the dataset, the first is 'b' of query 'q1'",
        ),
        ({"similarity": [("q1", "a", "b", 7.0)]}, "similarities must be from 0 to 1"),
        ({"similarity": [("q1", "a", "b", "high")]}, "similarities must be ids and numbers"),
        ({"similarity": [("q1", "1", "b", 1.0)]}, "none of its pairs are documents of the run"),
    ],
)
def test_bad_input_is_refused(given, message):
    with pytest.raises(DataError, match=message):
        diversify(RUN, "MMR", **given)


def test_command_line(tmp_path):
    (tmp_path / "run").write_text("".join(f"{q} Q0 {d} 1 {s} t\n" for q, docs in RUN.items() for d, s in docs.items()))
    (tmp_path / "alike").write_text("q1 a b 1\nq1 b a 1\n")
    (tmp_path / "qrels").write_text("q1 1 a 1\nq1 1 b 1\nq1 2 c 1\n2 1 x 1\n")
    call = ["diversify", str(tmp_path / "run"), "--out", str(tmp_path / "new"), "--similarity", str(tmp_path / "alike")]
    done = CliRunner().invoke(app, [*call, "-p", "trade_off=0.5", "--qrels", str(tmp_path / "qrels"), "--json"])
    assert done.exit_code == 0, done.output
    measures = json.loads(done.output)["measures"]
    assert measures["alpha_nDCG@20"]["after"] > measures["alpha_nDCG@20"]["before"]
    assert [line.split()[2] for line in (tmp_path / "new").read_text().splitlines()] == ["a", "c", "b", "x", "y"]
    again = CliRunner().invoke(app, call)
    assert again.exit_code != 0
    done = CliRunner().invoke(app, [*call, "--force", "--qrels", str(tmp_path / "qrels")])
    assert "2 queries, 5 documents, MMR" in done.output
    assert "alpha_nDCG@20" in done.output
