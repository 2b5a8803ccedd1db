"""The commands on the page for those who come from RankLib run as they stand there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import plackett as pk
from plackett.cli.app import app
from plackett.data.scores import read_scores

PAGE = Path(__file__).resolve().parents[2] / "docs" / "coming-from-ranklib.md"


def commands():
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.replace("\\\n", " ").splitlines() if line.strip()]


def test_the_commands_run_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("train", "vali", "test")):
        data = pk.datasets.make_ranking(n_queries=15, docs_per_query=8, n_features=4, random_state=seed)
        pk.write_letor(data, f"{name}.txt")
    assert len(commands()) >= 7
    for command in commands():
        program, *arguments = shlex.split(command)
        assert program == "plackett"
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, f"{command}: {result.output}"
    np.testing.assert_allclose(read_scores("again.txt"), read_scores("scores.txt"), atol=1e-6)
    assert Path("indri.run").exists() and Path("idv.csv").exists()
