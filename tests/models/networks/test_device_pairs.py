"""Pair losses as an accelerator computes them, against the kernels of the host. They run on any device of PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.losses import Fidelity, Logistic, Sigmoid
from plackett.losses.pairwise.base import PairLoss

torch = pytest.importorskip("torch", reason="networks need the extra 'neural'")

LOSSES = [
    Logistic(),
    Logistic(margin=0.5, normalize=True),
    Logistic(graded=True, normalize=True),
    Sigmoid(sigma=2.0),
    Fidelity(),
    Fidelity(target=0.8, normalize=True),
]


def ragged(seed, *, weights):
    rng = np.random.default_rng(seed)
    group = np.array([1, 7, 0, 30, 2, 13, 29, 8])
    group = group[group > 0]
    n = int(group.sum())
    y = rng.integers(-1, 4, n).astype(float)
    y[:3] = 2.0, 1.0 + 1e-12, 1.0  # labels that float32 does not tell apart
    parameters = {"sample_weight": rng.random(n) + 0.1, "query_weight": rng.random(group.size)} if weights else {}
    return pk.RankingDataset.from_arrays(np.zeros((n, 1)), y, group=group, **parameters)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("most_pairs", [1 << 24, 2000, 40])
def test_gradient_of_the_host(loss, weights, most_pairs):
    from plackett.models.networks.device_pairs import DevicePairs
    from plackett.models.networks.training import HostLoss

    data = ragged(1, weights=weights)
    bound = loss.bind(data, n_jobs=1)
    outputs = torch.from_numpy(3.0 * np.random.default_rng(2).normal(size=(data.n_rows, 1)).astype(np.float32))
    outputs.requires_grad_()
    cpu = torch.device("cpu")
    expected = HostLoss(bound, cpu).gradient(outputs, 1.7)
    result = DevicePairs(bound, cpu, most_pairs).gradient(outputs, 1.7)
    assert result.dtype == torch.float32 and not result.requires_grad
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5 * float(expected.abs().max()))


@pytest.mark.parametrize("unit", [1e-50, 1e-9, 1e12, 1e40])
def test_graded_pairs_in_any_unit(unit):
    """Differences of labels that float32 cannot hold."""
    from plackett.models.networks.device_pairs import DevicePairs
    from plackett.models.networks.training import HostLoss

    data, cpu = ragged(1, weights=True), torch.device("cpu")
    data = data.replace(y=np.where(data.y >= 0, unit * data.y, -1.0))
    bound = Logistic(graded=True, normalize=True).bind(data, n_jobs=1)
    outputs = torch.from_numpy(np.random.default_rng(2).normal(size=(data.n_rows, 1)).astype(np.float32))
    expected = HostLoss(bound, cpu).gradient(outputs, 1.0)
    np.testing.assert_allclose(DevicePairs(bound, cpu).gradient(outputs, 1.0), expected, rtol=1e-4, atol=1e-6)


def test_no_pairs():
    from plackett.models.networks.device_pairs import DevicePairs

    data = pk.RankingDataset.from_arrays(np.zeros((4, 1)), [1.0, 1.0, -1.0, 2.0], qid=[0, 0, 0, 1])
    result = DevicePairs(Logistic().bind(data), torch.device("cpu")).gradient(torch.randn(4, 1), 1.0)
    assert not result.any()


def test_slopes_are_those_of_phi():
    z = np.linspace(-40.0, 40.0, 401)
    losses = [item() for item in pk.losses().values() if issubclass(item, PairLoss) and item.device_slope is not None]
    assert {type(loss) for loss in losses} == {type(loss) for loss in LOSSES}
    for loss in losses:
        value, slope, curvature = (np.empty(z.size) for _ in range(3))
        loss.phi(z, value, slope, curvature, *loss.shape)
        result = loss.device_slope(torch, torch.from_numpy(z), *loss.shape)
        np.testing.assert_allclose(result, slope, rtol=1e-9, atol=1e-15)


def test_a_network_learns_from_it(monkeypatch):
    from plackett.models.networks import training
    from plackett.models.networks.device_pairs import DevicePairs

    data = pk.datasets.make_ranking(40, 12, 5, random_state=0)
    network = pk.Neural(hidden=(8,), max_epochs=20, device="cpu", n_jobs=1, learning_rate=0.01)
    expected = pk.GradientRanker(loss="Logistic", model=network).fit(data).predict(data)
    monkeypatch.setattr(training.Training, "_placed", lambda self, bound: DevicePairs(bound, self.device))
    result = pk.GradientRanker(loss="Logistic", model=network).fit(data).predict(data)
    np.testing.assert_allclose(result, expected, atol=0.01 * np.ptp(expected))


def test_weights_that_are_no_longer_finite(monkeypatch):
    from plackett.models.networks import training

    class Broken:
        def __init__(self, bound, device):
            pass

        def gradient(self, outputs, share):
            return outputs.detach() * float("nan")

    monkeypatch.setattr(training, "HostLoss", Broken)
    data = pk.datasets.make_ranking(8, 5, 3, random_state=0)
    with pytest.raises(pk.LossError, match="weights are no longer finite; use a smaller learning_rate"):
        pk.GradientRanker(loss="Logistic", model=pk.Neural(device="cpu", n_jobs=1, max_epochs=1)).fit(data)
