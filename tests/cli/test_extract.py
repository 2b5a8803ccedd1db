"""``plackett extract``."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import plackett as pk
from plackett.cli.app import app
from plackett.text import BM25, Dirichlet, Document, Index
from plackett.text.features.extract import extract

pytest.importorskip("Stemmer", reason="needs the extra text")


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(20)]
    documents = [Document(f"d{i}", {"body": " ".join(rng.choice(words, 12))}) for i in range(50)]
    Index.create(tmp_path / "index", documents)
    (tmp_path / "queries.tsv").write_text("".join(f"q{i}\tw{i} w{i + 1}\n" for i in range(9)))
    pk.write_qrels({f"q{i}": {f"d{i}": 1, f"d{i + 9}": 2} for i in range(9)}, tmp_path / "qrels")
    (tmp_path / "f.yaml").write_text("- model: BM25\n- {model: LMIR.DIR, mu: 20}\n- query: idf_sum\n")
    return tmp_path


def _call(folder, *arguments):
    command = ["extract", folder / "index", folder / "queries.tsv", "--features", folder / "f.yaml", *arguments]
    return CliRunner().invoke(app, [str(word) for word in command])


@pytest.mark.parametrize("name", ["train.parquet", "train.letor", "train.plackett", "train.csv"])
def test_files_hold_what_python_gives(folder, name):
    result = _call(folder, "--judgements", folder / "qrels", "-k", 7, "--out", folder / name)
    assert result.exit_code == 0, result.output
    assert "9 queries" in result.output
    queries = {f"q{i}": f"w{i} w{i + 1}" for i in range(9)}
    features = [BM25(), Dirichlet(mu=20), {"query": "idf_sum"}]
    expected = extract(Index.open(folder / "index"), queries, features, judgements=folder / "qrels", k=7)
    actual = pk.read(folder / name)
    np.testing.assert_array_equal(actual.X, expected.X)
    assert actual.y.tolist() == expected.y.tolist()
    assert actual.docids.tolist() == expected.docids.tolist()
    assert actual.qids.tolist() == expected.qids.tolist()


def test_candidates_and_folds(folder):
    result = _call(
        folder, "--candidates", "BM25", "--candidates", "LMIR.DIR", "--out", folder / "pool.parquet", "--json"
    )
    assert result.exit_code == 0, result.exception
    assert json.loads(result.output)["features"] == ["BM25()", "Dirichlet(mu=20)", "query idf_sum"]
    judged = _call(folder, "--judgements", folder / "qrels", "--candidates", "judged", "--out", folder / "j.parquet")
    assert "18 documents" in judged.output
    pk.write_run({"q1": {"d3": 1.0}}, folder / "run")
    with pytest.warns(pk.PlackettWarning, match="8 of 9 queries have no candidates"):
        given = _call(folder, "--candidates", folder / "run", "--out", folder / "r.parquet")
    assert "1 queries, 1 documents" in given.output
    folds = _call(folder, "--judgements", folder / "qrels", "--folds", 3, "--out", folder / "folds")
    assert folds.exit_code == 0, folds.output
    read = pk.read_folds(folder / "folds")
    assert len(read) == 3
    assert sum(fold.test.n_queries for fold in read) == 9


def test_errors(folder):
    (folder / "f.yaml").write_text("- model: BM52\n")
    result = _call(folder, "--out", folder / "x.letor")
    assert result.exit_code != 0
    assert "BM25" in str(result.exception)
    assert not (folder / "x.letor").exists()
