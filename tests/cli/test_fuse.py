"""``plackett fuse``."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import plackett as pk
from plackett.cli.app import app
from plackett.evaluation.evaluate_run import evaluate_run

QRELS = {"q1": {"c": 1}, "q2": {"y": 1, "x": 0}}


@pytest.fixture
def runs(tmp_path):
    pk.write_run({"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"x": 1.0}}, tmp_path / "one.run")
    pk.write_run({"q1": {"c": 3.0, "b": 2.0}, "q2": {"y": 1.0}}, tmp_path / "two.run")
    pk.write_qrels(QRELS, tmp_path / "qrels")
    return tmp_path


def _call(folder, *arguments):
    return CliRunner().invoke(app, ["fuse", str(folder / "one.run"), str(folder / "two.run"), *map(str, arguments)])


def test_fused_run_is_written(runs):
    result = _call(runs, "--out", runs / "fused", "-p", "k=10", "--weights", "1,2")
    assert result.exit_code == 0, result.output
    fused = {(q, d): s for q, d, s in pk.read_run(runs / "fused").iter_rows()}
    assert fused["q1", "c"] == pytest.approx(1 / 13 + 2 / 11)
    assert fused["q2", "x"] == pytest.approx(1 / 11)


def test_judgements_fit_the_weights_and_the_figures_are_those_of_evaluate(runs):
    result = _call(runs, "--out", runs / "fused", "--method", "borda", "--qrels", runs / "qrels", "-m", "RR", "--json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.output)
    assert record["weights"]["two"] > record["weights"]["one"]
    for name, path in (("one", "one.run"), ("two", "two.run"), ("fused", "fused")):
        expected = evaluate_run(QRELS, runs / path, ["RR"]).mean["RR"]
        assert record["RR"][name] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--weights", "1,b"], "write numbers"),
        (["-p", "kk=3"], "RRF has no parameter 'kk'"),
        (["--method", "rfr"], "did you mean RRF"),
        (["--normalize", "zmuv"], "RRF has no parameter 'normalize'"),
        (["--method", "qqqq"], "shows all"),
        (["--weights", "1,2", "--qrels", "qrels"], "but not both"),
    ],
)
def test_misuse_is_explained_and_nothing_is_written(runs, arguments, message):
    result = _call(runs, "--out", runs / "fused", *arguments)
    assert result.exit_code != 0
    assert message in result.output + str(result.exception)
    assert not (runs / "fused").exists()


def test_an_existing_file_is_kept_without_force(runs):
    (runs / "fused").write_text("mine")
    assert _call(runs, "--out", runs / "fused").exit_code == 2
    assert (runs / "fused").read_text() == "mine"
    assert _call(runs, "--out", runs / "fused", "--force").exit_code == 0


def test_the_same_run_twice_is_refused(runs):
    arguments = [str(runs / "one.run"), str(runs / "one.run"), "--out", str(runs / "fused")]
    result = CliRunner().invoke(app, ["fuse", *arguments])
    assert result.exit_code == 2 and "given twice" in " ".join(result.output.split())


def test_a_folder_that_is_not_there_is_named_before_any_work(runs):
    result = _call(runs, "--out", runs / "nowhere" / "fused")
    assert result.exit_code == 2 and "does not exist" in " ".join(result.output.replace("│", " ").split())


def test_a_run_called_fused_keeps_its_figures(runs):
    """Beside the rows of the result, which are called so too."""
    (runs / "fused.run").write_bytes((runs / "two.run").read_bytes())
    argv = [
        runs / "one.run",
        runs / "fused.run",
        "--out",
        runs / "out",
        "--qrels",
        runs / "qrels",
        "-m",
        "RR",
        "--json",
    ]
    result = CliRunner().invoke(app, ["fuse", *map(str, argv)])
    assert result.exit_code == 0, result.output
    figures = json.loads(result.output)["RR"]
    (given,) = [name for name in figures if name.endswith("/fused")]
    assert list(figures)[1:] == [given, "fused, equal weights", "fused"]
    assert figures[given] == pytest.approx(evaluate_run(QRELS, runs / "two.run", ["RR"]).mean["RR"])
