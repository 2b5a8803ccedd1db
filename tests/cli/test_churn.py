"""``plackett churn``."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import plackett as pk
from plackett.cli.app import app
from plackett.cli.churn import has_scores


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("churn")
    data = pk.datasets.make_ranking(8, 9, 4, random_state=0)
    pk.write_letor(data, folder / "data.txt")
    for j, name in enumerate(("old", "new")):
        np.savetxt(folder / f"{name}.txt", data.X[:, 2 * j])
    pk.LinearRegression(n_jobs=1, max_iter=5).fit(data).save(folder / "model.plackett")
    return folder


def call(*arguments):
    return CliRunner().invoke(app, ["churn", *map(str, arguments)])


def test_scores_and_models(folder):
    data = pk.read_letor(folder / "data.txt")
    model = pk.load(folder / "model.plackett")
    for files, scores in (
        (("old.txt", "new.txt"), (data.X[:, 0], data.X[:, 2])),
        (("old.txt", "model.plackett"), (data.X[:, 0], model)),
        (("model.plackett", "new.txt"), (model, data.X[:, 2])),
    ):
        done = call(*(folder / name for name in files), folder / "data.txt", "-k", 3, "--json")
        assert done.exit_code == 0, done.output
        result = json.loads(done.stdout)
        assert result["mean"] == pytest.approx(pk.churn(*scores, data, k=3).mean)
        assert result["k"] == 3 and len(result["per_query"]) == 8


def test_a_model_is_no_file_of_scores(tmp_path):
    """Wherever the first bytes of a model end, there may be something that reads like a number."""
    (tmp_path / "model.plackett").write_bytes(b"\xb8\x2d\x01" + bytes(5) + b'{"seconds": 0.07045896')
    (tmp_path / "scores.txt").write_text("0.5\n")
    assert not has_scores(tmp_path / "model.plackett") and has_scores(tmp_path / "scores.txt")


def test_the_page_has_queries_and_examples(folder):
    done = call(
        folder / "old.txt", folder / "new.txt", folder / "data.txt", "-k", 3, "--examples", 1, "--format", "markdown"
    )
    assert done.exit_code == 0, done.output
    assert "What would change for users" in done.stdout and "rank before" in done.stdout
    assert done.stdout.count("rank before") == 1
    same = call(folder / "old.txt", folder / "old.txt", folder / "data.txt")
    assert "100% of the queries stay as they are" in " ".join(same.stdout.split()) and "rank before" not in same.stdout


def test_refusals(folder, tmp_path):
    (tmp_path / "short.txt").write_text("1\n2\n")
    for arguments in (
        (folder / "old.txt", tmp_path / "short.txt", folder / "data.txt"),
        (folder / "old.txt", tmp_path / "none", folder / "data.txt"),
        (folder / "old.txt", folder / "new.txt", folder / "data.txt", "-k", 0),
        (folder / "old.txt", folder / "new.txt", folder / "data.txt", "-m", "nDCX"),
    ):
        assert call(*arguments).exit_code != 0


def test_scores_of_other_data(folder, tmp_path):
    (tmp_path / "short.txt").write_text("1\n2\n")
    result = call(folder / "old.txt", tmp_path / "short.txt", folder / "data.txt")
    assert "short.txt has 2 scores, but" in str(result.exception)
