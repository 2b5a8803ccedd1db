from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError
from plackett.data.splits import letor_folds
from plackett.datasets import make_ranking
from plackett.experiments.baselines import letor_baselines
from plackett.experiments.contestants import contestants
from plackett.experiments.experiment import experiment
from plackett.experiments.published import published


def test_settings_of_the_baselines():
    """What section 11.1 of the book says of each."""
    given = letor_baselines("letor3")
    result = {entry.name: entry for entry in contestants(given["rankers"], given["spaces"])}
    parameters = {name: entry.ranker.get_params(deep=False) for name, entry in result.items()}
    assert parameters["Regression"]["alpha"] == parameters["ListNet"]["alpha"] == 0.0  # no penalty
    assert parameters["RankBoost"]["n_thresholds"] == parameters["FRank"]["n_thresholds"] == 255
    assert parameters["AdaRank"]["measure"] == "AP" and given["select"] == "AP"
    assert set(result["RankSVM"].space) == set(result["SVMMAP"].space) == {"C"}
    assert set(result["Regression"].space) == set(result["ListNet"].space) == {"target"}
    for name, entry in result.items():  # each has its published figures
        assert published("ohsumed", type(entry.ranker).__name__).height == 7, name
    assert list(letor_baselines("letor4")["rankers"]) == ["RankSVM", "RankBoost", "ListNet", "AdaRank"]
    with pytest.raises(DataError, match="release='letor5'; give one of 'letor3', 'letor4'"):
        letor_baselines("letor5")


def test_they_run():
    data = make_ranking(30, 8, 5, label_proportions=(0.6, 0.3, 0.1), random_state=0)
    result = experiment(letor_folds(data)[0], measures=["AP"], n_jobs=1, **letor_baselines("letor3"))
    assert not result.failures and len(result.cells) == 7
    values = result.leaderboard["mean_over_folds"].to_numpy()
    random_order = np.random.default_rng(0).random(data.n_rows)
    from plackett import evaluate

    assert values.min() > evaluate(data, random_order, "AP").mean["AP"]
