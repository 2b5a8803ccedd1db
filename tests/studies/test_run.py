"""``python studies/run.py``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import plackett as pk
from studies.run import app


def _call(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def test_list_names_the_studies_with_their_questions():
    result = _call("--list")
    assert result.exit_code == 0, result.output
    assert "push-and-owa" in result.output and "Does the order of the rankers change" in result.output


def test_a_study_is_printed_and_written(tmp_path):
    result = _call("push-and-owa", "--out", tmp_path / "push.md")
    assert result.exit_code == 0, result.output
    assert "dABCef" in result.output
    assert (tmp_path / "push.md").read_text("utf-8").startswith("**P-norm push")


def test_a_study_of_a_file(tmp_path):
    pk.write_letor(pk.datasets.make_ranking(20, 8, 3, random_state=0), tmp_path / "mine.txt")
    result = _call("measure-relations", "--data", tmp_path / "mine.txt", "--out", tmp_path / "found.json", "--seed", 3)
    assert result.exit_code == 0, result.output
    assert "mine" in json.loads((tmp_path / "found.json").read_text("utf-8"))["question"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["push-and-owl"], "did you mean"),
        (["push-and-owa", "--data", "mq2008"], "generates its own data"),
        (["push-and-owa", "--out", "x.docx"], "the suffix must be one of"),
        (["push-and-owa", "--trials", "3"], "Invalid value for --trials: push-and-owa does not use this option"),
    ],
)
def test_misuse_is_explained(arguments, message):
    result = _call(*arguments)
    assert result.exit_code != 0
    assert message in " ".join(result.output.replace("│", " ").split())


def test_it_runs_as_a_program_from_any_folder(tmp_path):
    program = Path(__file__).resolve().parents[2] / "studies" / "run.py"
    ran = subprocess.run(
        [sys.executable, program, "push-and-owa", "--out", "push.json"], cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.returncode == 0 and "dABCef" in ran.stdout, ran.stderr
    assert json.loads((tmp_path / "push.json").read_text("utf-8"))["rows"]
    again = subprocess.run(
        [sys.executable, program, "push-and-owa", "--out", "push.json"], cwd=tmp_path, capture_output=True, text=True
    )
    assert again.returncode == 2 and "pass --force to overwrite it" in " ".join(again.stderr.split())


def test_it_takes_the_columns_of_tables():
    for option in ("--qid", "--label", "--docid", "--weight", "--features", "--drop"):
        assert option in _call("--help").output
