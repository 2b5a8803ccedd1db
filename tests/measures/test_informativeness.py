"""Informativeness against measuring every swapped list by itself."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

import plackett as pk
from plackett import RankingDataset
from plackett.measures.ap import AP
from plackett.measures.informativeness import informativeness
from plackett.measures.ndcg import nDCG
from plackett.measures.precision import P


def example(grades, n=300, seed=0):
    rng = np.random.default_rng(seed)
    data = RankingDataset.from_arrays(rng.normal(size=(n, 2)), rng.integers(0, grades, n), rng.integers(0, 9, n))
    return data, rng.integers(0, 40, n).astype(float)


def naive(measure, data, scores):
    seen, total = [], []
    for q in range(data.n_queries):
        rows = slice(data.offsets[q], data.offsets[q + 1])
        labels = data.y[rows][np.argsort(-scores[rows], kind="stable")]
        places = -np.arange(labels.size)
        before = pk.evaluate(labels, places, measure).mean[str(measure)]
        flips = [i for i in range(labels.size - 1) if labels[i] != labels[i + 1]]
        changed = 0
        for i in flips:
            other = labels.copy()
            other[[i, i + 1]] = other[[i + 1, i]]
            changed += abs(pk.evaluate(other, places, measure).mean[str(measure)] - before) > 1e-12
        seen.append(changed)
        total.append(len(flips))
    return seen, total


@pytest.mark.parametrize("measure", [nDCG, nDCG @ 5, AP, P @ 10])
def test_counts_equal_measuring_every_swap(measure, monkeypatch):
    monkeypatch.setattr(import_module("plackett.measures.informativeness"), "_ROWS_AT_ONCE", 500)  # several parts
    data, scores = example(3)
    result = informativeness(measure, data, scores)
    seen, total = naive(measure, data, scores)
    assert result.seen.tolist() == seen and result.total.tolist() == total


def test_what_the_book_says():
    data, scores = example(5)
    order = [np.argsort(-scores[a:b], kind="stable") + a for a, b in zip(data.offsets, data.offsets[1:], strict=False)]
    ranked = [data.y[rows] for rows in order]
    result = informativeness("nDCG", data, scores)
    assert result.seen.tolist() == result.total.tolist() and result.share == 1.0
    relevant = [int((np.diff((labels >= 1).astype(int)) != 0).sum()) for labels in ranked]
    assert informativeness(AP, data, scores).seen.tolist() == relevant
    across = [int((labels[9] >= 1) != (labels[10] >= 1)) for labels in ranked]
    assert informativeness(P @ 10, data, scores).seen.tolist() == across


def test_queries_without_a_swap():
    data = RankingDataset.from_arrays(None, [1, 1, 0, 2], [1, 1, 2, 3])
    result = informativeness(nDCG, data, [1, 2, 3, 4])
    assert result.total.tolist() == [0, 0, 0] and result.seen.tolist() == [0, 0, 0] and np.isnan(result.share)
