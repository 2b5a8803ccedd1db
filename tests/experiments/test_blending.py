"""The blended row of an experiment against blends made by hand from its cells."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.datasets import make_ranking

RANKERS = ["ListNet", "LinearRegression", "RankSVM"]
OPTIONS = {"folds": 3, "n_trials": 2, "n_jobs": 1, "blend": 2}


@pytest.fixture(scope="module")
def data():
    return make_ranking(45, 8, 5, random_state=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("blended")


@pytest.fixture(scope="module")
def found(data, folder):
    return pk.experiment(data, RANKERS, ["AP", "nDCG@5"], out=folder, **OPTIONS)


def standardised(scores, data):
    squares = [part.var() * part.size for part in np.split(scores, data.offsets[1:-1])]
    return scores / np.sqrt(sum(squares) / scores.size)


def test_the_best_on_validation_data_in_each_fold(found):
    assert list(found.rankers) == [*RANKERS, "Blend of best 2"]
    for fold, split in found.folds["data"].items():
        cells = sorted((found.cell(name, fold) for name in RANKERS), key=lambda cell: -cell.validation)[:2]
        blend = found.cell("Blend of best 2", fold)
        assert blend.setting == {"members": tuple(cell.ranker for cell in cells)}
        valid = np.mean([standardised(cell.valid_scores, split.valid) for cell in cells], axis=0)
        np.testing.assert_allclose(blend.valid_scores, valid, rtol=1e-9)
        assert blend.validation == pytest.approx(pk.evaluate(split.valid, valid, "AP").mean["AP"])
        spreads = [np.abs(cell.valid_scores / standardised(cell.valid_scores, split.valid))[0] for cell in cells]
        test = np.mean([cell.scores / spread for cell, spread in zip(cells, spreads, strict=True)], axis=0)
        np.testing.assert_allclose(blend.scores, test, rtol=1e-9)
        np.testing.assert_array_equal(blend.model().predict(split.test), blend.scores)


def test_loaded_and_resumed(found, folder, data):
    again = pk.Experiment.load(folder)
    assert again.leaderboard.equals(found.leaderboard)
    resumed = pk.experiment(data, RANKERS, ["AP", "nDCG@5"], out=folder, **OPTIONS)
    columns = [name for name in found.leaderboard.columns if not name.endswith("seconds")]
    assert resumed.leaderboard.select(columns).equals(found.leaderboard.select(columns))
    without = pk.experiment(data, RANKERS, ["AP"], out=folder, **(OPTIONS | {"blend": None}))
    assert list(without.rankers) == RANKERS


def test_rankers_of_other_libraries_are_left_out(data):
    rankers = [*RANKERS[:2], "sklearn.linear_model.Ridge"]
    found = pk.experiment(data, rankers, "AP", **OPTIONS)
    for fold in found.folds["data"]:
        assert set(found.cell("Blend of best 2", fold).setting["members"]) == set(RANKERS[:2])


@pytest.mark.parametrize(
    ("rankers", "blend", "message"),
    [
        (RANKERS, 1, "blend=1; give the number of rankers to blend, 2 or more"),
        (RANKERS, True, "blend=True; give"),
        (
            ["ListNet", "sklearn.linear_model.Ridge"],
            2,
            "blend=2 needs at least two rankers of plackett, and there are 1",
        ),
    ],
)
def test_refused_before_anything_is_trained(data, rankers, blend, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        pk.experiment(data, rankers, "AP", folds=3, blend=blend, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
