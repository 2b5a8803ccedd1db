from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.measures import DCG, nDCG


def test_worked_example():
    assert pk.evaluate([1, 0, 1], [3, 2, 1], [DCG @ 3]).mean["DCG@3"] == pytest.approx(1 + 0.5)


def test_ndcg_is_dcg_over_the_ideal():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, 12).astype(float)
    scores = rng.normal(size=12)
    result = pk.evaluate(labels, scores, [DCG @ 7, nDCG @ 7]).mean
    ideal = pk.evaluate(labels, labels, [DCG @ 7]).mean["DCG@7"]
    assert result["nDCG@7"] == pytest.approx(result["DCG@7"] / ideal)
