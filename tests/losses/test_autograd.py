"""A user's own loss in PyTorch: equal to the built-in one in both forms, differentiated right, with every model."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import plackett as pk
from plackett import LossError, RankingDataset
from plackett.losses import ListNetLoss, Logistic
from plackett.models.networks.neural import Neural
from plackett.models.trees.model import Trees
from plackett.rankers.gradient_ranker import GradientRanker

torch = pytest.importorskip("torch", reason="losses in PyTorch need the extra 'neural'")


@pk.torch_loss(convex=True)
def torch_logistic(scores, labels, weights, margin=0.0):
    """Pairs of unequal labels of one query, as `Logistic` has them."""
    better = (labels[:, None] > labels[None, :]) & (labels[None, :] >= 0)
    pairs = torch.nn.functional.softplus(margin - (scores[:, None] - scores[None, :]))
    return (pairs * better * weights[:, None] * weights[None, :]).sum()


@pk.torch_loss(convex=True)
def padded_logistic(scores, labels, mask, weights, margin=0.0):
    better = (labels[:, :, None] > labels[:, None, :]) & (labels[:, None, :] >= 0) & mask[:, None, :]
    pairs = torch.nn.functional.softplus(margin - (scores[:, :, None] - scores[:, None, :]))
    return (pairs * better * weights[:, :, None] * weights[:, None, :]).sum((1, 2))


@pk.torch_loss(convex=True)
def torch_listnet(scores, labels, weights):
    """The cross entropy of `ListNet`, whose value is the divergence."""
    kept = labels >= 0
    if labels[kept].unique().numel() < 2 or not (weights[kept] > 0).any():
        return 0.0
    target = torch.softmax(labels[kept], 0) * weights[kept]
    target = target / target.sum()
    return (torch.xlogy(target, target) - target * torch.log_softmax(scores[kept], 0)).sum()


def ranking_data(seed=0, n_queries=30):
    rng = np.random.default_rng(seed)
    group = rng.integers(1, 12, n_queries)
    group[3] = 0
    n = int(group.sum())
    X = rng.normal(size=(n, 4))
    y = np.clip(np.round(X @ [1.0, -0.5, 0.2, 0.0] + 1), -1, 3)
    weights = {"sample_weight": rng.uniform(0.5, 2, n), "query_weight": rng.uniform(0.5, 2, n_queries)}
    return RankingDataset.from_arrays(X, y, group=group, **weights)


@pytest.mark.parametrize("loss", [torch_logistic, padded_logistic], ids=str)
@pytest.mark.parametrize("parameters", [{}, {"margin": 0.7}])
def test_equals_the_built_in_loss(loss, parameters, monkeypatch):
    monkeypatch.setattr("plackett.losses.autograd._MOST_PAIRS", 200)  # several tables
    data = ranking_data()
    scores = np.random.default_rng(1).normal(size=data.n_rows)
    theirs, ours = loss.replace(**parameters).bind(data), Logistic(**parameters).bind(data)
    for first, second in zip(theirs.evaluate(scores)[:2], ours.evaluate(scores)[:2], strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(theirs.evaluate(scores)[2], 0.0)
    assert loss.curvature == "none" and loss.convex and repr(loss.replace(margin=1)) == f"{loss.name}(margin=1.0)"


def test_gradient_is_that_of_finite_differences():
    data = ranking_data(n_queries=6)
    scores, step = np.random.default_rng(2).normal(size=data.n_rows), 1e-6
    for loss in (torch_listnet, padded_logistic):
        numeric = [(loss(scores + e, data) - loss(scores - e, data)) / (2 * step) for e in step * np.eye(data.n_rows)]
        np.testing.assert_allclose(loss.gradient(scores, data)[0], numeric, rtol=1e-6, atol=1e-8)


def test_it_passes_the_checks_of_losses():
    for check in pk.testing.checks(torch_listnet):
        check()


@pytest.mark.parametrize("architecture", ["mlp", "attention"])
def test_networks_learn_what_the_built_in_loss_teaches(architecture):
    data = ranking_data()
    settings = {"hidden": (8,), "max_epochs": 3, "dropout": 0.0, "device": "cpu", "architecture": architecture}
    model = Neural(**settings, n_heads=2, n_layers=1)
    theirs, ours = (
        GradientRanker(loss=loss, model=model, n_jobs=n_jobs).fit(data).predict(data)
        for loss, n_jobs in ((torch_logistic, 2), (Logistic(), 1))
    )
    np.testing.assert_allclose(theirs, ours, rtol=1e-3, atol=1e-4)
    again = GradientRanker(loss="torch_logistic", model=model, n_jobs=1).fit(data).predict(data)
    np.testing.assert_array_equal(again, theirs)  # by name, and on any number of threads


@pytest.mark.parametrize("model", ["linear", Trees(n_estimators=5, min_child_samples=1)], ids=["linear", "trees"])
def test_other_models_learn_with_it(model):
    data = ranking_data()
    ranker = GradientRanker(loss=torch_listnet, model=model).fit(data)
    assert ranker.score(data) > 0.85
    if model == "linear":
        ours = GradientRanker(loss=ListNetLoss(), model=model).fit(data)
        np.testing.assert_allclose(ranker.coef_, ours.coef_, rtol=1e-3, atol=1e-4)


def test_settings_of_pytorch_do_not_matter_and_are_left_alone():
    data = ranking_data(n_queries=5)
    scores = np.zeros(data.n_rows)
    expected = torch_logistic.gradient(scores, data)[0]
    for mode in (torch.inference_mode, torch.no_grad):
        with mode():
            np.testing.assert_array_equal(torch_logistic.gradient(scores, data)[0], expected)

    @pk.torch_loss
    def overwrites(scores, labels):
        labels[:] = 7.0
        return (scores**2).sum()

    labels = data.labels.copy()
    overwrites(scores, data)
    np.testing.assert_array_equal(data.labels, labels)


def test_mistakes_are_named():
    one = RankingDataset.from_arrays(None, [1.0, 0.0], qid=[1, 1])
    scores = np.array([1.0, 2.0])

    @pk.torch_loss
    def per_document(scores, labels):
        return scores**2

    with pytest.raises(LossError, match=r"'per_document' returns a tensor of shape \(2,\) .*; return one number"):
        per_document(scores, one)

    @pk.torch_loss
    def summed(scores, labels, mask):
        return (scores**2).sum()

    with pytest.raises(LossError, match="return one number for each of the 2 queries"):
        summed(np.zeros(4), RankingDataset.from_arrays(None, [1, 0, 1, 0], qid=[1, 1, 2, 2]))

    @pk.torch_loss
    def detached(scores, labels):
        return torch.tensor(float(((scores.detach() - labels) ** 2).sum()))

    with pytest.raises(LossError, match=r"'detached' has a value without a gradient.*detach\(\)"):
        detached(scores, one)

    @pk.torch_loss
    def infinite(scores, labels):
        return (scores - scores).sqrt().sum()

    with pytest.raises(LossError, match="'infinite' gives value 0, gradient .*nan.* for query 1"):
        infinite(scores, one)
    with pytest.raises(LossError, match=r"a loss is a function of \(scores, labels\[, weights\]\[, mask\], parameter"):
        pk.torch_loss(lambda scores, labels, gradient: 0.0, name="wrong")
    with pytest.raises(LossError, match="'Logistic' is the name of a built-in loss"):
        pk.torch_loss(name="Logistic")(lambda scores, labels: scores.sum())

    @pk.loss
    def imports(scores, labels, gradient):
        import torch

        return torch.tensor(scores).sum()

    with pytest.raises(LossError, match="'imports' cannot be compiled(.|\n)*plackett.torch_loss makes a loss"):
        imports(scores, one)


def test_queries_of_constant_value_have_no_gradient():
    @pk.torch_loss
    def some(scores, labels):
        return scores.sum() if (labels > 0).any() else 0.0

    data = RankingDataset.from_arrays(None, [1, 0, 0, 0], qid=[1, 1, 2, 2])
    assert some.gradient(np.zeros(4), data)[0].tolist() == [1, 1, 0, 0]
    nothing = RankingDataset.from_arrays(None, [0, 0], qid=[1, 1])
    assert some.gradient(np.zeros(2), nothing)[0].tolist() == [0, 0]
    assert some(np.empty(0), nothing.select([])) == 0.0


def test_a_saved_model_predicts_where_its_loss_is_unknown(tmp_path):
    data = ranking_data()
    ranker = GradientRanker(loss=torch_logistic.replace(margin=0.25), model="linear").fit(data)
    ranker.save(tmp_path / "model.plackett")
    here = pk.load(tmp_path / "model.plackett")
    assert here.loss == ranker.loss
    np.savez(tmp_path / "data.npz", X=data.X, y=data.y, qid=data.qid, expected=ranker.predict(data))
    elsewhere = textwrap.dedent(
        """
        import sys
        import numpy as np
        import plackett as pk

        folder = sys.argv[1]
        d = np.load(folder + "/data.npz")
        ranker = pk.load(folder + "/model.plackett")
        np.testing.assert_array_equal(ranker.predict(d["X"], qid=d["qid"]), d["expected"])
        assert repr(ranker.loss) == "torch_logistic(margin=0.25)", ranker.loss
        assert "torch" not in sys.modules
        try:
            ranker.fit(d["X"], d["y"], qid=d["qid"])
        except pk.LossError as error:
            assert "'torch_logistic' is not defined here" in str(error), error
        else:
            raise SystemExit("trained with an unknown loss")
        """
    )
    subprocess.run([sys.executable, "-c", elsewhere, str(tmp_path)], check=True)
