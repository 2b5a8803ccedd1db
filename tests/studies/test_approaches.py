"""Comparisons of methods: ListNet's curve, the approaches, position weights, IsoRank and QBRank."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import plackett as pk
from studies.approach_comparison import approach_comparison
from studies.isorank_and_qbrank import PRECISION_AT_PERCENT, SEARCH_ENGINE, isorank_and_qbrank
from studies.listnet_curve import listnet_curve
from studies.position_weights import position_weights


def test_the_divergence_falls_while_ndcg_rises():
    study = listnet_curve(n_epochs=60)
    frame = study.frame
    assert (frame["train KL"].diff().drop_nulls() < 0).all()  # gradient descent on a convex loss
    for part in ("train", "test"):
        assert frame[f"{part} 1 − nDCG@5"][-1] < frame[f"{part} 1 − nDCG@5"][0] - 0.2
    tau = float(study.notes[0].rpartition(" ")[2])
    assert 0.3 < tau <= 1


def test_the_divergence_is_that_of_the_top_one_probabilities():
    X = np.random.default_rng(0).standard_normal((30, 2))
    y, qid = np.tile([2.0, 1.0, 0.0], 10), np.repeat(np.arange(10), 3)
    first = listnet_curve(pk.RankingDataset.from_arrays(X, y, qid=qid), n_epochs=1).frame["train KL"][0]
    p = np.exp([2, 1, 0]) / np.exp([2, 1, 0]).sum()
    assert first == pytest.approx((p * np.log(p * 3)).sum())  # equal scores before the first step


def test_mean_ranks_and_winning_numbers_fit_the_values():
    data = pk.datasets.make_ranking(20, 8, 4, random_state=0)
    frame = approach_comparison({"one": data}, n_trials=1, n_jobs=1).frame
    assert set(frame["approach"]) == {"pointwise", "pairwise", "listwise"}
    values = frame["AP, one"].to_numpy()
    wins = [(value > values).sum() for value in values]
    assert frame["winning number"].to_list() == wins
    ranks = [1 + (values > value).sum() + ((values == value).sum() - 1) / 2 for value in values]
    assert frame["mean rank"].to_list() == pytest.approx(ranks)


def test_position_weights_differ_and_all_learn():
    data = pk.datasets.make_ranking(20, 8, 4, random_state=0)
    frame = position_weights(data, n_trials=1, n_jobs=1).frame
    assert frame.height == 8
    weighted = frame.filter(pl.col("ranker").str.starts_with("ListMLE"))["nDCG@10"]
    assert weighted.n_unique() > 1
    random = pk.evaluate(data, np.zeros(data.n_rows), ["nDCG@10"]).mean["nDCG@10"]
    assert (frame["nDCG@10"] > random + 0.05).all()


def test_isorank_and_qbrank_are_compared_by_query():
    data = pk.datasets.make_ranking(30, 10, 4, label_proportions=(0.5, 0.3, 0.2), random_state=0)
    parameters = {"num_leaves": (4,), "learning_rate": (0.1, 0.2), "n_estimators": 5}
    frame = isorank_and_qbrank(data, **parameters, preset=None, n_jobs=1).frame
    assert frame["figure"].to_list()[::3] == ["chosen in each fold", "chosen for all folds", "mean over 2 settings"]
    for _, part in frame.group_by("figure"):
        ours, *others = part.iter_rows(named=True)
        assert ours["method"] == "IsoRank" and ours["difference"] is None
        for row in others:  # folds of equal size: the mean over folds is the mean over queries
            assert row["difference"] == pytest.approx(ours["MAP"] - row["MAP"])
            assert 0 < row["p"] <= 1 and row["standard error"] > 0


def test_one_setting_for_all_folds_is_the_best_on_their_validation_parts_together():
    data = pk.datasets.make_ranking(30, 10, 4, label_proportions=(0.5, 0.3, 0.2), random_state=0)
    result = isorank_and_qbrank(data, num_leaves=(4,), learning_rate=(0.1, 0.2), n_estimators=4, preset=None, n_jobs=1)
    folds = pk.letor_folds(data)
    values = {}
    for rate in (0.1, 0.2):
        for n in range(1, 5):
            rankers = [
                pk.IsoRank(num_leaves=4, learning_rate=rate, n_estimators=n, n_jobs=1).fit(fold.train) for fold in folds
            ]
            valid, test = (
                np.mean(
                    [
                        pk.evaluate(getattr(fold, part), r.predict(getattr(fold, part)), "AP").mean["AP"]
                        for r, fold in zip(rankers, folds, strict=True)
                    ]
                )
                for part in ("valid", "test")
            )
            values[valid] = test
    row = result.frame.row(
        by_predicate=(pl.col("figure") == "chosen for all folds") & (pl.col("method") == "IsoRank"), named=True
    )
    assert row["MAP"] == pytest.approx(values[max(values)])


def test_figures_of_the_isorank_paper():
    assert sum(SEARCH_ENGINE["grades"].values()) == SEARCH_ENGINE["documents"]
    for row in PRECISION_AT_PERCENT.values():
        assert list(row.values()) == sorted(row.values(), reverse=True)
    for share in (20, 40, 60, 80, 100):
        order = sorted(PRECISION_AT_PERCENT, key=lambda r: -PRECISION_AT_PERCENT[r][share])
        assert order == ["IsoRank", "QBRank", "RankSVM"]
