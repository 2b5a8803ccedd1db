"""Networks with NumPy give the scores of PyTorch."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from plackett._base.time_limit import time_limit
from plackett.scorers.networks import NETWORKS
from plackett.scorers.networks import plain as module
from plackett.scorers.networks.features import FeatureMap
from plackett.scorers.networks.feed import scores_of, scoring_feed
from plackett.scorers.neural import NeuralScorer

torch = pytest.importorskip("torch")

KINDS = [
    ("sigmoid", {"hidden": (7,)}),
    ("sigmoid", {"hidden": ()}),
    ("sigmoid", {"hidden": (5, 4), "n_outputs": 3}),
    *[("mlp", {"hidden": (8, 8, 5), "activation": name}) for name in ("relu", "gelu", "silu", "tanh")],
    ("attention", {"hidden": (6, 8), "n_heads": 2, "n_layers": 2}),
    ("attention", {"hidden": (6,), "n_heads": 3, "activation": "gelu", "n_outputs": 2}),
    ("set", {"hidden": (8,), "n_heads": 2, "n_layers": 1}),
    ("set", {"hidden": (6,), "n_heads": 3, "activation": "tanh", "n_outputs": 2}),
    ("groupwise", {"hidden": (6, 8)}),
    ("groupwise", {"hidden": (5,), "activation": "gelu", "n_outputs": 2}),
]


def example(architecture, settings):
    """A network with random weights, and lists of unequal length with a feature of large counts."""
    rng = np.random.default_rng(0)
    network = NETWORKS[architecture](**{"n_features": 4, "n_outputs": 1} | settings)
    weights = {name: rng.normal(size=shape).astype(np.float32) for name, shape in network.shapes().items()}
    group = np.array([3, 1, 40, 0, 17, 1, 300, 25])
    X = rng.normal(size=(group.sum(), 4)).astype(np.float32)
    X[:, 1] = np.round(np.exp(5 * X[:, 1]))
    X[rng.random(X.shape) < 0.2] = 0.0
    features = FeatureMap.learn(X, log1p=architecture != "sigmoid", standardize=True)
    return network, features, weights, X, np.concatenate(([0], np.cumsum(group)))


def by_torch(network, features, weights, X, offsets):
    device = torch.device("cpu")
    feed = scoring_feed(network, features, X, offsets, device, keep=False)
    tensors = {name: torch.from_numpy(weight) for name, weight in weights.items()}
    return scores_of(network, tensors, feed, lambda function, items: [function(i) for i in items])


@pytest.mark.parametrize(("architecture", "settings"), KINDS)
def test_equal_to_torch(architecture, settings, monkeypatch):
    network, features, weights, X, offsets = example(architecture, settings)
    expected = by_torch(network, features, weights, X, offsets)
    scorer = NeuralScorer(network, features, weights, device="cpu")
    result = scorer.predict(X, offsets, 1).reshape(expected.shape)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)
    assert np.ptp(result) > 0.05
    np.testing.assert_array_equal(scorer.predict(X, offsets, 3).reshape(expected.shape), result)
    np.testing.assert_array_equal(scorer.predict(csr_matrix(X), offsets, 1).reshape(expected.shape), result)
    monkeypatch.setattr(module, "_ATTENTION", 1000)  # in bands
    np.testing.assert_allclose(scorer.predict(X, offsets, 1).reshape(expected.shape), result, rtol=1e-6, atol=1e-6)
    again = NeuralScorer.from_arrays(scorer.to_arrays())
    np.testing.assert_array_equal(again.predict(X, offsets).reshape(expected.shape), result)


def test_nothing_to_score():
    network, features, weights, X, _ = example("attention", {"hidden": (6,)})
    scorer = NeuralScorer(network, features, weights)
    assert scorer.predict(X[:0], np.array([0])).shape == (0,)
    assert scorer.predict(X[:0], np.array([0, 0])).shape == (0,)


@pytest.mark.parametrize("architecture", ["attention", "set", "groupwise", "mlp"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_time_limit_ends_the_scores_of_long_lists(architecture, n_jobs, monkeypatch):
    """Also within a list, after it has begun."""
    network, features, weights, X, offsets = example(architecture, {"hidden": (6,)})
    scorer = NeuralScorer(network, features, weights, device="cpu")
    monkeypatch.setattr(module, "_ATTENTION", 10_000)
    asked = []

    def count():
        asked.append(True)

    with time_limit(count):
        scorer.predict(X, offsets, n_jobs)
    n_blocks = -(-len(X) // module._ROWS)
    assert len(asked) > 3 * n_blocks or architecture == "mlp"

    def up():
        raise TimeoutError

    with time_limit(up), pytest.raises(TimeoutError):
        scorer.predict(X, offsets, n_jobs)
