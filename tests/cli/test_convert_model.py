"""``plackett convert-model``, and models of other tools in ``plackett predict``."""

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
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).astype(np.float32)
    data = pk.RankingDataset.from_arrays(X, (X[:, 0] > 0).astype(float), np.arange(60) // 6)
    pk.write_letor(data, tmp_path / "data.txt")
    pk.LambdaMART(n_estimators=3, n_jobs=1).fit(data).save(tmp_path / "trees.plackett")
    pk.ListNet().fit(data).save(tmp_path / "line.plackett")
    return tmp_path


@pytest.mark.parametrize(("name", "form"), [("trees", "ranklib"), ("line", "ranklib"), ("line", "svm_rank")])
def test_there_and_back(folder, name, form):
    assert run("convert-model", folder / f"{name}.plackett", folder / "other", "--to", form).exit_code == 0
    for model, out in ((f"{name}.plackett", "a.txt"), ("other", "b.txt")):
        assert run("predict", folder / model, folder / "data.txt", "--out", folder / out).exit_code == 0
    np.testing.assert_allclose(read_scores(folder / "b.txt"), read_scores(folder / "a.txt"), rtol=1e-6, atol=1e-7)
    assert run("convert-model", folder / "other", folder / "back.plackett", "--n-features", 3).exit_code == 0
    assert run("predict", folder / "back.plackett", folder / "data.txt", "--out", folder / "c.txt").exit_code == 0
    assert read_scores(folder / "c.txt").tolist() == read_scores(folder / "b.txt").tolist()


def test_data_may_have_more_or_fewer_features_than_a_foreign_model(folder):
    (folder / "wide.txt").write_text("## Coordinate Ascent\n1:1.0 9:2.0\n")
    (folder / "narrow.txt").write_text("## Coordinate Ascent\n1:1.0\n")
    for name in ("wide", "narrow"):  # LETOR text leaves out what is 0: feature 9 is, in all documents
        assert (
            run("predict", folder / f"{name}.txt", folder / "data.txt", "--out", folder / f"{name}.out").exit_code == 0
        )
    assert read_scores(folder / "wide.out").tolist() == read_scores(folder / "narrow.out").tolist()


def test_refusals(folder):
    result = run("convert-model", folder / "line.plackett", folder / "trees.plackett")
    assert result.exit_code == 2 and "exists" in result.output
    result = run("convert-model", folder / "line.plackett", folder / "new", "--to", "onxx")
    assert result.exit_code == 2 and "svm_rank" in result.output


def test_info_about_a_foreign_model(folder):
    (folder / "model.txt").write_text("## Coordinate Ascent\n1:1.0\n")
    result = run("info", folder / "model.txt")
    assert (
        result.exit_code == 0 and "RankLib (Coordinate Ascent)" in result.output and "CoordinateAscent" in result.output
    )
    result = run("info", folder / "model.txt", "--json")
    assert result.exit_code == 0 and '"read_from"' in result.output
    assert run("info", folder / "data.txt").exit_code == 0
