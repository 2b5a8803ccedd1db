"""Curves against the measures they are made of, and against the definition."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett import RankingDataset
from plackett._base.errors import MeasureError
from plackett.measures.auc import AUC
from plackett.measures.curves import measure_curve, precision_recall_curve
from plackett.measures.ndcg import nDCG


def example():
    rng = np.random.default_rng(0)
    data = RankingDataset.from_arrays(None, rng.integers(0, 3, 120), rng.integers(0, 6, 120))
    return data, rng.permutation(120).astype(float)


def test_measure_curve():
    data, scores = example()
    ks = [1, 2, 5, 40]
    means = pk.evaluate(data, scores, [nDCG @ k for k in ks]).mean
    assert measure_curve(data, scores, nDCG, ks).tolist() == list(means.values())
    with pytest.raises(MeasureError, match="AUC has no cut-off"):
        measure_curve(data, scores, AUC)


def test_precision_recall_curve():
    rng = np.random.default_rng(1)
    # ten relevant documents each: every level is reached at a whole number of them, whatever the rounding
    labels = np.concatenate([rng.permutation(np.repeat([0, 1, 2], [20, 6, 4])) for _ in range(6)])
    data = RankingDataset.from_arrays(None, labels, np.repeat(np.arange(6), 30))
    scores = rng.permutation(180).astype(float)
    expected = np.zeros(11)
    for a, b in zip(data.offsets, data.offsets[1:], strict=False):
        relevant = (data.y[a:b] >= 1)[np.argsort(-scores[a:b])]
        hits = np.cumsum(relevant)
        precision, recall = hits / np.arange(1, b - a + 1), hits / hits[-1]
        expected += [precision[recall >= level - 1e-12].max() for level in np.linspace(0, 1, 11)]
    recall, precision = precision_recall_curve(data, scores)
    np.testing.assert_allclose(recall, np.arange(11) / 10)
    np.testing.assert_allclose(precision, expected / data.n_queries)
    assert (np.diff(precision) <= 0).all()
