"""P-norm push: its limits, and what it pushes."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import LossError, RankingDataset
from plackett.losses import Exponential, PNormPushLoss

rng = np.random.default_rng(0)
Y, SCORES = rng.integers(0, 3, 15).astype(float), rng.normal(size=15)
DATA = RankingDataset.from_arrays(None, Y, sample_weight=rng.uniform(0, 2, 15))


def test_with_p_1_it_is_the_exponential_loss_of_rankboost():
    for mine, other in zip(
        PNormPushLoss(p=1.0).bind(DATA).evaluate(SCORES), Exponential().bind(DATA).evaluate(SCORES), strict=True
    ):
        np.testing.assert_allclose(mine, other, rtol=1e-12)


def test_p_th_root_comes_to_the_worst_document():
    data = RankingDataset.from_arrays(None, Y)
    worst = max(sum(np.exp(SCORES[v] - SCORES[u]) for u in range(15) if Y[u] > Y[v]) for v in range(15))
    roots = [PNormPushLoss(p=p)(SCORES, data) ** (1 / p) for p in (1.0, 4.0, 16.0, 64.0)]
    assert (np.diff(roots) < 0).all() and roots[-1] == pytest.approx(worst, rel=0.05) and roots[-1] >= worst


def test_the_larger_p_the_more_the_push_is_on_the_top():
    """The share of the push that goes to the worst of the bad documents grows with p."""
    data = RankingDataset.from_arrays(None, [1, 0, 0, 0])
    shares = []
    for p in (1.0, 2.0, 8.0):
        gradient = PNormPushLoss(p=p).gradient(np.array([1.0, 2.0, 1.5, 0.0]), data)[0]
        shares.append(gradient[1] / gradient[1:].sum())
    assert shares == pytest.approx([np.exp(2 * p) / sum(np.exp(p * np.array([2.0, 1.5, 0.0]))) for p in (1, 2, 8)])


def test_p_is_at_least_1():
    with pytest.raises(LossError, match=r"p=0\.5"):
        PNormPushLoss(p=0.5)
