"""RankNet and LambdaRank: what the spec says of them, beyond the battery."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.losses import Lambda, Logistic

pytest.importorskip("torch", reason="needs the extra `neural`")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    y = np.digitize(X @ [1.0, -1.0, 0.5, 0.0, 0.0] + 0.7 * rng.normal(size=600), [0.0, 1.0])
    return pk.RankingDataset.from_arrays(X, y, np.repeat(np.arange(40), 15))


@pytest.mark.parametrize(("alpha", "graded"), [(0.0, False), (0.1, False), (0.1, True)])
def test_ranknet_without_hidden_layer_finds_the_linear_optimum(data, alpha, graded):
    """The cross entropy of pairs is convex in linear scores: Adam and L-BFGS must meet, with a penalty too."""
    settings = {"hidden": (), "max_epochs": 600, "learning_rate": 0.05, "batch_size": 40}
    network = pk.RankNet(**settings, alpha=alpha, graded=graded).fit(data).predict(data)
    loss = Logistic(normalize=True, graded=graded)
    linear = pk.GradientRanker(loss=loss, model=pk.Linear(alpha=alpha)).fit(data).predict(data)
    best = loss(linear, data)
    assert loss(network, data) == pytest.approx(best, rel=0.002)
    if alpha:
        np.testing.assert_allclose(network - network.mean(), linear - linear.mean(), atol=1e-3 * np.ptp(linear))
    else:
        assert best <= loss(network, data)


def test_ranknet_lambdas_sum_to_zero_in_each_query(data):
    gradient, _ = Logistic().gradient(np.random.default_rng(1).normal(size=data.n_rows) * 300, data)
    np.testing.assert_allclose(np.add.reduceat(gradient, data.offsets[:-1]), 0.0, atol=1e-9)


@pytest.mark.parametrize("measure", ["nDCG@5", "AP", "RR"])
def test_lambdarank_is_locally_optimal(data, measure):
    """Trained weights of a linear scorer do better on the measure than steps away from them in random directions."""
    ranker = pk.GradientRanker(
        loss=Lambda(measure=measure, truncation=None), model=pk.Linear(alpha=0.0, max_iter=200)
    ).fit(data)
    weights = ranker.scorer_.weights[:, 0]
    rng = np.random.default_rng(0)

    def quality(w):
        return pk.evaluate(data, data.X @ w, measure).mean[measure]

    steps = rng.normal(size=(100, weights.size))
    steps *= 0.4 * np.linalg.norm(weights) / np.linalg.norm(steps, axis=1, keepdims=True)
    worse = np.mean([quality(weights + step) <= quality(weights) + 1e-3 for step in steps])
    assert worse > 0.9


def test_lambdarank_follows_its_measure(data):
    """On an easy task it gets about as far as RankNet, whose pairs it weighs."""
    ranker = pk.LambdaRank(max_epochs=60, learning_rate=0.01, hidden=(8,), measure="nDCG@5").fit(data)
    assert ranker.score(data) > 0.9 * pk.RankNet(max_epochs=60, learning_rate=0.01, hidden=(8,)).fit(data).score(data)
