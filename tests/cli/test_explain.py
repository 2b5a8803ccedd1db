"""``plackett explain``."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import plackett as pk
from plackett.cli.app import app


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explain")
    data = pk.datasets.make_ranking(n_queries=20, docs_per_query=(5, 8), n_features=4, random_state=0)
    pk.rankers.ListNet().fit(data).save(folder / "model.plackett")
    pk.write_letor(data, folder / "data.txt")
    return folder, data


def run(folder, *arguments):
    return CliRunner().invoke(app, ["explain", str(folder / "model.plackett"), str(folder / "data.txt"), *arguments])


def test_list_document_and_pair(files):
    folder, data = files
    result = pk.explain(pk.load(folder / "model.plackett"), data, data.qids[3])
    query = str(data.qids[3])
    listed = json.loads(run(folder, "-q", query, "--json").stdout)
    assert listed["method"] == "linear"
    (rows,) = listed["tables"].values()
    assert [row["score"] for row in rows] == pytest.approx(sorted(result.scores, reverse=True), rel=1e-5)
    best, worst = str(rows[0]["document"]), str(rows[-1]["document"])
    pair = json.loads(run(folder, "-q", query, "-d", worst, "--above", best, "--json").stdout)["tables"]
    assert set(pair) == {f"why {best} is above {worst}", f"changes that would lift {worst} above {best}"}
    total = sum(row["contribution"] for row in pair[f"why {best} is above {worst}"])
    assert total == pytest.approx(rows[0]["score"] - rows[-1]["score"], rel=1e-4)
    assert "contribution" in run(folder, "-q", query, "-d", best).stdout
    wrong = run(folder, "-q", query, "-d", best, "--above", worst)
    assert wrong.exit_code == 1 and "swap the two" in str(wrong.exception)


def test_misuse(files):
    folder, data = files
    assert run(folder, "-q", str(data.qids[0]), "--above", "1").exit_code == 2
    assert "no query" in str(run(folder, "-q", "nothing").exception)
