"""Fewer losses against the baseline, for a part of the mean."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.evaluation.risk import reward_risk, urisk
from plackett.rankers.pairwise.lambdamart import LambdaMART
from plackett.rankers.pairwise.risk_sensitive_lambdamart import RiskSensitiveLambdaMART


def task(seed=0, n=60):
    """In most queries the second feature says what is relevant, in the others the first, which is the baseline."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n * 10, 3)).astype(np.float32)
    kind = np.repeat(rng.random(n) < 0.35, 10)
    X[:, 2] = np.where(kind, 1.0, -1.0) + rng.normal(0, 1.5, n * 10)  # which kind, dimly
    good = np.where(kind, X[:, 0], X[:, 1]) + rng.normal(0, 0.3, n * 10)
    return pk.RankingDataset.from_arrays(X, np.digitize(good, [0.5, 1.5]).astype(float), np.arange(n * 10) // 10)


@pytest.mark.parametrize(("risk", "alpha"), [("urisk", 5.0), ("saro", 5.0), ("faro", 1.0)])
def test_it_takes_fewer_risks(risk, alpha):
    data = task()
    settings = {"n_estimators": 30, "num_leaves": 4, "min_child_samples": 20, "n_jobs": 1, "normalize": False}
    base = pk.evaluate(data, data.X[:, 0].astype(float), ["nDCG"]).per_query["nDCG"].to_numpy()

    def values(ranker):
        return pk.evaluate(data, ranker.fit(data).predict(data), ["nDCG"]).per_query["nDCG"].to_numpy()

    plain = values(LambdaMART(**settings))
    careful = values(RiskSensitiveLambdaMART(baseline=0, alpha=alpha, risk=risk, **settings))
    assert reward_risk(careful, base).risk < reward_risk(plain, base).risk
    assert urisk(careful, base, alpha=alpha) > urisk(plain, base, alpha=alpha)


def test_the_baseline_may_be_named(tmp_path):
    data = task(n=10)
    named = data.replace(feature_names=["bm25", "b", "c"])
    ranker = RiskSensitiveLambdaMART(baseline="bm25", n_estimators=4, n_jobs=1).fit(named)
    expected = RiskSensitiveLambdaMART(baseline=0, n_estimators=4, n_jobs=1).fit(data).predict(data)
    np.testing.assert_array_equal(ranker.predict(named), expected)
    ranker.save(tmp_path / "m.plackett")
    np.testing.assert_array_equal(pk.load(tmp_path / "m.plackett").predict(named), expected)
