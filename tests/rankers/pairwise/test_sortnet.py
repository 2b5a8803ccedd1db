"""SortNet: the shared weights, the growing set of pairs."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need the extra 'neural'")

import torch

import plackett as pk
from plackett import DataError
from plackett.rankers.pairwise._sortnet_training import SortNetTraining
from plackett.rankers.pairwise.sortnet import SortNet
from plackett.scorers.comparators.comparative_network import ComparativeNetwork, outputs
from plackett.testing.rankers import easy_task, ndcg


def random_network(rng, d=5, h=7):
    return ComparativeNetwork(
        rng.normal(size=(d, h)), rng.normal(size=(d, h)), *rng.normal(size=(3, h)), rng.normal(size=1)
    )


def test_exchanging_the_documents_exchanges_the_outputs():
    rng = np.random.default_rng(0)
    for _ in range(20):
        net = random_network(rng)
        a, b = rng.normal(size=(2, 11, 7))
        above, below = net.outputs(a, b)
        swapped_above, swapped_below = net.outputs(b, a)
        np.testing.assert_array_equal(above, swapped_below)
        np.testing.assert_array_equal(below, swapped_above)
        same = net.outputs(a, a)
        np.testing.assert_array_equal(*same)
        X = rng.normal(size=(9, 5)).astype(np.float32)
        h = net.bind(X, 1)
        u, v = np.indices((9, 9)).reshape(2, -1)
        np.testing.assert_allclose(h(u, v) + h(v, u), 1.0, rtol=0, atol=2.3e-16)
        np.testing.assert_array_equal(h(u[u == v], v[u == v]), 0.5)


def test_formula_with_all_units_written_out():
    """Mirrored units as units of their own, with the weights that the textbook ties together."""
    rng = np.random.default_rng(1)
    net = random_network(rng)
    X = rng.normal(size=(2, 5)).astype(np.float32).astype(np.float64)

    def sigma(z):
        return 1 / (1 + np.exp(-z))

    def network(u, v):
        into_u = np.hstack([net.first, net.second])  # units, then their mirrors with the inputs exchanged
        into_v = np.hstack([net.second, net.first])
        hidden = sigma(u @ into_u + v @ into_v + np.tile(net.bias, 2))
        return (
            sigma(hidden @ np.concatenate([net.own, net.other]) + net.output[0]),
            sigma(hidden @ np.concatenate([net.other, net.own]) + net.output[0]),
        )

    above, below = network(X[0], X[1])
    result = net.bind(X.astype(np.float32), 1)(np.array([0]), np.array([1]))[0]
    assert result == pytest.approx(0.5 + 0.5 * (above - below), rel=1e-12)
    weights = {name: torch.tensor(array) for name, array in net.to_arrays().items()}
    tensors = outputs(weights, torch.tensor(X[:1]), torch.tensor(X[1:]))
    np.testing.assert_allclose([float(t) for t in tensors], [above, below], rtol=1e-12)


def test_gradient_with_tied_weights():
    rng = np.random.default_rng(2)
    net = random_network(rng)
    weights = {name: torch.tensor(array, requires_grad=True) for name, array in net.to_arrays().items()}
    u, v = (torch.tensor(side) for side in rng.normal(size=(2, 6, 5)))

    def loss(*values):
        above, below = outputs(dict(zip(weights, values, strict=True)), u, v)
        return ((1 - above) ** 2 + below**2).sum()

    assert torch.autograd.gradcheck(loss, tuple(weights.values()))


def test_scaled_features_are_part_of_the_weights():
    X, y, qid = easy_task()
    X = X * np.float32([1, 10, 100, 0.01]) + np.float32([5, -3, 0, 1])
    data = pk.RankingDataset.from_arrays(X, y, qid)
    training = SortNetTraining(SortNet(device="cpu"), data, torch.device("cpu"))
    training.epochs()
    rows = training.map.on(torch.device("cpu"))(torch.tensor(X))
    u, v = np.random.default_rng(0).integers(0, len(X), (2, 40))
    above, below = (t.detach().numpy() for t in outputs(training.weights, rows[u], rows[v]))
    np.testing.assert_allclose(training.network().bind(X, 1)(u, v), 0.5 + 0.5 * (above - below), atol=1e-5)


def test_the_set_grows_by_mistakes_of_the_sort():
    X, y, qid = easy_task(n_queries=30)
    data = pk.RankingDataset.from_arrays(X, y, qid)
    ranker = SortNet(device="cpu", start_pairs=20, n_epochs=2)
    training = SortNetTraining(ranker, data, torch.device("cpu"))
    training.epochs()
    h = training.network().bind(X, 1)
    before = training.winner.size
    assert before == 20 and training.grow()
    winner, loser = training.winner[before:], training.loser[before:]
    assert 0 < winner.size < 2 * y.size * np.log(y.size)
    assert (y[winner] > y[loser]).all() and (qid[winner] == qid[loser]).all()
    assert (h(winner, loser) <= 0.5).all()
    ranker.fit(data)
    assert ranker.n_pairs_[0] == 20 and (np.diff(ranker.n_pairs_) >= 0).all() and ranker.n_pairs_[-1] > 20
    assert max(SortNet(device="cpu", start_pairs=20, max_pairs=50).fit(data).n_pairs_) <= 50


@pytest.mark.parametrize("order", ["quicksort", "degree", "greedy"])
def test_learns_an_order_that_is_not_linear(order):
    """The best documents are near 0: no linear function of the difference tells."""
    rng = np.random.default_rng(3)

    def task(n):
        X = rng.normal(size=(n * 8, 2)).astype(np.float32)
        return X, np.digitize(-np.abs(X[:, 0]), [-1.0, -0.4]).astype(float), np.repeat(np.arange(n), 8)

    X, y, qid = task(80)
    ranker = SortNet(device="cpu", n_hidden=16, learning_rate=0.03, max_iter=10, order=order).fit(X, y, qid=qid)
    new_X, new_y, new_qid = task(40)
    assert ndcg(ranker.predict(new_X, qid=new_qid), new_y, new_qid) > 0.93
    assert ndcg(-np.abs(new_X[:, 0]), new_y, new_qid) == 1.0
    assert ndcg(new_X[:, 0], new_y, new_qid) < 0.85


def test_preferences_and_refusals():
    X = np.arange(12, dtype=np.float32)[:, None] % 4
    pairs = pk.Preferences.from_pairs(
        [(q * 4 + i, q * 4 + j) for q in range(3) for i in range(4) for j in range(i + 1, 4)]
    )
    data = pk.RankingDataset.from_arrays(X, None, np.repeat([0, 1, 2], 4), preferences=pairs)
    assert SortNet(device="cpu", learning_rate=0.05).fit(data).rank(data).tolist() == [1, 2, 3, 4] * 3
    with pytest.raises(DataError, match="n_hidden"):
        SortNet(n_hidden=0, device="cpu").fit(data)
    arrays = random_network(np.random.default_rng(0)).to_arrays()
    for name in ("own", "first", "output"):
        with pytest.raises(DataError, match="comparative_network model is damaged"):
            ComparativeNetwork.from_arrays(arrays | {name: np.zeros((2, 2))})
