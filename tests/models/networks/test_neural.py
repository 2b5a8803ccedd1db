"""Neural models: gradients against differences, equal treatment of documents, training, storage."""

from __future__ import annotations

import itertools
import pickle
import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from plackett._base.errors import DataError, LossError
from plackett._files.storage import read, write
from plackett._kernels.torch_threads import load_torch, threads
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss
from plackett.losses.listwise.listmle import ListMLELoss
from plackett.losses.listwise.listnet import ListNetLoss
from plackett.losses.pairwise.logistic import Logistic
from plackett.losses.pairwise.squared_hinge import SquaredHinge
from plackett.losses.pointwise.softmax import Softmax
from plackett.losses.pointwise.square import Square
from plackett.measures import parse
from plackett.measures.ranking import Scored
from plackett.models.linear import Linear
from plackett.models.networks.neural import Neural
from plackett.models.networks.training import Training
from plackett.models.trees.model import Trees
from plackett.scorers.linear import LinearScorer
from plackett.scorers.networks import NETWORKS
from plackett.scorers.networks.base import dropped
from plackett.scorers.networks.blocks import batches
from plackett.scorers.networks.features import FeatureMap
from plackett.scorers.networks.lists import Lists
from plackett.scorers.neural import NeuralScorer
from plackett.solvers.monitor import Monitor

torch = pytest.importorskip("torch", reason="neural models need PyTorch: pip install 'plackett[neural]'")

NDCG = parse("nDCG@10")
ARCHITECTURES = ("sigmoid", "mlp", "attention", "set", "groupwise")


@pytest.fixture(autouse=True)
def one_thread():
    """PyTorch's own threads only slow these small networks down, badly so on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def lists(n_queries=40, d=6, mean=12, seed=0, noise=0.1):
    """Labels of a product and a sum of features: neither is enough for a linear function to be perfect."""
    rng = np.random.default_rng(seed)
    group = np.maximum(rng.poisson(mean, n_queries), 1)
    X = rng.standard_normal((group.sum(), d)).astype(np.float32)
    latent = X[:, 0] + 0.7 * X[:, 1] * X[:, 2] + noise * rng.standard_normal(group.sum())
    return RankingDataset.from_arrays(X, np.digitize(latent, [-0.5, 0.5, 1.5]), np.repeat(np.arange(n_queries), group))


def ndcg(scorer, data, loss):
    scores = loss.ranking_scores(scorer.predict(data.X, data.offsets, 1))
    return NDCG.mean(NDCG.per_query(Scored(data, scores)))


def small(architecture="mlp", **parameters):
    hidden = {"sigmoid": (8,), "mlp": (16, 16)}.get(architecture, (16,))
    chosen = {"hidden": hidden, "n_heads": 2, "max_epochs": 3, "dropout": 0.0, "n_jobs": 1, "device": "cpu"}
    return Neural(architecture=architecture, **chosen | parameters)


def untrained(architecture, data, n_outputs=1, **parameters):
    """A scorer with its first weights, the output layer at full size."""
    network = small(architecture, **parameters)._network(data.n_features, n_outputs)
    weights = network.initial(np.random.default_rng(5))
    weights["output.weight"] *= 10
    features = FeatureMap.learn(data.X, log1p=network.default_log1p, standardize=True)
    return NeuralScorer(network, features, weights, "cpu")


# ------------------------------------------------------------------------------------------------------------ gradient


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("loss", [SquaredHinge(margin=1.0), ListNetLoss(), Softmax(n_classes=4)], ids=str)
def test_gradient_against_differences(architecture, loss):
    """Back-propagated gradient of the loss against central differences, in double precision."""
    data = lists(3, d=4, mean=5)
    bound = loss.bind(data)
    network = small(architecture, activation="tanh")._network(data.n_features, bound.n_outputs)
    first = network.initial(np.random.default_rng(1))
    weights = {name: torch.tensor(w, dtype=torch.float64).requires_grad_() for name, w in first.items()}
    rows, places = torch.tensor(data.X, dtype=torch.float64), Lists.of(data.group, torch.device("cpu"))

    def outputs():
        return network.scores(weights, rows, places)

    def value():
        scores = outputs().detach().numpy()
        return bound.evaluate(scores[:, 0] if bound.n_outputs == 1 else scores)[0].sum()

    scores = outputs()
    array = scores.detach().numpy()
    slope = bound.evaluate(array[:, 0] if bound.n_outputs == 1 else array)[1]
    scores.backward(torch.tensor(slope.reshape(array.shape)))
    rng = np.random.default_rng(2)
    for name, tensor in weights.items():
        flat, gradient = tensor.detach().view(-1), tensor.grad.view(-1)
        for i in rng.choice(flat.numel(), min(4, flat.numel()), replace=False):
            kept, step = flat[i].item(), 1e-5
            flat[i] = kept + step
            above = value()
            flat[i] = kept - step
            below = value()
            flat[i] = kept
            assert gradient[i].item() == pytest.approx((above - below) / (2 * step), rel=1e-5, abs=1e-7), name


def test_two_layer_formula():
    data = lists(4)
    scorer = untrained("sigmoid", data)
    w = {name: array.astype(np.float64) for name, array in scorer.weights.items()}
    w["hidden.0.bias"] += 0.3
    w["output.bias"] += 0.5
    scorer = NeuralScorer(scorer.network, scorer.features, {n: a.astype(np.float32) for n, a in w.items()}, "cpu")
    x = (data.X - scorer.features.mean) * scorer.features.scale
    expected = np.zeros(data.n_rows)
    for h in range(8):
        expected += w["output.weight"][0, h] / (1 + np.exp(-(x @ w["hidden.0.weight"][h] + w["hidden.0.bias"][h])))
    np.testing.assert_allclose(scorer.predict(data.X, data.offsets), expected + w["output.bias"][0], rtol=1e-5)


@pytest.mark.parametrize("architecture", ["sigmoid", "mlp"])
def test_no_hidden_layer_is_linear(architecture):
    data = lists()
    model = small(architecture, hidden=(), log1p=False, max_epochs=20, learning_rate=0.05)
    scorer = model.train(SquaredHinge(margin=1.0), data, Monitor())
    slope = (scorer.weights["output.weight"][0] * scorer.features.scale).astype(np.float64)
    level = scorer.weights["output.bias"] - slope @ scorer.features.mean
    linear = LinearScorer(slope[:, None], level)
    np.testing.assert_allclose(
        scorer.predict(data.X, data.offsets), linear.predict(data.X, data.offsets), rtol=1e-4, atol=1e-5
    )
    assert np.argmax(np.abs(slope)) == 0  # the one feature that counts by itself


# --------------------------------------------------------------------------------------------------------- equal rows


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_permuting_documents_permutes_scores(architecture):
    data = lists(9, mean=20)
    scorer = untrained(architecture, data)
    rng = np.random.default_rng(3)
    order = np.concatenate(
        [rng.permutation(np.arange(a, b)) for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)]
    )
    scores = scorer.predict(data.X, data.offsets)
    assert np.unique(scores.round(4)).size > data.n_rows / 2
    np.testing.assert_array_equal(scorer.predict(data.X[order], data.offsets), scores[order])


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_queries_are_scored_alone(architecture):
    """A list's scores are the same whatever other lists, longer or shorter, are scored with it."""
    data = lists(9, mean=20)
    scorer = untrained(architecture, data)
    scores = scorer.predict(data.X, data.offsets)
    for q in range(data.n_queries):
        part = data.select([q])
        alone = scorer.predict(part.X, part.offsets)
        np.testing.assert_array_equal(alone, scores[data.offsets[q] : data.offsets[q + 1]])


def test_attention_looks_at_the_list():
    data = lists(2, mean=10)
    scorer = untrained("attention", data)
    whole = scorer.predict(data.X[:10], np.array([0, 10]))
    halves = scorer.predict(data.X[:10], np.array([0, 5, 10]))
    assert np.abs(whole - halves).max() > 1e-3


@pytest.mark.parametrize("architecture", ["attention", "set", "groupwise"])
def test_list_aware_networks_look_at_the_list_whatever_its_order(architecture):
    data = lists(1, mean=20)
    scorer = untrained(architecture, data)
    n = data.n_rows
    whole = scorer.predict(data.X, np.array([0, n]))
    assert np.abs(whole - scorer.predict(data.X, np.array([0, n // 2, n]))).max() > 1e-3
    rows = np.random.default_rng(0).permutation(n)
    np.testing.assert_allclose(scorer.predict(data.X[rows], np.array([0, n])), whole[rows], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("architecture", ["set", "groupwise"])
def test_relevance_relative_to_the_list_is_learned(architecture):
    """The best document is the one nearest to the mean of its list, which no function of one document can tell."""

    def relative(seed):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((60, 10)) + 3.0 * rng.standard_normal((60, 1))
        away = np.abs(x - x.mean(axis=1, keepdims=True))
        return RankingDataset.from_arrays(x.reshape(-1, 1), (away < 0.4).ravel(), np.repeat(np.arange(60), 10))

    train, test = relative(0), relative(1)
    values = {}
    for name in ("mlp", architecture):
        model = small(name, hidden=(16,), max_epochs=60, learning_rate=0.01, batch_size=8, log1p=False)
        values[name] = ndcg(model.train(ListNetLoss(), train, Monitor()), test, ListNetLoss())
    assert values[architecture] > values["mlp"] + 0.08


def test_groups_of_two_by_the_definition():
    data = lists(2, d=3, mean=5)
    scorer = untrained("groupwise", data, hidden=(4,))
    w = {name: array.astype(np.float64) for name, array in scorer.weights.items()}

    def norm(x):
        return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)

    def layer(name, x):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    x = (np.sign(data.X) * np.log1p(np.abs(data.X)) - scorer.features.mean) * scorer.features.scale
    h = np.maximum(norm(layer("hidden.0", x)), 0)
    mean = np.zeros_like(h)
    for first, last in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        for i in range(first, last):
            others = [j for j in range(first, last) if j != i]
            said = [np.maximum(layer("own", h[[i]]) + layer("other", h[[j]]), 0)[0] for j in others]
            mean[i] = np.mean(said, axis=0) if said else 0.0
    expected = layer("output", norm(h + layer("mix", mean)))[:, 0]
    np.testing.assert_allclose(scorer.predict(data.X, data.offsets), expected, rtol=1e-4, atol=1e-5)


def test_attention_against_numpy():
    """One head, one layer, one list: softmax(q kᵀ / √d) v written out."""
    data = lists(1, d=3, mean=7)
    scorer = untrained("attention", data, hidden=(4,), n_heads=1, n_layers=1)
    w = {name: array.astype(np.float64) for name, array in scorer.weights.items()}

    def norm(x):
        return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)

    def layer(name, x):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    x = (np.sign(data.X) * np.log1p(np.abs(data.X)) - scorer.features.mean) * scorer.features.scale
    h = np.maximum(norm(layer("hidden.0", x)), 0)
    query, key, value = np.split(layer("encoder.0.look", norm(h)), 3, axis=1)
    attention = np.exp(query @ key.T / np.sqrt(4))
    h = h + layer("encoder.0.mix", attention / attention.sum(1, keepdims=True) @ value)
    h = h + layer("encoder.0.narrow", np.maximum(layer("encoder.0.widen", norm(h)), 0))
    expected = layer("output", norm(h))[:, 0]
    np.testing.assert_allclose(scorer.predict(data.X, data.offsets), expected, rtol=1e-4, atol=1e-5)


def test_very_long_list():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10_040, 3)).astype(np.float32)
    data = RankingDataset.from_arrays(X, np.zeros(10_040), group=[10_000, 40])
    scorer = untrained("attention", data, hidden=(8,), n_layers=1)
    scores = scorer.predict(data.X, data.offsets)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(scores[10_000:], scorer.predict(X[10_000:], np.array([0, 40])), rtol=1e-5, atol=1e-6)


def test_batches_of_similar_length():
    group = np.random.default_rng(0).poisson(60, 500) + 1
    group[:3] = 30_000
    made = batches(group, 32, True, np.random.default_rng(1))
    assert sorted(np.concatenate(made).tolist()) == list(range(500))
    assert max(len(batch) * group[batch].max() for batch in made) <= 65_536
    padded = sum(len(batch) * group[batch].max() for batch in made)
    assert padded < 1.06 * group.sum()


# ----------------------------------------------------------------------------------------------------------- training


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize(
    "loss", [SquaredHinge(margin=1.0), ListNetLoss(), ListMLELoss(), Square(), Softmax()], ids=lambda loss: loss.name
)
def test_learns(architecture, loss):
    train, test = lists(60, seed=1), lists(60, seed=2)
    model = small(architecture, max_epochs=12, batch_size=8, learning_rate=0.02)
    scorer = model.train(loss, train, Monitor())
    chance = NDCG.mean(NDCG.per_query(Scored(test, np.random.default_rng(0).random(test.n_rows))))
    assert chance < 0.7
    assert ndcg(scorer, test, loss) > 0.85
    assert (scorer.weights["output.bias"] == 0).all() == loss.shift_invariant
    assert scorer.network.n_outputs == (4 if loss.name == "Softmax" else 1)


@pytest.mark.parametrize("architecture", ["mlp", "attention"])
def test_same_for_a_seed_and_any_number_of_threads(architecture):
    data = lists(80, mean=60)  # several blocks in a batch
    model = {"max_epochs": 2, "dropout": 0.2, "batch_size": 64}
    result = [
        small(architecture, **model, n_jobs=n_jobs, random_state=seed).train(ListNetLoss(), data, Monitor())
        for n_jobs, seed in ((1, 0), (1, 0), (3, 0), (1, 1))
    ]
    scores = [scorer.predict(data.X, data.offsets, n_jobs) for scorer, n_jobs in zip(result, (1, 2, 3, 1), strict=True)]
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])
    assert not np.allclose(scores[0], scores[3])


def test_leaves_torch_as_it_was():
    torch.set_num_threads(3)
    state = torch.random.get_rng_state()
    data = lists(5)
    with torch.no_grad():
        scorer = small(dropout=0.5, n_jobs=2).train(ListNetLoss(), data, Monitor())
    with torch.inference_mode():
        small(n_jobs=2).train(ListNetLoss(), data, Monitor())
    scorer.predict(data.X, data.offsets, 1)
    assert torch.get_num_threads() == 3
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.is_grad_enabled()


def test_threads_are_restored_by_the_last_to_leave():
    torch.set_num_threads(3)
    first, second = (threads(torch.device("cpu"), 2) for _ in range(2))
    first.__enter__()
    second.__enter__()
    assert torch.get_num_threads() == 1
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert torch.get_num_threads() == 3


def test_blocks_add_up_to_the_batch(monkeypatch):
    """The gradient of a batch does not depend on how it is cut into blocks."""
    data = lists(30)
    scores = []
    for rows in (20, 10_000):
        monkeypatch.setattr("plackett.models.networks.training.rows_at_once", lambda device, rows=rows: rows)
        model = small(max_epochs=2, batch_size=30, max_grad_norm=None)
        scores.append(model.train(ListNetLoss(), data, Monitor()).predict(data.X, data.offsets))
    np.testing.assert_allclose(*scores, rtol=1e-4, atol=1e-5)


def test_dropout():
    random = torch.Generator().manual_seed(0)
    ones = torch.ones(400, 50)
    kept = dropped(ones, 0.25, random)
    assert set(kept.unique().tolist()) == {0.0, float(np.float32(4 / 3))}
    assert kept.mean().item() == pytest.approx(1, abs=4 * np.sqrt(1 / 3 / 20_000))
    assert not torch.equal(kept, dropped(ones, 0.25, random))
    assert dropped(ones, 0.25, None) is ones


class Script(Monitor):
    """A monitor whose measure follows a script; an exception in it is raised."""

    def __init__(self, script, valid=None, patience=None):
        super().__init__(valid, NDCG if valid is not None else None, patience)
        self.script, self.seen = list(script), []

    def update(self, scores=None):
        value = self.script[len(self.seen)]
        self.seen.append(scores)
        if isinstance(value, BaseException):
            raise value
        self.history.append(value)
        if self.best_round < 0 or value > self.best_value:
            self.best_round, self.best_value = len(self.history) - 1, value
        return super().update()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_early_stopping_keeps_the_best_epoch(architecture):
    data, valid = lists(20), lists(10, seed=1)
    monitor = Script([0.1, 0.5, 0.4, 0.3, 0.9], valid, patience=2)
    scorer = small(architecture, max_epochs=5).train(ListNetLoss(), data, monitor)
    assert len(monitor.seen) == 4
    np.testing.assert_allclose(
        scorer.predict(valid.X, valid.offsets), monitor.seen[1], rtol=1e-6, atol=1e-7
    )  # NumPy and PyTorch
    assert not np.allclose(monitor.seen[1], monitor.seen[3])


@pytest.mark.parametrize("average", [1, 3, 9])
def test_the_model_is_the_mean_of_the_last_epochs(average):
    """Weights after each epoch from runs of that length, which begin alike; more than there are means all of them."""
    data = lists(20)
    runs = [small("sigmoid", max_epochs=n + 1).train(ListNetLoss(), data, Monitor()).weights for n in range(5)]
    result = small("sigmoid", max_epochs=5, average=average).train(ListNetLoss(), data, Monitor()).weights
    for name, weights in result.items():
        expected = np.mean([run[name] for run in runs[-average:]], axis=0)
        np.testing.assert_allclose(weights, expected, rtol=1e-5, atol=1e-7)
    assert not np.allclose(runs[-1]["hidden.0.weight"], runs[-3]["hidden.0.weight"], rtol=1e-4)


def test_epochs_are_judged_by_the_mean_that_is_kept():
    data, valid = lists(20), lists(10, seed=1)
    monitor = Script([0.1, 0.5, 0.9, 0.3, 0.2], valid, patience=2)
    scorer = small("sigmoid", max_epochs=5, average=2).train(ListNetLoss(), data, monitor)
    np.testing.assert_allclose(scorer.predict(valid.X, valid.offsets), monitor.seen[2], rtol=1e-6, atol=1e-7)
    expected = small("sigmoid", max_epochs=3, average=2).train(ListNetLoss(), data, Monitor())
    np.testing.assert_array_equal(scorer.weights["hidden.0.weight"], expected.weights["hidden.0.weight"])
    # Ctrl-C in a later epoch keeps it too
    monitor = Script([0.1, 0.5, 0.9, KeyboardInterrupt()], valid)
    again = small("sigmoid", max_epochs=5, average=2).train(ListNetLoss(), data, monitor)
    np.testing.assert_array_equal(again.weights["hidden.0.weight"], expected.weights["hidden.0.weight"])


def test_a_penalty_shrinks_matrices_only():
    """At the optimum of a linear network the gradient of the loss is −α times the weights."""
    data, alpha = lists(20), 0.5
    model = small("sigmoid", hidden=(), alpha=alpha, weight_decay=0.0, max_epochs=400, learning_rate=0.02, average=20)
    scorer = model.train(Square(), data, Monitor())
    x = (data.X - scorer.features.mean) * scorer.features.scale
    slope = Square().bind(data).evaluate(scorer.predict(data.X, data.offsets))[1] / data.n_queries
    np.testing.assert_allclose(x.T @ slope, -alpha * scorer.weights["output.weight"][0], atol=0.02)
    assert slope.sum() == pytest.approx(0.0, abs=0.02)  # the bias is free
    assert np.abs(scorer.weights["output.weight"]).max() > 0.1


def test_interruption_keeps_the_best_epoch():
    data, valid = lists(20), lists(10, seed=1)
    monitor = Script([0.5, 0.4, KeyboardInterrupt()], valid)
    scorer = small(max_epochs=9).train(ListNetLoss(), data, monitor)
    assert monitor.interrupted
    np.testing.assert_allclose(scorer.predict(valid.X, valid.offsets), monitor.seen[0], rtol=1e-6, atol=1e-7)


class Interrupted(Monitor):
    """A monitor without validation data; Ctrl-C is pressed when ``after`` rounds are done."""

    def __init__(self, after):
        super().__init__()
        self.after = after

    def update(self, scores=None):
        self.after -= 1
        if self.after < 0:
            raise KeyboardInterrupt
        return super().update(scores)


def test_interruption_without_validation_keeps_what_was_learned():
    data, monitor = lists(20), Interrupted(1)
    scorer = small(max_epochs=9).train(ListNetLoss(), data, monitor)
    assert monitor.interrupted
    expected = small(max_epochs=2).train(ListNetLoss(), data, Monitor())  # the second epoch was run, but not noted
    np.testing.assert_array_equal(scorer.predict(data.X, data.offsets), expected.predict(data.X, data.offsets))


def test_interruption_before_anything_was_learned():
    with pytest.raises(KeyboardInterrupt):
        small().train(ListNetLoss(), lists(5), Interrupted(0))
    assert torch.get_num_threads() == 1


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_warm_start(architecture):
    data = lists(20)
    start = small(architecture).train(ListNetLoss(), data, Monitor())
    still = small(architecture, learning_rate=0.0, max_epochs=1)
    shifted = data.replace(X=data.X + 1)  # the map of the features is the one that was learned first
    same = still.train(ListNetLoss(), shifted, Monitor(), start)
    np.testing.assert_array_equal(same.predict(data.X, data.offsets), start.predict(data.X, data.offsets))
    moved = small(architecture).train(ListNetLoss(), data, Monitor(), start)
    assert ListNetLoss()(moved.predict(data.X, data.offsets), data) < ListNetLoss()(
        start.predict(data.X, data.offsets), data
    )
    with pytest.raises(LossError, match="same architecture"):
        small(architecture, hidden=(4,)).train(ListNetLoss(), data, Monitor(), start)


@pytest.mark.parametrize("model", [small(max_epochs=3), Linear(solver="sgd", max_iter=3), Trees(n_estimators=3)])
def test_warm_start_keeps_the_start_where_nothing_is_better(model):
    """The start knows the right order, and what it goes on with are the labels upside down."""
    data = lists(20)
    start = model.train(ListNetLoss(), data, Monitor())
    before = start.predict(data.X, data.offsets)
    valid = data.replace(y=np.argsort(np.argsort(before)).astype(float) // 30)  # the start is as good as perfect here
    upside_down = data.replace(y=3.0 - data.y)
    monitor = Monitor(valid, NDCG, patience=2)
    result = model.train(ListNetLoss(), upside_down, monitor, start)
    np.testing.assert_array_equal(result.predict(data.X, data.offsets), before)
    assert (monitor.best_round, monitor.kept) == (-1, 0)
    assert monitor.best_value > max(monitor.history)
    # and a better one takes its place
    monitor = Monitor(valid, NDCG)
    result = model.train(ListNetLoss(), valid, monitor, model.train(ListNetLoss(), upside_down, Monitor()))
    assert monitor.kept > 0 and monitor.best_value == max(monitor.history)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("group", [[20] * 3, [1] * 60])
def test_nothing_to_learn_gives_equal_scores(architecture, group):
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    per_query = np.repeat(np.arange(float(len(group))) % 3, group)
    for loss, labels in ((Logistic(), per_query), (ListNetLoss(), per_query), (Square(), np.ones(60))):
        data = RankingDataset.from_arrays(X, labels, group=group)
        monitor = Monitor(data, NDCG)
        scores = small(architecture).train(loss, data, monitor).predict(X, data.offsets)
        assert np.ptp(scores) == 0.0 and len(monitor.history) == 1


def test_batches_are_drawn_anew_in_each_epoch(monkeypatch):
    """Every query once per epoch, with others each time; the same for the same seed."""
    drawn = []
    original = Training._draw

    def draw(self):
        original(self)
        cuts = self.first_block
        drawn.append([np.concatenate(self.blocks[a:b]).tolist() for a, b in itertools.pairwise(cuts)])

    monkeypatch.setattr(Training, "_draw", draw)
    data = lists(12)
    a, b = (small(batch_size=4, max_epochs=3).train(ListNetLoss(), data, Monitor()) for _ in range(2))
    assert len(drawn) == 6 and drawn[:3] == drawn[3:]
    for epoch in drawn:
        assert sorted(query for batch in epoch for query in batch) == list(range(12))
        assert [len(batch) for batch in epoch] == [4, 4, 4]
    assert len({frozenset(map(frozenset, epoch)) for epoch in drawn}) == 3
    np.testing.assert_array_equal(a.predict(data.X, data.offsets), b.predict(data.X, data.offsets))


def test_sparse_and_weights():
    data = lists(20)
    X = np.where(data.X > 0, data.X, 0)
    dense = data.replace(X=X)
    sparse = data.replace(X=csr_matrix(X))
    a, b = (small().train(ListNetLoss(), d, Monitor()) for d in (dense, sparse))
    np.testing.assert_allclose(a.predict(X, data.offsets), b.predict(csr_matrix(X), data.offsets), rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(a.predict(X, data.offsets), a.predict(csr_matrix(X), data.offsets))
    kept = np.arange(20) < 10
    some = data.replace(query_weight=kept.astype(float))
    one_batch = {"batch_size": 20, "max_epochs": 4, "standardize": False, "max_grad_norm": None}
    weighted = small(**one_batch).train(ListNetLoss(), some, Monitor()).predict(X, data.offsets)
    alone = small(**one_batch).train(ListNetLoss(), data.select(kept), Monitor()).predict(X, data.offsets)
    np.testing.assert_allclose(weighted, alone, rtol=1e-3, atol=1e-4)


def test_odd_queries():
    """Lists of one document, of equal labels, constant features, an empty list."""
    X = np.zeros((5, 3), np.float32)
    X[:, 0] = np.arange(5)
    X[:, 1] = 1e6
    data = RankingDataset.from_arrays(X, [0, 1, 1, 2, 0], group=[1, 2, 0, 2])
    for architecture in ARCHITECTURES:
        scorer = small(architecture).train(SquaredHinge(), data, Monitor(data, NDCG))
        assert np.isfinite(scorer.predict(data.X, data.offsets)).all()
        assert scorer.predict(X[:0], np.array([0])).shape == (0,)


# ----------------------------------------------------------------------------------------------------------- features


@pytest.mark.parametrize("log1p", [False, True])
def test_feature_map(log1p):
    rng = np.random.default_rng(0)
    X = (rng.exponential(100, (1000, 4)) * rng.choice([-1, 0, 1], (1000, 4))).astype(np.float32)
    X[:, 3] = 7.7
    mapped = np.sign(X) * np.log1p(np.abs(X)) if log1p else X.astype(np.float64)
    expected = (mapped - mapped.mean(0)) / np.where(np.arange(4) < 3, mapped.std(0), np.inf)
    for matrix in (X, csr_matrix(X)):
        features = FeatureMap.learn(matrix, log1p=log1p, standardize=True).on("cpu")
        np.testing.assert_allclose(features(torch.from_numpy(X)).numpy(), expected, atol=1e-4)


def test_feature_map_counts_by_weight():
    X = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32)
    times = np.random.default_rng(1).integers(0, 4, 50)
    repeated = FeatureMap.learn(np.repeat(X, times, axis=0), log1p=True, standardize=True)
    for matrix in (X, csr_matrix(X)):
        weighted = FeatureMap.learn(matrix, log1p=True, standardize=True, weight=times.astype(float))
        np.testing.assert_allclose(weighted.mean, repeated.mean, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(weighted.scale, repeated.scale, rtol=1e-5)


# ------------------------------------------------------------------------------------------------------------ storage


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_saved_and_loaded(architecture, tmp_path):
    data = lists(10)
    scorer = small(architecture, dropout=0.1).train(Softmax(), data, Monitor())
    scores = scorer.predict(data.X, data.offsets)
    assert scores.shape == (data.n_rows, 4)
    write(tmp_path / "model", scorer.to_arrays(), {"kind": "model"})
    loaded = NeuralScorer.from_arrays(read(tmp_path / "model", kind="model")[0])
    assert loaded.network == scorer.network
    if not torch.cuda.is_available():
        np.testing.assert_array_equal(loaded.predict(data.X, data.offsets), scores)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(scorer)).predict(data.X, data.offsets), scores)


def test_damaged_files_are_refused():
    arrays = small().train(ListNetLoss(), lists(3), Monitor()).to_arrays()
    with pytest.raises(DataError, match="network is damaged"):
        NeuralScorer.from_arrays(arrays | {"network": np.frombuffer(b'{"architecture": "other"}', np.uint8)})
    with pytest.raises(DataError, match="network is damaged"):
        NeuralScorer.from_arrays({name: a for name, a in arrays.items() if name != "weights.output.bias"})
    with pytest.raises(DataError, match=r"'output\.bias' have shape \(2,\)"):
        NeuralScorer.from_arrays(arrays | {"weights.output.bias": np.zeros(2, np.float32)})


# ------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"architecture": "cnn"}, "architecture='cnn'; give one of 'sigmoid', 'mlp', 'attention'"),
        ({"hidden": (4, 0)}, "hidden="),
        ({"activation": "step"}, "activation='step'"),
        ({"dropout": 1.0}, "dropout=1.0"),
        ({"architecture": "attention", "hidden": (10,), "n_heads": 4}, "n_heads=4"),
        ({"architecture": "attention", "hidden": ()}, "at least one entry in hidden"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"max_epochs": 0}, "max_epochs=0"),
        ({"average": 0}, "average=0"),
        ({"alpha": -1.0}, "alpha=-1.0"),
        ({"alpha": np.inf}, "alpha=inf"),
        ({"device": "abacus"}, "device='abacus'"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(LossError, match=message):
        Neural(**parameters).train(ListNetLoss(), lists(3), Monitor())


def test_divergence_is_told():
    with pytest.raises(LossError, match="smaller learning_rate"):
        small("sigmoid", hidden=(), learning_rate=1e38, max_epochs=20).train(Square(), lists(10), Monitor())


def test_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"pip install 'plackett\[neural\]'"):
        load_torch()


def test_unsettled_outputs_are_told():
    class Growing(Loss):
        name = "Growing"

        def bind(self, data, *, n_jobs=None):
            return BoundLoss(data, n_outputs=int(data.labels.max()) + 1)

    data = RankingDataset.from_arrays(np.zeros((4, 1)), [0, 1, 0, 2], qid=[0, 0, 1, 1])
    with pytest.raises(LossError, match="number of classes"):
        small(batch_size=1).train(Growing(), data, Monitor())


def test_names_agree():
    assert tuple(NETWORKS) == ARCHITECTURES


@pytest.mark.parametrize("architecture", ["set", "groupwise"])
def test_masks_that_are_added_to_logits_mean_the_same(architecture):
    """On CUDA the mask of a batch is 0 or −∞, of lower precision for long lists."""
    from dataclasses import replace

    import torch

    from plackett.scorers.networks.lists import Lists

    lists = Lists.of(np.array([3, 5, 1]), "cpu")
    added = torch.zeros_like(lists.mask, dtype=torch.bfloat16).masked_fill_(~lists.mask, -torch.inf)
    model = Neural(
        architecture=architecture, hidden=(8,) if architecture == "set" else (8, 4), max_epochs=1, device="cpu"
    )
    data = RankingDataset.from_arrays(np.random.default_rng(0).normal(size=(9, 4)), np.arange(9) % 3, group=[3, 5, 1])
    scorer = model.train(ListNetLoss(), data, Monitor())
    weights = {name: torch.as_tensor(value) for name, value in scorer.weights.items()}
    rows = torch.tensor(np.array(data.X), dtype=torch.float32)
    plain, cuda = (scorer.network.scores(weights, rows, each) for each in (lists, replace(lists, mask=added)))
    assert torch.isfinite(cuda).all() and torch.equal(plain, cuda)
