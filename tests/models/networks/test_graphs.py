"""Steps of static shape against the blocks of the host; as CUDA graphs where there is a device."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import plackett as pk
from plackett.losses import ListNetLoss, Logistic, Sigmoid, Square, SquaredHinge, XENDCGLoss
from plackett.solvers.monitor import Monitor

torch = pytest.importorskip("torch", reason="networks need the extra 'neural'")

from plackett.models.networks import graphs  # noqa: E402
from plackett.models.networks.training import Training  # noqa: E402
from plackett.scorers.networks.mlp import MultilayerNetwork  # noqa: E402

FORMS = [
    ListNetLoss(),
    ListNetLoss(target="exp2", temperature=2.0),
    XENDCGLoss(random_state=3),
    Logistic(),
    Logistic(margin=0.5, normalize=True),
    Logistic(graded=True, normalize=True),
    Sigmoid(sigma=2.0),
    Square(target="exp2"),
]


def ragged(*, weights=False, n=40, longest=20, features=5):
    rng = np.random.default_rng(0)
    group = rng.integers(1, longest, n)
    group[3] = longest
    rows = int(group.sum())
    X = rng.standard_normal((rows, features)).astype(np.float32)
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-0.5, 0.5, 1.5]).astype(float)
    y[rng.random(rows) < 0.1] = -1.0
    y[: group[0]] = 1.0  # a query that says nothing
    more = {"sample_weight": rng.random(rows) + 0.1, "query_weight": rng.random(n)} if weights else {}
    return pk.RankingDataset.from_arrays(X, y, group=group, **more)


def model(architecture="mlp", **parameters):
    parameters = {"dropout": 0.0, "device": "cpu", "batch_size": 8, "max_epochs": 3, "learning_rate": 0.01} | parameters
    return pk.Neural(architecture=architecture, hidden=(8, 8), n_heads=2, n_layers=1, n_jobs=1, **parameters)


@pytest.fixture
def static(monkeypatch):
    """Steps of static shape on the CPU too; the shapes that were met come back."""
    shapes = []
    original = graphs.GraphSteps._run

    def run(self, shape):
        shapes.append(shape)
        original(self, shape)

    monkeypatch.setattr(graphs.GraphSteps, "_run", run)
    monkeypatch.setattr(Training, "static_on", ("cpu",))
    return shapes


@pytest.mark.parametrize("loss", FORMS, ids=repr)
@pytest.mark.parametrize("weights", [False, True])
def test_the_form_of_a_loss_is_its_gradient(loss, weights):
    data = ragged(weights=weights)
    bound = loss.bind(data, n_jobs=1)
    scores = np.random.default_rng(1).normal(size=data.n_rows).astype(np.float32)
    form = bound.device_form()
    mask = np.arange(data.group.max() + 2) < data.group[:, None]

    def table(values, empty):
        full = np.full(mask.shape, empty, np.float32)
        full[mask] = values
        return torch.from_numpy(full)

    # whatever the scores at empty slots are
    result = form.gradient(torch, table(scores, 7.0), *(table(*pair) for pair in form.per_row)).numpy()
    result = result * form.scale[:, None]
    assert not result[~mask].any()
    expected = bound.evaluate(scores.astype(float), value=False)[1]
    np.testing.assert_allclose(result[mask], expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("architecture", ["sigmoid", "mlp", "attention"])
@pytest.mark.parametrize("loss", [FORMS[0], FORMS[4], FORMS[5], FORMS[7]], ids=lambda loss: loss.name)
def test_same_training_as_in_blocks(architecture, loss, request):
    data = ragged(weights=True)
    network = model(architecture)
    expected = network.train(loss, data, Monitor()).predict(data.X, data.offsets)
    shapes = request.getfixturevalue("static")
    result = network.train(loss, data, Monitor()).predict(data.X, data.offsets)
    assert len(shapes) >= 15 and len(set(shapes)) <= 6
    np.testing.assert_allclose(result, expected, rtol=1e-3, atol=2e-3 * np.ptp(expected))


def test_shapes_have_room(static):
    """Rows and slots of a batch fit, one row is left, and not much more is computed than is there."""
    data = ragged(n=400, longest=60)
    for architecture, loss in (("mlp", ListNetLoss()), ("mlp", Logistic()), ("attention", Logistic())):
        static.clear()
        model(architecture, batch_size=32, max_epochs=1).train(loss, data, Monitor())
        rows = sum(shape.rows or shape.lists * shape.slots for shape in static)
        assert data.n_rows < rows < 1.5 * data.n_rows


def test_rounded_up():
    for steps in (1, 2, 4, 8):
        grid = [graphs.rounded_up(n, steps) for n in range(1, 5000)]
        assert all(n <= up and up % 8 == 0 for n, up in enumerate(grid, 1))
        assert all(up <= max(n + 8, n * (1 + 1 / steps)) for n, up in enumerate(grid, 1))
        assert len(set(grid)) <= 13 * steps


@pytest.mark.parametrize(("architecture", "batch_size"), [("mlp", 8), ("attention", 2)])
def test_empty_queries_and_a_short_last_batch(architecture, batch_size, request):
    X = np.random.default_rng(0).standard_normal((13, 2)).astype(np.float32)
    y = np.array([0, 1, 2] * 4 + [1.0])
    data = pk.RankingDataset.from_arrays(X, y, group=[3, 0, 3, 6, 0, 0, 0, 1])
    network = model(architecture, batch_size=batch_size, max_epochs=4)
    expected = network.train(Logistic(), data, Monitor()).predict(X, data.offsets)
    shapes = request.getfixturevalue("static")
    result = network.train(Logistic(), data, Monitor()).predict(X, data.offsets)
    assert shapes
    np.testing.assert_allclose(result, expected, rtol=1e-3, atol=2e-3 * np.ptp(expected))


def test_dropout_differs_from_step_to_step(static):
    data = ragged()
    network = model(dropout=0.5)
    a, b, c = (
        net.train(ListNetLoss(), data, Monitor()).predict(data.X, data.offsets)
        for net in (network, network, model(dropout=0.5, random_state=1))
    )
    np.testing.assert_array_equal(a, b)
    assert not np.allclose(a, c)


def test_others_keep_the_blocks(static, monkeypatch):
    """Losses without a form, and batches that are too large."""
    data = ragged()
    model(max_epochs=1).train(SquaredHinge(), data, Monitor())
    assert not static
    monkeypatch.setattr(graphs, "MOST_SLOTS", 100)
    model(max_epochs=1).train(ListNetLoss(), data, Monitor())
    assert not static


def test_divergence_is_told(static):
    with pytest.raises(pk.LossError, match="no longer finite"):
        model(learning_rate=1e38, max_grad_norm=None, max_epochs=5).train(Square(), ragged(), Monitor())


@pytest.mark.parametrize("architecture", ["sigmoid", "attention"])
def test_penalty_and_mean_of_epochs(architecture, request):
    """As in blocks; and the penalty and the mean both change the result."""
    data = ragged()
    settings = {"alpha": 1.0, "average": 2}

    def scores(**parameters):
        return model(architecture, max_epochs=4, **parameters).train(Logistic(), data, Monitor()).predict(X, offsets)

    X, offsets = data.X, data.offsets
    expected = scores(**settings)
    assert request.getfixturevalue("static") == []
    result = scores(**settings)
    close = {"rtol": 1e-3, "atol": 2e-3 * np.ptp(expected)}
    np.testing.assert_allclose(result, expected, **close)
    for name in settings:
        assert not np.allclose(scores(**settings | {name: {"alpha": 0.0, "average": 1}[name]}), expected, **close)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("loss", [ListNetLoss(), Logistic(graded=True, normalize=True)], ids=lambda loss: loss.name)
def test_penalty_and_mean_of_epochs_on_cuda(loss, monkeypatch):
    """Recorded steps against the blocks of the host, and the mean against single runs of each length."""
    data = ragged(weights=True)

    def weights(**parameters):
        parameters = {"device": "cuda", "max_epochs": 6, "alpha": 0.1, "random_state": 3} | parameters
        return model("sigmoid", **parameters).train(loss, data, Monitor()).weights

    result = weights(average=3)
    runs = [weights(max_epochs=n) for n in (4, 5, 6)]
    for name, mean in result.items():
        np.testing.assert_allclose(mean, np.mean([run[name] for run in runs], axis=0), rtol=1e-3, atol=1e-3)
    expected = weights(average=3, device="cpu")
    for name, mean in result.items():
        np.testing.assert_allclose(mean, expected[name], rtol=1e-2, atol=1e-2)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("architecture", ["mlp", "attention"])
@pytest.mark.parametrize("loss", [FORMS[0], FORMS[4], FORMS[6]], ids=lambda loss: loss.name)
def test_graphs_on_cuda(architecture, loss, monkeypatch):
    data = ragged(weights=True)
    network = model(architecture, device="cuda", max_epochs=6)
    result = network.train(loss, data, Monitor()).predict(data.X, data.offsets)
    monkeypatch.setattr(Training, "static_on", ())
    expected = network.train(loss, data, Monitor()).predict(data.X, data.offsets)
    np.testing.assert_allclose(result, expected, rtol=1e-2, atol=1e-2 * np.ptp(expected))


def test_long_lists_in_bfloat16(static, monkeypatch):
    """Near to float32 and not equal to it; the weights and scores stay float32."""
    data = ragged()
    network = model("attention")
    single = network.train(ListNetLoss(), data, Monitor()).predict(data.X, data.offsets)
    original = graphs.GraphSteps._step

    def step(self, shape):
        self.bfloat16 = True
        original(self, shape)

    monkeypatch.setattr(graphs.GraphSteps, "_step", step)
    monkeypatch.setattr(graphs, "LONG_LIST", 8)
    scorer = network.train(ListNetLoss(), data, Monitor())
    assert all(weight.dtype == np.float32 for weight in scorer.weights.values())
    result = scorer.predict(data.X, data.offsets)
    assert not np.array_equal(result, single)
    np.testing.assert_allclose(result, single, atol=0.05 * np.ptp(single))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_replays_draw_new_dropout(monkeypatch):
    kept, drawn = torch.zeros(64, device="cuda"), []
    scores, run = MultilayerNetwork.scores, graphs.GraphSteps._run

    def copied(self, weights, rows, lists, random=None):
        """The scores; what the generator gives in a step is copied out of the graph."""
        if random is not None:
            kept.copy_(torch.empty_like(kept).bernoulli_(0.5, generator=random))
        return scores(self, weights, rows, lists, random)

    def noted(self, shape):
        run(self, shape)
        torch.cuda.synchronize()
        if shape in self.graphs:
            drawn.append(tuple(kept.tolist()))

    monkeypatch.setattr(MultilayerNetwork, "scores", copied)
    monkeypatch.setattr(graphs.GraphSteps, "_run", noted)
    model(device="cuda", dropout=0.5, max_epochs=6).train(ListNetLoss(), ragged(), Monitor())
    assert len(drawn) > 10 and len(set(drawn)) == len(drawn)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_dropout_in_graphs():
    data = ragged()
    a, b = (
        model(device="cuda", dropout=0.3, max_epochs=5)
        .train(ListNetLoss(), data, Monitor())
        .predict(data.X, data.offsets)
        for _ in range(2)
    )
    np.testing.assert_allclose(a, b, rtol=1e-2, atol=1e-2 * np.ptp(a))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_nothing_is_left_on_the_device():
    data, left = ragged(), []
    for _ in range(4):
        model(device="cuda").train(ListNetLoss(), data, Monitor())
        gc.collect()
        left.append(torch.cuda.memory_allocated())
    assert left[3] == left[2] == left[1]
