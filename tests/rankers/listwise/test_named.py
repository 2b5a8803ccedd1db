"""Named listwise rankers: the loss that each minimises, and that it does."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import RankingDataset
from plackett.losses import ApproxAPLoss, BoltzRankLoss, ListMLELoss, ListNetTopKLoss, StructRankLoss, XENDCGLoss
from plackett.rankers.listwise.approx_ap import ApproxAP
from plackett.rankers.listwise.boltzrank import BoltzRank
from plackett.rankers.listwise.listmle import ListMLE
from plackett.rankers.listwise.listnet_top_k import ListNetTopK
from plackett.rankers.listwise.structrank import StructRank
from plackett.rankers.listwise.xendcg import XENDCG


@pytest.mark.parametrize(
    ("ranker", "loss"),
    [
        (ListMLE(k=5, discount="log2"), ListMLELoss(k=5, discount="log2")),
        (ListNetTopK(k=2, discount="log2"), ListNetTopKLoss(k=2, discount="log2", max_exact=10)),
        (ApproxAP(steepness=2.0, rank_steepness=3.0, rel=2.0), ApproxAPLoss(alpha=2.0, beta=3.0, rel=2.0)),
        (StructRank(structure="document"), StructRankLoss(structure="document")),
        (BoltzRank(mix=0.2, steepness=2.0), BoltzRankLoss(mix=0.2, alpha=2.0)),
        (XENDCG(gamma=0.1), XENDCGLoss(gamma=0.1)),
        (XENDCG(noise=True, random_state=4), XENDCGLoss(random_state=4)),
    ],
    ids=lambda item: type(item).__name__,
)
def test_minimises_its_loss(ranker, loss):
    assert ranker.make_loss() == loss
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    y = np.digitize(X[:, 0] - X[:, 2] + rng.normal(size=300), [0.0, 1.5]).astype(float)
    data = RankingDataset.from_arrays(X, y, np.arange(300) // 12)
    fitted = loss(ranker.fit(data).predict(data), data)
    assert fitted < 0.9 * loss(np.zeros(300), data)
    assert fitted < 1.1 * loss(X[:, 0].astype(float), data)
    assert fitted < loss((X[:, 1]).astype(float), data)
