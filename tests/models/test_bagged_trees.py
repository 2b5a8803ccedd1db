"""Bagged boosting: the mean of ensembles on bootstraps."""

from __future__ import annotations

import numpy as np

from plackett import RankingDataset
from plackett.evaluation.evaluate import evaluate
from plackett.losses.pointwise.square import Square
from plackett.models.trees import Trees
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
    agreement = {name: np.corrcoef(found)[np.triu_indices(4, 1)].mean() for name, found in values.items()}
    assert agreement["bagged"] > agreement["subsample"]
    chance = evaluate(new, np.zeros(300), ["nDCG"]).mean["nDCG"]
    assert evaluate(new, values["bagged"][0], ["nDCG"]).mean["nDCG"] > chance + 0.1
