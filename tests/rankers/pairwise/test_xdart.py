"""X-DART: LambdaMART where nothing is dropped, smaller where trees are dropped for good."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.models.trees.dropout import RESCALES, SAMPLES
from plackett.rankers.pairwise.xdart import XDART

SETTINGS = {"n_estimators": 60, "num_leaves": 8, "min_child_samples": 5, "n_jobs": 1}


def task(seed=0, n_queries=60):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), 12)
    X = rng.normal(size=(qid.size, 5)).astype(np.float32)
    y = np.digitize(X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=qid.size), [-0.5, 0.7]).astype(float)
    return pk.RankingDataset.from_arrays(X, y, qid)


def test_without_dropout_it_is_lambdamart():
    data = task()
    plain = pk.LambdaMART(**SETTINGS).fit(data)
    result = XDART(**SETTINGS, drop_rate=0).fit(data)
    np.testing.assert_allclose(result.predict(data), plain.predict(data), rtol=1e-12, atol=1e-12)


def test_fewer_trees_of_about_the_same_quality():
    data, new = task(), task(2)
    dart = XDART(**SETTINGS, drop_for_good="never").fit(data)
    small = XDART(**SETTINGS).fit(data)
    assert dart.scorer_.booster.num_trees() == 60
    assert small.scorer_.booster.num_trees() <= 40
    assert small.score(new) > dart.score(new) - 0.02


@pytest.mark.parametrize(
    "variant",
    [{"drop_sample": name} for name in SAMPLES]
    + [{"rescale": name} for name in RESCALES]
    + [{"drop_growth": 1 / 3, "drop_restart": False}, {"skip_drop": 0.5}, {"judge_on_train": True}],
    ids=str,
)
def test_every_variant_learns(variant):
    data, new = task(), task(2)
    plain = pk.LambdaMART(**SETTINGS).fit(data).score(new)
    result = XDART(**SETTINGS | {"learning_rate": 0.2}, drop_rate=0.1, **variant).fit(data, eval_set=task(1))
    chance = pk.evaluate(new, np.zeros(new.n_rows), ["nDCG@10"]).mean["nDCG@10"]
    assert result.score(new) > chance + 0.7 * (plain - chance)
