"""Bagged boosting: the mean of ensembles on bootstraps."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import RankingDataset
from plackett._base.errors import DataError, LossError
from plackett.evaluation.evaluate import evaluate
from plackett.losses.pairwise.lambdas import Lambda
from plackett.losses.pointwise.softmax import Softmax
from plackett.losses.pointwise.square import Square
from plackett.models.trees.model import Trees
from plackett.rankers.pairwise.gbrank import GBRank
from plackett.rankers.pairwise.lambdamart import LambdaMART
from plackett.solvers.monitor import SilentMonitor


def task(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    y = np.digitize(X[:, 0] + rng.normal(0, 1, 300), [-0.5, 0.5, 1.5]).astype(float)
    return RankingDataset.from_arrays(X, y, np.arange(300) // 10)


def test_a_bag_is_boosting_on_its_bootstrap():
    """The first bag alone, times their number: the same as boosting the bootstrap as weights of the queries."""
    data = task()
    settings = {"min_child_samples": 1, "num_leaves": 5, "random_state": 3, "n_jobs": 1}
    bagged = Trees(n_estimators=12, boosting="bagged", n_bags=3, **settings).train(Square(), data, SilentMonitor())
    drawn = np.bincount(np.random.default_rng(3).choice(30, 30), minlength=30).astype(float)
    weighted = data.replace(query_weight=drawn)
    alone = Trees(n_estimators=4, **settings).train(Square(), weighted, SilentMonitor())
    first = 3 * bagged.booster.predict(data.X, num_iteration=4)
    np.testing.assert_allclose(first, alone.booster.predict(data.X), atol=1e-6)
    second = 3 * bagged.booster.predict(data.X, start_iteration=4, num_iteration=4)
    assert np.abs(second - first).max() > 0.01


def bootstraps(data, seed, n):
    rng = np.random.default_rng(seed)
    draws = [np.bincount(rng.choice(data.n_queries, data.n_queries), minlength=data.n_queries) for _ in range(n)]
    return [data.replace(query_weight=draw.astype(float)) for draw in draws]


@pytest.mark.parametrize("loss", [Square(), Softmax(), Lambda()], ids=lambda loss: loss.name)
def test_bags_side_by_side_are_a_mean(loss):
    """Each bag is boosting on its own bootstrap as weights of the queries; the scores are the mean of the bags."""
    data = task()
    settings = {"n_estimators": 6, "min_child_samples": 1, "num_leaves": 5, "random_state": 3, "n_jobs": 1}
    bagged = Trees(n_bags=3, **settings).train(loss, data, SilentMonitor())
    alone = [Trees(**settings).train(loss, part, SilentMonitor()) for part in bootstraps(data, 3, 3)]
    expected = np.mean([part.booster.predict(data.X, raw_score=True) for part in alone], axis=0)
    assert bagged.booster.current_iteration() == 18
    np.testing.assert_allclose(bagged.booster.predict(data.X, raw_score=True), expected, atol=1e-5)


def test_bags_stop_together():
    data, valid = task(), task(seed=1)
    settings = {"num_leaves": 5, "min_child_samples": 2, "learning_rate": 0.3, "n_jobs": 1, "n_bags": 3}
    ranker = LambdaMART(n_estimators=60, early_stopping_rounds=5, **settings).fit(data, eval_set=valid)
    rounds = ranker.best_iteration_
    assert rounds < 60 and len(ranker.history_) == rounds + 5
    assert ranker.booster_.current_iteration() == 3 * rounds
    assert ranker.score(valid) == pytest.approx(max(ranker.history_))
    same = LambdaMART(n_estimators=rounds, **settings).fit(data)
    np.testing.assert_allclose(ranker.predict(valid), same.predict(valid), rtol=1e-9)
    assert ranker.settled() == {"n_estimators": rounds, "early_stopping_rounds": None}


def test_bags_go_on_from_earlier_trees():
    data = task()
    first = LambdaMART(n_estimators=5, num_leaves=4, n_jobs=1, warm_start=True, n_bags=2, gradient_bins=None).fit(data)
    before = first.predict(data)
    both = first.fit(data)
    assert both.booster_.current_iteration() == 20
    added = both.predict(data) - before
    assert np.abs(added).max() > 0.01
    np.testing.assert_allclose(both.booster_.predict(data.X, num_iteration=10), before, rtol=1e-9)


@pytest.mark.parametrize("n_bags", [None, 2])
def test_refit_trains_on_all_with_the_best_rounds(n_bags):
    data, valid = task(), task(seed=1)
    settings = {"num_leaves": 4, "min_child_samples": 2, "learning_rate": 0.3, "n_jobs": 1, "n_bags": n_bags}
    ranker = LambdaMART(n_estimators=40, early_stopping_rounds=5, refit=True, **settings).fit(data, eval_set=valid)
    plain = LambdaMART(n_estimators=40, early_stopping_rounds=5, **settings).fit(data, eval_set=valid)
    assert ranker.history_ == plain.history_
    X, y = np.concatenate([data.X, valid.X]), np.concatenate([data.y, valid.y])
    qid = np.concatenate([data.query_of_row, 100 + valid.query_of_row])
    joint = LambdaMART(n_estimators=ranker.best_iteration_, **settings).fit(X, y, qid=qid)
    np.testing.assert_allclose(ranker.predict(valid), joint.predict(valid.X), rtol=1e-9)
    assert np.abs(ranker.predict(valid) - plain.predict(valid)).max() > 1e-3
    assert ranker.card_["refit"] == {"queries": 60}
    share = LambdaMART(n_estimators=20, validation_fraction=0.3, refit=True, **settings).fit(data)
    assert share.card_["refit"] == {"queries": 30}


def test_what_bags_and_refit_refuse():
    data = task()
    with pytest.raises(DataError, match="n_bags=0"):
        LambdaMART(n_bags=0).fit(data)
    with pytest.raises(LossError, match="has no bags"):
        LambdaMART(n_bags=3, boosting="dart").fit(data)
    with pytest.raises(LossError, match="changes with the rounds"):
        GBRank(n_bags=3, update="average").fit(data)
    with pytest.raises(LossError, match="warm_start"):
        LambdaMART(n_estimators=2, refit=True, warm_start=True, validation_fraction=0.3).fit(data).fit(data)
    with pytest.raises(DataError, match="refit=True"):
        LambdaMART(n_estimators=2, refit=True, calibration="isotonic", validation_fraction=0.3).fit(data)


def test_bagged_lambdamart_varies_less():
    data, new = task(), task(seed=1)

    def scores(**settings):
        ranker = LambdaMART(num_leaves=8, min_child_samples=2, n_jobs=1, **settings).fit(data)
        return ranker.predict(new)

    values = {
        name: [scores(random_state=seed, **settings) for seed in range(4)]
        for name, settings in {
            "subsample": {"n_estimators": 20, "subsample": 0.632},
            "bagged": {"n_estimators": 200, "boosting": "bagged", "n_bags": 10},
        }.items()
    }
    agreement = {name: np.corrcoef(result)[np.triu_indices(4, 1)].mean() for name, result in values.items()}
    assert agreement["bagged"] > agreement["subsample"]
    chance = evaluate(new, np.zeros(300), ["nDCG"]).mean["nDCG"]
    assert evaluate(new, values["bagged"][0], ["nDCG"]).mean["nDCG"] > chance + 0.1
