"""``plackett export`` and ``plackett import``."""

from __future__ import annotations

import json

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
    pk.LambdaMART(n_estimators=3, num_leaves=4, min_child_samples=2, n_jobs=1).fit(data).save(tmp_path / "m.plackett")
    pk.ListNet().fit(data).save(tmp_path / "line.plackett")
    return tmp_path


@pytest.mark.parametrize(
    ("to", "file", "largest"),
    [
        ("elasticsearch", "m.json", "0"),
        ("vespa", "m.profile", "0"),
        ("lightgbm", "m.txt", "0"),
        ("solr", "m.json", "e-"),
    ],
)
def test_an_export_with_its_proof(folder, to, file, largest):
    result = run("export", folder / "m.plackett", "--to", to, "--out", folder / file, "--verify", folder / "data.txt")
    assert result.exit_code == 0, result.output
    assert f"LambdaMART as {to}" in result.output and "the export is right" in result.output
    line = next(line for line in result.output.splitlines() if "on thresholds" in line)
    assert largest in line.split("difference")[1]


def test_names_of_features(folder):
    (folder / "names.txt").write_text("title_bm25\nage\nprice\n")
    out = folder / "shop.json"
    result = run(
        *("export", folder / "line.plackett", "--to", "opensearch-ltr", "--out", out),
        *("--feature-names", folder / "names.txt", "--verify", folder / "data.txt"),
    )
    assert result.exit_code == 0, result.output
    weights = json.loads(json.loads(out.read_text())["model"]["model"]["definition"])
    assert [*weights] == [f"{name}{part}" for name in ("title_bm25", "age", "price") for part in ("", "_negative")]
    assert (folder / "shop.features.json").exists()


def test_a_version_of_the_engine(folder):
    """With a version, features may be missing in the engine, and the proof evaluates the rule of this version."""
    for version in ("3.1", "3.8"):
        arguments = ("--to", f"opensearch-ltr@{version}", "--out", folder / "m.json", "--force", "--verify")
        result = run("export", folder / "m.plackett", *arguments, folder / "data.txt")
        assert result.exit_code == 0 and f"opensearch-ltr@{version}, scored" in result.output, result.output


def test_a_wrong_export_fails(folder, monkeypatch):
    """The proof is printed, and the exit status says that it does not hold."""
    from plackett.export.elasticsearch import ElasticsearchFormat

    def rounded(ranker, path):
        pk.write_elasticsearch(ranker, path)
        path.write_text(path.read_text().replace('"decision_type": "lte"', '"decision_type": "lt"'))

    monkeypatch.setattr(ElasticsearchFormat, "write", staticmethod(rounded))
    arguments = ("--to", "elasticsearch", "--out", folder / "m.json", "--verify", folder / "data.txt")
    monkeypatch.setattr("plackett.export.elasticsearch.largest_double", lambda t: np.asarray(t, np.float64))
    result = run("export", folder / "m.plackett", *arguments)
    assert result.exit_code == 1 and "DIFFERS" in result.output


def test_import_and_predict(folder):
    run("export", folder / "m.plackett", "--to", "lightgbm", "--out", folder / "lgb.txt")
    run("export", folder / "m.plackett", "--to", "xgboost", "--out", folder / "xgb.json")
    run("predict", folder / "m.plackett", folder / "data.txt", "--out", folder / "a.txt")
    for argv in (
        ("lgb.txt",),
        ("lgb.txt", "--from", "lightgbm"),
        ("xgb.json", "--from", "xgboost", "--n-features", "3"),
    ):
        file, *rest = argv
        result = run("import", folder / file, *rest, "--out", folder / "new.plackett", "--force")
        assert result.exit_code == 0 and "LambdaMART from" in result.output, result.output
        run("predict", folder / "new.plackett", folder / "data.txt", "--out", folder / "b.txt", "--force")
        np.testing.assert_allclose(read_scores(folder / "b.txt"), read_scores(folder / "a.txt"), atol=1e-6)
    result = run(
        "export", folder / "lgb.txt", "--to", "vespa", "--out", folder / "m.profile", "--verify", folder / "data.txt"
    )
    assert result.exit_code == 0 and "the export is right" in result.output


@pytest.mark.parametrize(
    ("argv", "match"),
    [
        (("export", "m.plackett", "--to", "onxx", "--out", "new"), "did you mean onnx"),
        (("export", "m.plackett", "--to", "vespa@8", "--out", "new"), "the same for all versions; give 'vespa'"),
        (("export", "m.plackett", "--to", "opensearch-ltr@new", "--out", "new"), "give numbers such as '3.8'"),
        (("export", "m.plackett", "--to", "opensearch-ltr@3.3", "--out", "new"), "takes the right side of every split"),
        (("export", "m.plackett", "--to", "vespa", "--out", "data.txt"), "exists"),
        (("export", "m.plackett", "--to", "vespa", "--out", "new.profile", "--feature-names", "none"), "none"),
        (("import", "m.plackett", "--from", "sklearn", "--out", "new"), "pickles"),
        (("import", "data.txt", "--out", "new"), "not recognised"),
        (("import", "data.txt", "--from", "xgboost", "--out", "new"), "not a JSON file"),
    ],
)
def test_refusals(folder, argv, match):
    result = run(*(folder / word if (folder / word).exists() or word.startswith("new") else word for word in argv))
    assert result.exit_code != 0 and (
        match in " ".join(result.output.replace("│", " ").split()) or match in str(result.exception)
    )


def test_file_contents_cannot_command_the_terminal(folder):
    """Neither the line that import prints, nor the card, nor an error has a control character."""
    run("export", folder / "m.plackett", "--to", "xgboost", "--out", folder / "x.json")
    model = json.loads((folder / "x.json").read_text())
    model["learner"]["objective"]["name"] = "\x1b[31mred\x1b]0;title\x07\x9b2J"
    (folder / "bad.json").write_text(json.dumps(model))
    result = run("import", folder / "bad.json", "--out", folder / "bad.plackett")
    assert result.exit_code == 0 and r"\x1b[31mred" in result.output
    loaded = pk.load(folder / "bad.plackett")
    loaded.card_["read_from"] = model["learner"]["objective"]["name"]  # as in a file made by hand
    loaded.save(folder / "bad.plackett")
    shown = run("info", folder / "bad.plackett")
    assert shown.exit_code == 0 and r"\x1b[31mred" in shown.output
    assert not {"\x1b", "\x07", "\x9b"} & {*result.output, *shown.output}


def test_what_is_no_file_is_told(folder):
    for source, word in ((folder / "nothing", "not there"), (folder, "a folder")):
        result = run("import", source, "--out", folder / "x.plackett")
        assert result.exit_code == 2 and word in " ".join(result.output.replace("│", " ").split())


def test_missing_fields(folder):
    result = run("export", folder / "m.plackett", "--to", "solr", "--out", folder / "s.json", "--missing", "zero")
    assert result.exit_code == 0
    for to, value in (("solr", "drop"), ("vespa", "zero")):
        result = run("export", folder / "m.plackett", "--to", to, "--out", folder / "x", "--missing", value)
        assert result.exit_code == 2 and "--missing" in result.output
