from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from plackett.cli.app import app


@pytest.fixture
def files(tmp_path):
    """Two tastes: users and items of the same kind go together."""
    rng = np.random.default_rng(0)
    lines = [
        f"{u}\t{i}\t{rng.integers(1, 6)}\t{u * 100 + i}"
        for u in range(30)
        for i in range(20)
        if u % 2 == i % 2 and rng.random() < 0.7
    ]
    (tmp_path / "all.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "held.txt").write_text("\n".join(lines[::5]) + "\n")
    return tmp_path


def _run(*arguments, code=0):
    result = CliRunner().invoke(app, ["recommend", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.output if code == 0 else " ".join(result.output.replace("│", " ").split())


def test_train_measure_save_and_list(files):
    model = files / "m.plackett"
    output = _run(files / "all.txt", 3, "nobody", "--test", files / "held.txt", "--out", model, "-k", 3, "--json",
                  "-p", "n_factors=4", "-p", "penalty=1.0")  # fmt: skip
    result = json.loads(output)
    assert result["measures"]["nDCG@3"]["factors"] > result["measures"]["nDCG@3"]["popularity"]
    assert all(item % 2 == 1 for item in result["recommended"]["3"])
    again = json.loads(_run(model, 3, "-k", 3, "--json"))
    assert again["recommended"]["3"] == result["recommended"]["3"]
    text = _run(files / "all.txt", 3, "nobody", "--test", files / "held.txt", "-p", "n_factors=4")
    assert "popularity" in text
    assert "nobody (unknown" in text


def test_what_cannot_be(files, tmp_path):
    assert "name users" in _run(files / "all.txt", code=2)
    assert "not a file" in _run(files / "none.txt", 1, code=2)
    assert "no parameter" in _run(files / "all.txt", 1, "-p", "factors=3", code=2)
    (tmp_path / "other.txt").write_text("x\ty\t1\n")
    assert "none of its ratings" in _run(files / "all.txt", 1, "--test", tmp_path / "other.txt", code=2)


def test_a_csv_file_with_names_and_a_model_with_any_name(files):
    lines = (files / "all.txt").read_text().splitlines()
    table = files / "all.csv"
    table.write_text("\n".join(f"u{','.join(line.split()[:3])}" for line in lines))
    result = json.loads(_run(table, "u3", "-k", 3, "--json", "--out", files / "model", "-p", "n_factors=4"))
    assert json.loads(_run(files / "model", "u3", "-k", 3, "--json"))["recommended"] == result["recommended"]
