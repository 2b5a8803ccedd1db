"""QBRank, MPBoost, TieBoost, LambdaLossMART: the loss of each falls, and its parameters reach it."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import LossError, RankingDataset
from plackett.losses import LambdaLoss, MagnitudePreserving, QuadraticBound, RaoKupper, ThurstoneMosteller
from plackett.rankers import LambdaLossMART, MPBoost, QBRank, TieBoost
from plackett.testing.rankers import easy_task

SMALL = {"n_estimators": 12, "num_leaves": 5, "min_child_samples": 1, "n_jobs": 1}


def losses_after_each_tree(ranker, X, y, qid):
    data = RankingDataset.from_arrays(X, y, qid)
    booster = ranker.fit(data).scorer_.booster
    return [
        ranker.make_loss()(booster.predict(X, num_iteration=t) if t else np.zeros(y.size), data)
        for t in range(ranker.n_estimators + 1)
    ]


@pytest.mark.parametrize("cls", [QBRank, MPBoost, TieBoost])
def test_loss_falls_with_every_tree(cls):
    """For QBRank with full steps too, since each tree minimises a bound of the loss."""
    rate = 1.0 if cls is QBRank else 0.2
    losses = losses_after_each_tree(cls(learning_rate=rate, **SMALL), *easy_task())
    assert (np.diff(losses) <= 1e-6 * losses[0]).all() and losses[-1] < 0.7 * losses[0]


@pytest.mark.parametrize("bound", ["nDCG1", "nDCG2", "nDCG2++", "ARP1", "ARP2"])
def test_lambdaloss_falls(bound):
    ranker = LambdaLossMART(bound=bound, **SMALL)
    losses = losses_after_each_tree(ranker, *easy_task())
    # nDCG1 and ARP1 count every pair in both directions, and documents of equal labels, which cannot all be first
    assert losses[-1] < (0.95 if bound.endswith("1") else 0.7) * losses[0]


@pytest.mark.parametrize("comparison", ["bradley-terry", "thurstone"])
def test_ties_bring_documents_of_equal_labels_together(comparison):
    """The more a tie counts, the closer the scores of tied documents, as the likelihood asks."""
    X, y, qid = easy_task(n_queries=40)
    tied = np.array([(u, v) for u in range(y.size) for v in range(u) if qid[u] == qid[v] and y[u] == y[v]]).T
    distances = []
    for tie_weight in (0.0, 0.3, 3.0, 30.0):
        ranker = TieBoost(comparison=comparison, tie_weight=tie_weight, **(SMALL | {"n_estimators": 40}))
        scores = ranker.fit(X, y, qid=qid).predict(X, qid=qid)
        distances.append(np.abs(scores[tied[0]] - scores[tied[1]]).mean())
    assert (np.diff(distances) < 0).all()


def test_parameters_reach_the_loss():
    assert QBRank(tau=0.3, normalize=False).make_loss() == QuadraticBound(margin=0.3)
    assert MPBoost(beta=1.5).make_loss() == MagnitudePreserving(beta=1.5, normalize=True)
    loss = TieBoost(width=np.log(3.0), tie_weight=0.5).make_loss()
    assert isinstance(loss, RaoKupper) and loss.theta == pytest.approx(3.0) and loss.tie_weight == 0.5
    other = TieBoost(comparison="thurstone", width=0.2, tie_weight=1.0, normalize=False).make_loss()
    assert other == ThurstoneMosteller(epsilon=0.2)
    assert LambdaLossMART(bound="ARP1", mu=3.0, sigma=2.0, gain="linear").make_loss() == LambdaLoss(
        bound="ARP1", mu=3.0, sigma=2.0, gain="linear"
    )
    with pytest.raises(LossError, match="comparison='elo'; give one of 'bradley-terry', 'thurstone'"):
        TieBoost(comparison="elo").fit([[0.0], [1.0]], [0, 1], qid=[0, 0])
