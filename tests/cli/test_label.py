"""``plackett label``."""

from __future__ import annotations

import json

import polars as pl
import pytest
from typer.testing import CliRunner

import plackett as pk
from plackett import cli
from plackett.cli.app import app


@pytest.fixture
def pool(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    for name, step in (("a", 1), ("b", 3)):
        pk.write_run({q: {f"d{i}": -((i * step) % 8) for i in range(8)} for q in ("q1", "q2")}, folder / name)
    pk.write_qrels({"q1": {"d0": 1}}, tmp_path / "so_far")
    return folder


def _call(*arguments):
    return CliRunner().invoke(app, ["label", *map(str, arguments)])


@pytest.mark.parametrize("method", ["depth", "uniform", "statap", "mtc", "hedge", "letor"])
def test_files(pool, tmp_path, method):
    out, qrels = tmp_path / "next.csv", tmp_path / "next.qrels"
    arguments = ("next", pool, "--labels", tmp_path / "so_far", "--budget", 5, "--method", method)
    result = _call(*arguments, "--out", out, "--qrels", qrels, "--json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    table = pl.read_csv(out)
    assert table.height == len(record["pairs"]) == pk.read_qrels(qrels).height == 5
    assert table["reason"].to_list() == [pair["reason"] for pair in record["pairs"]]
    assert ("q1", "d0") not in table.select("qid", "docid").rows()
    assert record["judged"] == 1


def test_table(pool):
    result = _call("next", pool / "a", pool / "b", "--budget", 12)
    assert result.exit_code == 0, result.output
    assert "12 of 16 unjudged pairs, 0 judged so far" in result.output
    assert "2 more; write them with --out" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--budget", "100"], "only 16 unjudged"),
        (["--method", "hegde"], "hedge"),
        (["--method", "hedge", "-p", "base=7"], "give a number above 0 and below 1"),
        (["--method", "hedge", "-p", "bse=.5"], "base"),
        (["--method", "letor", "-p", "run=9", "--budget", "2"], "error: run=9, but there are 2 runs"),
    ],
)
def test_refusals(pool, capsys, monkeypatch, arguments, message):
    monkeypatch.setattr("sys.argv", ["plackett", "label", "next", str(pool), *arguments])
    with pytest.raises(SystemExit) as stop:
        cli.run()
    assert stop.value.code
    assert message in " ".join(capsys.readouterr().err.split())


def test_agree(tmp_path):
    rows = {"query": ["a"] * 6, "docid": range(6), "judge_1": [0, 1, 2, 0, 1, 2], "judge_2": [0, 1, 2, 0, 1, 1]}
    pl.DataFrame(rows).write_csv(tmp_path / "x.csv")
    out = tmp_path / "y.csv"
    result = _call("agree", tmp_path / "x.csv", "--json", "--out", out, "--rule", "median")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["pairs"][0]["kappa"] == pytest.approx(0.75)
    assert pl.read_csv(out)["label"].to_list() == [0, 1, 2, 0, 1, 1]
    text = _call("agree", tmp_path / "x.csv").output
    assert "6 items, 2 judges" in text
    assert "Fleiss" in text


@pytest.mark.parametrize("method", ["depth", "uniform", "statap", "hedge", "letor", "svm-sampling", "expected_change"])
def test_a_dataset_and_its_model(tmp_path, method):
    import numpy as np

    data = pk.datasets.make_ranking(5, 8, 3, random_state=0)
    some = data.replace(y=np.where(np.arange(data.n_rows) % 3, -1.0, data.y), feature_names=None)
    pk.write_letor(some, tmp_path / "data.txt")
    pk.LinearRegression(n_jobs=1, max_iter=5).fit(data.replace(feature_names=None)).save(tmp_path / "m.plackett")
    out = tmp_path / "next.csv"
    done = _call("next", tmp_path / "data.txt", "--model", tmp_path / "m.plackett", "--method", method, "--budget", 7,
                 "--out", out, "--json")  # fmt: skip
    assert done.exit_code == 0, done.output
    rows = pl.read_csv(out)["docid"].to_list()
    assert len(set(rows)) == 7 and all(some.labels[row] < 0 for row in rows)
    assert json.loads(done.stdout)["judged"] == int((some.labels >= 0).sum())


def test_active_choices_need_a_dataset(pool, tmp_path):
    assert _call("next", pool, "--method", "svm_sampling").exit_code == 2
    assert _call("next", pool, "--model", tmp_path / "none").exit_code == 2


def test_labels_filled_in(pool, tmp_path):
    out = tmp_path / "next.csv"
    assert _call("next", pool, "--budget", 5, "--out", out).exit_code == 0
    head, *rows = out.read_text().splitlines()
    out.write_text("\n".join([head, rows[0] + "1", rows[1] + " 0", *rows[2:]]) + "\n")
    result = _call("next", pool, "--labels", out, "--budget", 14, "--json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["judged"] == 2
    left = {(pair["qid"], pair["docid"]) for pair in record["pairs"]}
    assert len(left) == 14 and not left & {tuple(row.split(",")[:2]) for row in rows[:2]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("qid,docid,label\nq1,d0,1\nq1,d1,good\n", "row 2, column 'label': 'good' is not a number"),
        ("qid,docid\nq1,d0\n", "label"),
        ("", "damaged"),
    ],
)
def test_labels_of_a_bad_table(pool, tmp_path, capsys, monkeypatch, text, message):
    (tmp_path / "x.csv").write_text(text)
    arguments = ["next", str(pool), "--labels", str(tmp_path / "x.csv"), "--budget", "1"]
    monkeypatch.setattr("sys.argv", ["plackett", "label", *arguments])
    with pytest.raises(SystemExit):
        cli.run()
    told = " ".join(capsys.readouterr().err.split())
    assert "x.csv" in told and message in told


def _scored(tmp_path, n_scores=16):
    data = pk.RankingDataset.from_arrays([[float(i)] for i in range(16)], [-1.0, 1.0] * 8, [1] * 8 + [2] * 8)
    pk.write_letor(data, tmp_path / "data.txt")
    (tmp_path / "s.txt").write_text("".join(f"{i}\n" for i in range(n_scores)))
    return "next", tmp_path / "data.txt", "--model", tmp_path / "s.txt", "--budget", 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "hedge", "-p", "base=7"], "give a number above 0 and below 1"),
        (["--method", "svm_sampling", "-p", "base=7"], "no parameters"),
    ],
)
def test_parameters_with_a_dataset(tmp_path, arguments, message):
    result = _call(*_scored(tmp_path), *arguments)
    assert result.exit_code == 2 and message in " ".join(result.output.split())


def test_one_ranking_has_nothing_to_tell_apart(tmp_path):
    assert "two runs or more" in str(_call(*_scored(tmp_path), "--method", "mtc").exception)


def test_scores_of_other_data(tmp_path):
    result = _call(*_scored(tmp_path, 3))
    assert "s.txt has 3 scores, but" in str(result.exception)


def test_agree_with_as_many_labels_of_different_judges(tmp_path):
    rows = [("q", 1, "x", 1), ("q", 1, "y", 1), ("q", 2, "y", 0), ("q", 2, "z", 1), ("q", 3, "x", 0), ("q", 3, "z", 0)]
    pl.DataFrame(rows, ["query", "docid", "judge", "label"], orient="row").write_csv(tmp_path / "x.csv")
    record = json.loads(_call("agree", tmp_path / "x.csv", "--json").stdout)
    assert record["fleiss"] == pytest.approx((2 / 3 - 1 / 2) / (1 - 1 / 2))


def test_agree_on_one_grade(tmp_path):
    pl.DataFrame({"docid": [1, 2], "rater1": [1, 1], "rater2": [1, 1]}).write_csv(tmp_path / "x.csv")
    assert "every label is 1" in _call("agree", tmp_path / "x.csv").output
