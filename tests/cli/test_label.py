"""``plackett label``."""

from __future__ import annotations

import json

import polars as pl
import pytest
from typer.testing import CliRunner

import plackett as pk
from plackett.cli import main
from plackett.cli.app import app


@pytest.fixture
def pool(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    for name, step in (("a", 1), ("b", 3)):
        pk.write_run({q: {f"d{i}": -((i * step) % 8) for i in range(8)} for q in ("q1", "q2")}, folder / name)
    pk.write_qrels({"q1": {"d0": 1}}, tmp_path / "so_far")
    return folder


def _call(*words):
    return CliRunner().invoke(app, ["label", *map(str, words)])


@pytest.mark.parametrize("method", ["depth", "uniform", "statap", "mtc", "hedge", "letor"])
def test_files(pool, tmp_path, method):
    out, qrels = tmp_path / "next.csv", tmp_path / "next.qrels"
    words = ("next", pool, "--labels", tmp_path / "so_far", "--budget", 5, "--method", method)
    found = _call(*words, "--out", out, "--qrels", qrels, "--json")
    assert found.exit_code == 0, found.output
    record = json.loads(found.stdout)
    table = pl.read_csv(out)
    assert table.height == len(record["pairs"]) == pk.read_qrels(qrels).height == 5
    assert table["reason"].to_list() == [pair["reason"] for pair in record["pairs"]]
    assert ("q1", "d0") not in table.select("qid", "docid").rows()
    assert record["judged"] == 1


def test_table(pool):
    found = _call("next", pool / "a", pool / "b", "--budget", 12)
    assert found.exit_code == 0, found.output
    assert "12 of 16 unjudged pairs, 0 judged so far" in found.output
    assert "2 more; write them with --out" in found.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--budget", "100"], "only 16 unjudged"),
        (["--method", "hegde"], "hedge"),
        (["--method", "hedge", "-p", "base=7"], "between 0 and 1"),
        (["--method", "hedge", "-p", "bse=.5"], "base"),
    ],
)
def test_refusals(pool, capsys, monkeypatch, words, message):
    monkeypatch.setattr("sys.argv", ["plackett", "label", "next", str(pool), *words])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code
    assert message in " ".join(capsys.readouterr().err.split())


def test_agree(tmp_path):
    rows = {"query": ["a"] * 6, "docid": range(6), "judge_1": [0, 1, 2, 0, 1, 2], "judge_2": [0, 1, 2, 0, 1, 1]}
    pl.DataFrame(rows).write_csv(tmp_path / "x.csv")
    out = tmp_path / "y.csv"
    found = _call("agree", tmp_path / "x.csv", "--json", "--out", out, "--rule", "median")
    assert found.exit_code == 0, found.output
    record = json.loads(found.stdout)
    assert record["pairs"][0]["kappa"] == pytest.approx(0.75)
    assert pl.read_csv(out)["label"].to_list() == [0, 1, 2, 0, 1, 1]
    text = _call("agree", tmp_path / "x.csv").output
    assert "6 items, 2 judges" in text
    assert "Fleiss" in text


@pytest.mark.parametrize(
    "method", ["depth", "uniform", "statap", "mtc", "hedge", "letor", "svm-sampling", "expected_change"]
)
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
