"""Regression and DCG, inversions and nDCG, measures on samples of documents."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.losses import SubsetSquare
from plackett.theory.consistency.dcg_regret import dcg_regret_bound
from plackett.theory.consistency.inversion_bound import ndcg_inversion_bound
from plackett.theory.consistency.sampled_ranks import sampled_dcg, sampled_ranks


def test_regression_bounds_the_loss_of_dcg():
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(4000):
        m = rng.integers(2, 9)
        gains = rng.random(m) * rng.choice([1, 7, 15])
        s = gains + rng.standard_normal(m) * rng.choice([0.05, 0.5, 5.0])
        k = int(rng.integers(1, m + 1))
        c = np.where(np.arange(m) < k, 1 / np.log2(np.arange(2, m + 2)), 0)
        lost = np.sort(gains)[::-1] @ c - gains[np.argsort(-s)] @ c
        bound = dcg_regret_bound(s, gains, k=k)
        assert lost <= bound + 1e-12
        ratios.append(lost / bound)
    assert 0.3 < max(ratios) <= 1
    assert dcg_regret_bound([3.0, 100.0], [1.0, 2.0]) > 0  # the converse fails: right order, large loss


def test_subset_square_has_its_gradient_and_pushes_the_worst_irrelevant_down():
    rng = np.random.default_rng(0)
    data = pk.RankingDataset.from_arrays(None, [2, 1, 0, 0, 0])
    loss = SubsetSquare(over=3.0, level=0.2)
    s = rng.standard_normal(5)
    step = 1e-6 * rng.standard_normal(5)
    slope = (loss(s + step, data) - loss(s - step, data)) / 2
    assert slope == pytest.approx(loss.gradient(s, data)[0] @ step, rel=1e-4)

    # documents 0 and 2 share a score (the class cannot tell them apart): the larger u, the nearer it comes to the level
    def shared(u):
        grid = np.linspace(-1, 3, 401)
        values = [SubsetSquare(over=u, level=0.2)([t, 1.0, t, -5.0, -5.0], data) for t in grid]
        return grid[int(np.argmin(values))]

    result = [shared(u) for u in (0.0, 1.0, 10.0, 1000.0)]
    assert result[0] == pytest.approx(2.0, abs=0.01) and result == sorted(result, reverse=True)
    assert result[-1] == pytest.approx(0.2, abs=0.02)


def test_inverted_gains_bound_ndcg_and_the_bound_is_attained():
    rng = np.random.default_rng(0)
    best = 0.0
    for _ in range(500):
        m = rng.integers(2, 8)
        y = rng.integers(0, 4, m)
        s = np.round(y + rng.standard_normal(m) * rng.choice([0.3, 1, 3]), 1)
        bound = ndcg_inversion_bound(s, y)
        data = pk.RankingDataset.from_arrays(None, y)
        if y.max() == 0:
            assert bound == 0
            continue
        error = 1 - pk.evaluate(data, s, ['nDCG(ties="pessimistic")']).mean['nDCG(ties="pessimistic")']
        assert error <= bound + 1e-12
        best = max(best, error / bound if bound else 0)
    assert best == pytest.approx(1.0)


def test_sampled_ranks_and_linear_dcg_are_unbiased_and_logarithmic_dcg_is_not():
    rng = np.random.default_rng(0)
    m, p = 30, 0.4
    y = rng.integers(0, 3, m).astype(float)
    s = rng.permutation(m).astype(float)
    chances = np.full(m, p)
    chances[:10] = 0.8
    ranks = 1 + (s[None, :] > s[:, None]).sum(axis=1)
    gains = 2**y - 1
    seen, counts = np.zeros(m), np.zeros(m)
    linear, logs = [], []
    for _ in range(1200):
        kept = np.flatnonzero(rng.random(m) < chances)
        if not kept.size:
            continue
        data = pk.RankingDataset.from_arrays(None, y[kept])
        np.add.at(seen, kept, sampled_ranks(s[kept], data, chances[kept]))
        counts[kept] += 1
        linear.append(sampled_dcg(s[kept], data, chances[kept], discount="linear")[0])
        logs.append(sampled_dcg(s[kept], data, chances[kept])[0])
    assert seen / counts == pytest.approx(ranks, abs=1.2)  # four standard errors of the lowest
    exact_linear, exact_log = -(gains @ ranks), gains @ (1 / np.log2(1 + ranks))
    assert np.mean(linear) == pytest.approx(exact_linear, abs=4 * np.std(linear) / np.sqrt(len(linear)))
    assert np.mean(logs) - exact_log > 4 * np.std(logs) / np.sqrt(len(logs))  # biased upwards


def test_sampled_ranks_of_several_queries_with_ties_are_the_loop():
    rng = np.random.default_rng(1)
    qid = rng.integers(0, 4, 30)
    data = pk.RankingDataset.from_arrays(None, rng.integers(0, 2, 30), qid)
    s, p = rng.integers(0, 4, 30).astype(float), rng.uniform(0.3, 1, 30)
    expected = [
        1 + sum(1 / p[v] for v in range(30) if data.query_of_row[v] == data.query_of_row[u] and s[v] > s[u])
        for u in range(30)
    ]
    assert sampled_ranks(s, data, p) == pytest.approx(expected)
    assert sampled_ranks(s, data, 1.0).min() == 1
    with pytest.raises(pk.DataError, match="above 0"):
        sampled_ranks(s, data, 0.0)
