"""The headline of an experiment, and the reasons not to believe its figures."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t
from sklearn.linear_model import Ridge

import plackett as pk
from plackett import RankingDataset
from plackett.experiments.doubts import doubts
from plackett.experiments.experiment import experiment


class Feature(Ridge):
    """Scores with one feature, times a factor."""

    def __init__(self, feature=0, factor=1.0):
        super().__init__()
        self.feature, self.factor = feature, factor

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.factor * np.asarray(X)[:, self.feature]


def data_of(n_queries=24, n_documents=6, lowest=0, seed=0):
    """Features 0 and 2 say the label, 0 with less noise; feature 1 says nothing."""
    rng = np.random.default_rng(seed)
    y = np.tile(np.arange(n_documents) % 3, n_queries).astype(float)
    noise = rng.normal(size=(y.size, 3))
    X = np.column_stack([y + 0.3 * noise[:, 0], noise[:, 1], y + 0.33 * noise[:, 2]])
    return RankingDataset.from_arrays(X, y + lowest, np.repeat(np.arange(n_queries), n_documents))


def run(data, rankers, measures=("nDCG@5",), **options):
    return experiment(data, rankers, list(measures), **({"search": None, "folds": 3, "n_jobs": 1} | options))


GOOD, BAD, NEAR = Feature(0), Feature(1), Feature(2)


def test_a_reliable_difference_is_named_with_its_size_and_interval():
    result = run(data_of(), {"bad": BAD, "good": GOOD})
    gap = result.evaluation("data", "good").values["nDCG@5"] - result.evaluation("data", "bad").values["nDCG@5"]
    half = t.ppf(0.975, gap.size - 1) * gap.std(ddof=1) / np.sqrt(gap.size)
    low, high = gap.mean() - half, gap.mean() + half
    expected = f"{gap.mean():+.3f} nDCG@5 (95 % interval {low:+.3f} to {high:+.3f})"
    assert result.headline() == f"good is reliably better than bad: {expected}"
    assert result.headline() in result.to_terminal() and doubts(result) == []


def test_a_falling_measure_is_better_when_lower():
    result = run(data_of(), {"bad": BAD, "good": GOOD}, ["Misranking"])
    assert result.headline().startswith("good is reliably better than bad: \N{MINUS SIGN}")


def test_no_ranker_is_reliably_better():
    result = run(data_of(n_queries=9), {"good": GOOD, "near": NEAR})
    assert result.headline() == "No ranker is reliably better by nDCG@5"


def test_rankers_that_cannot_be_told_apart_and_those_that_are_worse_are_named():
    result = run(data_of(n_queries=12), {"bad": BAD, "good": GOOD, "near": NEAR, "awful": Feature(0, -1.0)})
    best, next_best = result.leaderboard["ranker"][:2]
    expected = f"{best} and {next_best} cannot be told apart by nDCG@5; bad and awful are reliably worse than {best}"
    assert {best, next_best} == {"good", "near"} and result.headline() == expected


def test_selection_is_by_the_first_measure():
    result = run(data_of(), {"bad": BAD, "good": GOOD}, ["P@1", "AP"])
    assert result.select == "P@1"
    assert run(data_of(), {"bad": BAD, "good": GOOD}, ["P@1", "AP"], select="AP").select == "AP"
    validated = pk.cross_validate(data_of(), Ridge(), ["P@1", "AP"], settings={"alpha": [0.1, 10.0]}, folds=3)
    assert validated.select == "P@1"


def test_grades_from_1_on_make_no_verdict():
    """Every document is relevant, so AP is 1 for any ranking."""
    result = run(data_of(lowest=1), {"bad": BAD, "good": GOOD}, ["AP", "nDCG@5"])
    assert set(result.leaderboard.filter(measure="AP")["mean_over_queries"]) == {1.0}
    assert result.headline() == "No ranker is better: AP is the same for all of them on every query"
    said = " ".join(doubts(result))
    assert "labels of data start at 1" in said and "AP(rel=2)" in said
    assert "AP has the same value for all rankers on every test query" in said
    assert "good and bad have the same AP on the validation data" in said and "bad was chosen because" in said
    assert all(sentence in result.to_terminal() for sentence in doubts(result))


def test_a_winner_by_luck_of_the_validation_data():
    """Validation labels turned round choose the worse ranker: the headline says what test data say."""
    data = data_of(60)
    train, valid, test = pk.split_queries(data, (0.3, 0.3, 0.4), random_state=0)
    split = (train, replace(valid, y=2 - valid.y), test)
    result = run(split, {"bad": BAD, "good": GOOD})
    assert result.best() == "bad"
    assert result.headline().startswith("bad was best on validation data, but good is better on test data: +0.")


@pytest.mark.parametrize("factor", [0.0, 1.0])
def test_equal_scores(factor):
    result = run(data_of(), {"flat": Feature(0, factor), "good": Feature(2)})
    flat = [sentence for sentence in doubts(result) if "same score" in sentence]
    assert len(flat) == (0 if factor else 1)
    assert all("folds 1, 2, 3" in sentence and "flat gives" in sentence for sentence in flat)


def test_one_ranker_and_equal_rankers():
    assert "there is no other ranker" in run(data_of(), {"good": GOOD}).headline()
    result = run(data_of(), {"one": GOOD, "two": GOOD})
    assert "the same for all of them" in result.headline()
