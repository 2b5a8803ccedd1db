"""``plackett early-exit`` and ``plackett predict --all-trees``."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import plackett as pk
from plackett.cli.app import app
from plackett.data.scores import read_scores


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path):
    train, valid = (pk.datasets.make_ranking(30, n_features=4, random_state=seed) for seed in (0, 1))
    pk.write_letor(valid, tmp_path / "valid.txt")
    pk.LambdaMART(n_estimators=30, num_leaves=6, n_jobs=1).fit(train).save(tmp_path / "m.plackett")
    return tmp_path


def test_a_model_with_its_exit(folder):
    out, valid = folder / "fast.plackett", folder / "valid.txt"
    result = run("early-exit", folder / "m.plackett", valid, "--out", out, "--max-loss", 0.2)
    assert result.exit_code == 0, result.output
    exit_ = pk.load(out).card_["exit"]
    assert f"after {exit_['trees']} trees the best {exit_['keep']} of a list continue" in result.output
    for name, model, options in (("a", out, []), ("b", out, ["--all-trees"]), ("c", folder / "m.plackett", [])):
        assert run("predict", model, valid, "--out", folder / name, *options).exit_code == 0
    scores = {name: read_scores(folder / name) for name in "abc"}
    assert np.array_equal(scores["b"], scores["c"]) and not np.array_equal(scores["a"], scores["b"])
    pipeline_like = run("predict", folder / "m.plackett", valid, "--out", folder / "d", "--all-trees")
    assert pipeline_like.exit_code == 0


def test_exits_of_whole_lists(folder):
    out = folder / "fast.plackett"
    result = run(
        "early-exit", folder / "m.plackett", folder / "valid.txt", "--out", out, "--max-loss", 0.5, "--rule", "query"
    )
    assert result.exit_code == 0, result.output
    exit_ = pk.load(out).card_["exit"]
    assert exit_["rule"] == "query" and exit_["work"] < 1.0
    assert "unsettled lists continue" in result.output


def test_refusals(folder):
    arguments = ("early-exit", folder / "m.plackett", folder / "valid.txt", "--out", folder / "x.plackett")
    result = run(*arguments, "--rule", "luck")
    assert result.exit_code == 2 and "capacity" in result.output
    result = run(*arguments, "--rule", "exact", "--max-loss", 0, "-m", "nDCG@10")
    assert result.exit_code in (0, 1)  # saves nothing on lists this short, or a little
    if result.exit_code == 1:
        assert "nothing is written" in result.output and not (folder / "x.plackett").exists()
