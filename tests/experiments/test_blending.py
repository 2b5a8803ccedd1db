"""The blended row of an experiment against blends made by hand from its cells."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.datasets import make_ranking
from plackett.experiments.cells import key as cell_key
from plackett.experiments.contestants import contestants
from plackett.losses import Logistic
from plackett.measures.language import parse

RANKERS = ["ListNet", "LinearRegression", "RankSVM"]
OPTIONS = {"folds": 3, "n_trials": 2, "n_jobs": 1, "blend": 2}


@pytest.fixture(scope="module")
def data():
    return make_ranking(45, 8, 5, random_state=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("blended")


@pytest.fixture(scope="module")
def finished(data, folder):
    return pk.experiment(data, RANKERS, ["AP", "nDCG@5"], out=folder, **OPTIONS)


def standardised(scores, data):
    squares = [part.var() * part.size for part in np.split(scores, data.offsets[1:-1])]
    return scores / np.sqrt(sum(squares) / scores.size)


def test_the_best_on_validation_data_in_each_fold(finished):
    assert list(finished.rankers) == [*RANKERS, "Blend of best 2"]
    for fold, split in finished.folds["data"].items():
        cells = sorted((finished.cell(name, fold) for name in RANKERS), key=lambda cell: -cell.validation)[:2]
        blend = finished.cell("Blend of best 2", fold)
        assert blend.setting == {"members": tuple(cell.ranker for cell in cells)}
        valid = np.mean([standardised(cell.valid_scores, split.valid) for cell in cells], axis=0)
        np.testing.assert_allclose(blend.valid_scores, valid, rtol=1e-9)
        assert blend.validation == pytest.approx(pk.evaluate(split.valid, valid, "AP").mean["AP"])
        spreads = [np.abs(cell.valid_scores / standardised(cell.valid_scores, split.valid))[0] for cell in cells]
        test = np.mean([cell.scores / spread for cell, spread in zip(cells, spreads, strict=True)], axis=0)
        np.testing.assert_allclose(blend.scores, test, rtol=1e-9)
        np.testing.assert_array_equal(blend.model().predict(split.test), blend.scores)


def test_loaded_and_resumed(finished, folder, data):
    again = pk.Experiment.load(folder)
    assert again.leaderboard.equals(finished.leaderboard)
    resumed = pk.experiment(data, RANKERS, ["AP", "nDCG@5"], out=folder, **OPTIONS)
    columns = [name for name in finished.leaderboard.columns if not name.endswith("seconds")]
    assert resumed.leaderboard.select(columns).equals(finished.leaderboard.select(columns))
    without = pk.experiment(data, RANKERS, ["AP"], out=folder, **(OPTIONS | {"blend": None}))
    assert list(without.rankers) == RANKERS


def test_rankers_of_other_libraries_are_left_out(data):
    rankers = [*RANKERS[:2], "sklearn.linear_model.Ridge"]
    result = pk.experiment(data, rankers, "AP", **OPTIONS)
    for fold in result.folds["data"]:
        assert set(result.cell("Blend of best 2", fold).setting["members"]) == set(RANKERS[:2])


def test_a_resumed_run_writes_no_blend_again(data, tmp_path):
    stamps = []
    for _ in range(2):
        pk.experiment(data, RANKERS, "AP", search=None, folds=3, n_jobs=1, blend=2, out=tmp_path)
        stamps.append({path: path.stat().st_mtime_ns for path in (tmp_path / "cells").iterdir()})
    assert stamps[0] == stamps[1]


def test_rankers_that_cannot_be_saved_are_left_out(data):
    class Unknown(Logistic):
        """A loss of a script, which no file of a model can name."""

    rankers = {"mine": pk.GradientRanker(loss=Unknown()), "ListNet": pk.ListNet(), "RankSVM": pk.RankSVM()}
    result = pk.experiment(data, rankers, "AP", search=None, **(OPTIONS | {"n_trials": None}))
    assert not result.failures
    for fold in result.folds["data"]:
        assert result.cell("mine", fold).model_path is None
        assert set(result.cell("Blend of best 2", fold).setting["members"]) == {"ListNet", "RankSVM"}


def test_keys_know_the_code_of_the_members_and_of_blending(monkeypatch):
    entry = contestants(pk.Blend(members=(pk.Blend(members=("ListMLE",)), "RankSVM")))[0]
    seen = []
    monkeypatch.setattr(cell_key, "_stamp", lambda modules: seen.append(modules) or "")
    cell_key.identity(entry, parse("AP"), {})
    cell_key.blended_key([])
    assert {"plackett.rankers.listwise.listmle", "plackett.rankers.pairwise.rank_svm"} <= set(seen[0])
    assert set(seen[1]) == {"plackett.experiments.blending", "plackett.rankers.blend"}


@pytest.mark.parametrize(
    ("rankers", "blend", "message"),
    [
        (RANKERS, 1, "blend=1; give the number of rankers to blend, 2 or more"),
        (RANKERS, True, "blend=True; give"),
        (
            ["ListNet", "sklearn.linear_model.Ridge"],
            2,
            "blend=2 needs at least two rankers of plackett, but there are 1",
        ),
    ],
)
def test_refused_before_anything_is_trained(data, rankers, blend, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        pk.experiment(data, rankers, "AP", folds=3, blend=blend, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
