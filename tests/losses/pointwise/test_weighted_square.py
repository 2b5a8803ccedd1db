"""Weighted regression: the plain loss as a special case, and only over-scored documents pay."""

from __future__ import annotations

import numpy as np

from plackett import RankingDataset
from plackett.losses.pointwise.square import Square
from plackett.losses.pointwise.subset_square import SubsetSquare
from plackett.losses.pointwise.weighted_square import WeightedSquare


def test_no_importance_is_the_plain_loss():
    rng = np.random.default_rng(0)
    data = RankingDataset.from_arrays(None, rng.integers(-1, 4, 30) * 1.0, np.repeat([1, 2, 3], 10))
    scores = rng.normal(size=30)
    plain, weighted = Square(), WeightedSquare(strength=0.0)
    np.testing.assert_array_equal(weighted.gradient(scores, data), plain.gradient(scores, data))
    assert weighted(scores, data) == plain(scores, data)
    # a table of importances is the weight of documents
    table = WeightedSquare(importance={0: 0, 1: 2, 2: 5, 3: 9})
    by_hand = data.replace(sample_weight=1 + np.array([0, 2, 5, 9])[np.maximum(data.y, 0).astype(int)] * 1.0)
    np.testing.assert_allclose(table(scores, data), plain(scores, by_hand))


def test_only_the_worst_irrelevant_document_pays():
    data = RankingDataset.from_arrays(None, [2.0, 0, 0, 0, -1], [1] * 5)
    loss = SubsetSquare(over=3.0, level=0.5)
    assert loss([2.0, 0.5, -100.0, 0.0, 50.0], data) == 0.0
    assert loss([2.0, 1.5, 2.5, 0.0, 50.0], data) == 0.5 * 3.0 * 2.0**2
    gradient, _ = loss.gradient([2.0, 1.5, 2.5, 2.5, 50.0], data)
    assert gradient.tolist() == [0.0, 0.0, 3.0, 3.0, 0.0]  # two worst share 3 · 2
