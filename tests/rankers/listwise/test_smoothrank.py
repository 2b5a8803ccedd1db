"""SmoothRank: the schedule of widths."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import LossError, RankingDataset
from plackett.losses import SmoothRankLoss, Square
from plackett.models.linear import Linear
from plackett.rankers.listwise.smoothrank import SmoothRank
from plackett.solvers.monitor import Monitor


def task(seed):
    """Labels that follow one feature at the top and another one, which has more variance, below."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(600, 5)).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=600), [0.5, 1.2, 2.0]).astype(float) + (X[:, 1] > 1.5)
    return RankingDataset.from_arrays(X, y, np.arange(600) // 15)


def test_one_stage_is_plain_training():
    data = task(0)
    ranker = SmoothRank(n_stages=1, sigma_start=0.5, sigma=0.5, max_iter=20)
    result = ranker.train(ranker.make_loss(), data, Monitor())
    model = Linear(max_iter=10)
    start = model.train(Square(), data, Monitor())
    plain = model.train(SmoothRankLoss(sigma=0.5), data, Monitor(), start)
    np.testing.assert_array_equal(result.weights, plain.weights)


def test_annealing_is_no_worse_than_a_narrow_start():
    """Lower loss in the end on most data, in half the iterations."""
    better = 0
    for seed in range(5):
        data = task(seed)
        narrow = SmoothRank(n_stages=1, sigma_start=0.05, sigma=0.05, max_iter=600).fit(data).predict(data)
        annealed = SmoothRank(sigma=0.05, max_iter=300).fit(data).predict(data)
        loss = SmoothRankLoss(sigma=0.05)
        better += loss(annealed, data) <= loss(narrow, data)
    assert better >= 4


def test_improves_on_least_squares():
    data = task(1)
    squares = Linear().train(Square(), data, Monitor())
    loss = SmoothRankLoss(sigma=0.1)
    start = squares.predict(data.X, data.offsets)
    assert loss(SmoothRank().fit(data).predict(data), data) < loss(start, data)


def test_refusals():
    for parameters in ({"n_stages": 0}, {"sigma": 5.0}):
        with pytest.raises(LossError, match="sigma_start"):
            SmoothRank(**parameters).fit([[0.0], [1.0]], [0, 1], qid=[1, 1])
