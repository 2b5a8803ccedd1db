"""The studies of the exercises of chapter 11."""

from __future__ import annotations

import time

import numpy as np
import polars as pl
import pytest

import plackett as pk
from studies.cutoffs import cutoffs
from studies.linear_and_trees import linear_and_trees
from studies.linear_weights import linear_weights
from studies.training_time import training_time


def test_a_column_that_is_constant_in_queries_has_weight_for_regression_only():
    frame = linear_weights().frame
    (row,) = frame.filter(pl.col("feature") == "query_0").iter_rows(named=True)
    assert row["alone"] == pytest.approx(row["alone, reversed"])  # all documents of a query tie
    assert abs(row["LinearRegression"]) > 0.05
    for method in ("RankSVM", "ListNet", "ListMLE", "SVMMAP"):
        assert abs(row[method]) < 1e-6
    for method in frame.columns[3:]:
        assert np.linalg.norm(frame[method]) == pytest.approx(1.0)  # all 12 features are shown


def _folds(relevance, seed=0):
    """Three parts of 60 lists whose labels are the best five by a function of two features."""
    rng = np.random.default_rng(seed)
    parts = []
    for part in range(3):
        X = rng.standard_normal((60, 20, 2))
        y = np.argsort(np.argsort(relevance(X), axis=1), axis=1) >= 15
        qid = np.repeat(np.arange(60) + 60 * part, 20)
        parts.append(pk.RankingDataset.from_arrays(X.reshape(-1, 2), y.ravel(), qid=qid))
    return tuple(parts)


@pytest.mark.parametrize(
    ("relevance", "better"),
    [(lambda X: X[..., 0] * X[..., 1], "trees"), (lambda X: X[..., 0] + 2 * X[..., 1], "linear")],
)
def test_trees_win_on_a_product_and_lose_on_a_sum(relevance, better):
    frame = linear_and_trees(_folds(relevance), n_jobs=1).frame
    test = {(row["loss"], row["model"]): row["test"] for row in frame.iter_rows(named=True)}
    for loss in ("Square", "Logistic", "ListNet", "Lambda"):
        assert max(("linear", "trees"), key=lambda model: test[loss, model]) == better


def test_cutoffs_are_those_of_evaluate_and_end_with_the_agreement():
    split = _folds(lambda X: X[..., 0] + 0.4 * X[..., 1])
    rankers = {"good": pk.LinearRegression(), "bad": pk.AdaRank(n_estimators=1, descending=False)}
    frame = cutoffs(split, rankers=rankers, cuts=(1, 5, 10), n_trials=1, n_jobs=1).frame
    assert frame["ranker"].to_list() == ["good", "bad", "τ with nDCG@10"]
    good = pk.LinearRegression().fit(split[0], eval_set=split[1]).predict(split[2])
    expected = pk.evaluate(split[2], good, ["nDCG@5"]).mean["nDCG@5"]
    assert frame.filter(pl.col("ranker") == "good")["nDCG@5"][0] == pytest.approx(expected)
    assert frame["nDCG@10"][-1] == pytest.approx(1.0)


class _Sleeper:
    """Takes as long as a power of the list length says."""

    def __init__(self, power):
        self.power = power

    def fit(self, data):
        time.sleep(0.02 * (data.group.max() / 10) ** self.power)
        return self


def test_exponent_is_the_power_of_the_length():
    frame = training_time({"linear": _Sleeper(1), "quadratic": _Sleeper(2)}, lengths=(10, 20, 40), n_repeats=2).frame
    exponent = dict(zip(frame["ranker"], frame["exponent"], strict=True))
    assert exponent["linear"] == pytest.approx(1, abs=0.3)
    assert exponent["quadratic"] == pytest.approx(2, abs=0.3)
