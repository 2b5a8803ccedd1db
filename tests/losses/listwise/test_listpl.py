"""ListPL: in the mean over draws it is ListNet on whole orders, and cold labels make it ListMLE."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.losses.listwise.listmle import ListMLELoss
from plackett.losses.listwise.listnet_top_k import ListNetTopKLoss
from plackett.losses.listwise.listpl import ListPL


def test_its_mean_is_the_gradient_of_listnet_on_whole_orders():
    data = pk.RankingDataset.from_arrays(None, [2, 0, 1, 1, 0])
    scores = np.array([0.3, -0.5, 0.0, 1.0, 0.2])
    for k in (None, 2):
        expected = ListNetTopKLoss(k=k).gradient(scores, data)[0]
        result = ListPL(k=k, n_samples=40_000).gradient(scores, data)[0]
        np.testing.assert_allclose(result, expected, atol=0.02)  # about four standard errors


def test_labels_without_doubt_make_it_listmle():
    rng = np.random.default_rng(0)
    labels = np.concatenate([rng.permutation(7), rng.permutation(9)])
    data = pk.RankingDataset.from_arrays(None, labels, qid=np.repeat([0, 1], [7, 9]))
    scores = rng.normal(size=16)
    for mine, theirs in zip(
        ListPL(temperature=1e-3).gradient(scores, data), ListMLELoss().gradient(scores, data), strict=True
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


def test_orders_are_drawn_anew_when_the_ranking_changes():
    data = pk.RankingDataset.from_arrays(None, [1, 0, 1, 0, 2, 0, 1, 0])
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(20, 8)) * 1e-9  # equal but for their order: other gradients come from other draws
    result = {tuple(np.round(ListPL().gradient(s, data)[0], 6)) for s in scores}
    assert len(result) > 15
    seeds = {tuple(ListPL(random_state=s).gradient(scores[0], data)[0]) for s in range(10)}
    assert len(seeds) > 7


def test_networks_learn_with_it():
    pytest.importorskip("torch", reason="networks need the extra 'neural'")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.3, 0.8]).astype(float)
    data = pk.RankingDataset.from_arrays(X, y, np.arange(300) // 10)
    network = pk.Neural(hidden=(8,), max_epochs=15, learning_rate=0.02, device="cpu", n_jobs=1)
    for loss in (ListPL(), ListPL(k=3, temperature=0.5, n_samples=4), "ListNet", "ListMLE"):
        assert pk.GradientRanker(loss=loss, model=network).fit(data).score(data) > 0.9


@pytest.mark.parametrize("parameters", [{"k": 0}, {"temperature": 0.0}, {"n_samples": 0}])
def test_refusals_name_the_parameter(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        ListPL(**parameters)
