"""What rankers that learn in parts say of themselves: parameters are used or refused, and nothing stale is kept."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett.testing.rankers import easy_task

MAKE = {"StochasticRank": pk.StochasticRank, "OnlineRankSVM": pk.OnlineRankSVM}


@pytest.fixture(scope="module")
def parts():
    return [pk.RankingDataset.from_arrays(*easy_task(seed)) for seed in (0, 1, 2)]


@pytest.mark.parametrize("name", MAKE)
def test_partial_fit_drops_what_belongs_to_other_weights(name, parts):
    ranker = MAKE[name](n_steps=500, calibration="logistic").fit(parts[0], eval_set=parts[1])
    with pytest.raises(DataError, match=r"partial_fit has no validation data, which calibration='logistic' needs"):
        ranker.partial_fit(parts[2])
    ranker.set_params(calibration=None).partial_fit(parts[2])
    assert not hasattr(ranker, "calibration_") and ranker.history_ == [] and ranker.best_score_ == {}
    with pytest.raises(DataError, match="calibration"):
        ranker.predict_relevance(parts[0])
    sizes = {"queries": parts[0].n_queries + parts[2].n_queries, "rows": parts[0].n_rows + parts[2].n_rows}
    assert ranker.card_["data"] == sizes | {"features": 4, "parts": 2}


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("parameter", [{"validation_fraction": 0.2}, {"early_stopping_rounds": 2}])
def test_partial_fit_refuses_what_needs_validation_data(name, parameter, parts):
    with pytest.raises(DataError, match=next(iter(parameter))):
        MAKE[name](**parameter).partial_fit(parts[0])


def test_files_calibrate_or_refuse(parts, tmp_path):
    path = tmp_path / "train.txt"
    pk.write_letor(parts[0], path)
    ranker = pk.StochasticRank(n_steps=500, calibration="isotonic").fit_file(path, eval_set=parts[1])
    scores = ranker.predict(parts[1])
    expected = pk.calibrate(scores, parts[1].y, "isotonic").probability(scores)
    np.testing.assert_array_equal(ranker.predict_relevance(parts[1]), expected)
    with pytest.raises(DataError, match="fit_file has no validation data, which calibration="):
        pk.StochasticRank(calibration="isotonic").fit_file(path)
    with pytest.raises(DataError, match="give eval_set=… instead"):
        pk.StochasticRank(validation_fraction=0.2).fit_file(path, eval_set=None)
