"""What to train on."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest

from plackett import RankingDataset
from plackett._base.errors import DataError
from plackett.clicks import selection_weights
from plackett.selection.training.density_ratio import kliep_weights, ulsif_weights
from plackett.selection.training.ppc import (
    ConsistentPairs,
    consistent_documents,
    consistent_pairs,
    consistent_queries,
    preference_consistency,
    query_directions,
)
from plackett.selection.training.saturation import fit_power_law, gain_interval, saturation


def _data(seed=0, n=18, n_features=3, n_queries=3):
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, 3, n).astype(float)
    return RankingDataset.from_arrays(rng.normal(size=(n, n_features)), labels, np.arange(n) % n_queries)


def _pairs_of(data, q):
    rows = range(data.offsets[q], data.offsets[q + 1])
    y = data.labels
    return [(u, v) for u in rows for v in rows if y[u] > y[v] >= 0]


@pytest.mark.parametrize("seed", range(4))
def test_consistency_by_its_double_sum(seed):
    data = _data(seed)
    X = data.X.astype(float)
    total = 0.0
    for q, p in itertools.product(range(3), repeat=2):
        one, two = _pairs_of(data, q), _pairs_of(data, p)
        if one and two:
            inner = sum((X[u] - X[v]) @ (X[s] - X[t]) for u, v in one for s, t in two)
            total += inner / (len(one) * len(two))
    assert preference_consistency(data) == pytest.approx(total)


def test_queries_without_pairs_and_flipped_labels():
    data = RankingDataset.from_arrays([[1.0], [2.0], [3.0], [4.0]], [1, 1, 0, 1], [0, 0, 1, 1])
    assert query_directions(data).tolist() == [[0.0], [1.0]]
    assert query_directions(data.replace(y=1.0 - data.labels)).tolist() == [[0.0], [-1.0]]


def test_pairs_against_all_subsets():
    rng = np.random.default_rng(1)
    data = RankingDataset.from_arrays(rng.normal(size=(7, 2)), [0, 1, 1, 0, 1, 1, 1], [0] * 3 + [1] * 4)
    for reward in (0.0, 0.05):
        result = consistent_pairs(data, reward=reward)
        size = np.array([len(_pairs_of(data, data.query_of_row[u])) for u in result.pairs[:, 0]])
        R = (data.X[result.pairs[:, 0]] - data.X[result.pairs[:, 1]]).astype(float) / size[:, None]
        R = np.column_stack((R, np.full(len(R), reward)))
        best = max(np.square(np.array(w) @ R).sum() for w in itertools.product((0, 1), repeat=len(R)))
        assert result.objective == pytest.approx(np.square(R[result.chosen].sum(axis=0)).sum())
        assert result.objective == pytest.approx(best)  # a heuristic; on this instance it is exact
    assert consistent_pairs(data, reward=1e6).chosen.all()


def test_pairs_need_no_matrix_of_pairs_and_features():
    rng = np.random.default_rng(0)
    data = RankingDataset.from_arrays(rng.normal(size=(200, 60)), np.arange(200) % 5)
    tracemalloc.start()
    try:
        result = consistent_pairs(data, n_restarts=0, max_iter=2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.5 * 8 * result.pairs.shape[0] * data.n_features


def test_reversed_queries_are_dropped():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] > 0).astype(float)
    qid = np.repeat(np.arange(10), 6)
    wrong = qid < 2
    data = RankingDataset.from_arrays(X, np.where(wrong, 1 - y, y), qid)
    result = consistent_pairs(data)
    bad = wrong[result.pairs[:, 0]]
    assert result.chosen[~bad].mean() > 0.9
    assert result.chosen[bad].mean() < 0.2
    assert not set(consistent_queries(data, 8).tolist()) & {0, 1}
    weights = consistent_documents(data, result)
    assert weights[wrong].mean() < weights[~wrong].mean()


def test_documents_by_eigenvectors():
    data = _data(3)
    result = consistent_pairs(data)
    alpha = consistent_documents(data, result, threshold=0.0)
    for q in range(3):
        rows = slice(data.offsets[q], data.offsets[q + 1])
        n = data.offsets[q + 1] - data.offsets[q]
        omega = np.zeros((n, n))
        for u, v in result.pairs[result.chosen]:
            if data.query_of_row[u] == q:
                omega[u - data.offsets[q], v - data.offsets[q]] = omega[v - data.offsets[q], u - data.offsets[q]] = 1
        value, vectors = np.linalg.eigh(omega)
        if value[-1] - value[-2] > 1e-3:
            np.testing.assert_allclose(alpha[rows], np.sqrt(value[-1]) * np.abs(vectors[:, -1]), atol=1e-4)
    none = ConsistentPairs(result.pairs, np.zeros(len(result.pairs), bool), result.direction, 0.0)
    assert not consistent_documents(data, none).any()


def test_refusals():
    with pytest.raises(DataError, match="no pairs"):
        consistent_pairs(RankingDataset.from_arrays([[1.0], [2.0]], [1, 1]))
    with pytest.raises(DataError, match="only 3 queries"):
        consistent_queries(_data(), 4)


@pytest.mark.parametrize(("a", "b", "c"), [(0.3, 1.0, 0.5), (0.1, 3.0, 1.0), (0.0, 1.0, 0.3)])
def test_curves_are_recovered(a, b, c):
    n = np.array([10, 20, 40, 80, 160, 320], float)
    np.testing.assert_allclose(fit_power_law(n, a + b * n**-c), (a, b, c), rtol=0.02, atol=0.005)


def test_it_stops_within_a_step_of_the_best():
    def error(n):
        return 0.2 + 2.0 * n**-0.7

    result = saturation(error, 100_000, start=10, tolerance=0.01)
    oracle = next(n for n in (10 * 2**i for i in range(20)) if error(n) - error(2 * n) < 0.01)
    assert oracle / 2 <= result.sizes[-1] <= oracle * 2
    assert result.saturated
    assert not saturation(error, 60, start=10, tolerance=1e-5).saturated
    with pytest.raises(DataError, match="steps"):
        saturation(error, 12, start=10)


@pytest.mark.parametrize(("curve", "noise"), [((0.2, 2.0, 0.7), 0.003), ((0.3, 0.8, 0.4), 0.002)])
def test_noise_does_not_stop_it_too_early(curve, noise):
    a, b, c = curve
    steps = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        result = saturation(lambda n, rng=rng: a + b * n**-c + noise * rng.normal(), 2**17, start=8, tolerance=0.01)
        assert result.saturated
        n = result.sizes[-1]
        true = b * (n**-c - (2 * n) ** -c)
        steps.append(n)
        assert true < 0.012
        assert result.gain_low <= result.gain <= result.gain_high
    oracle = next(n for n in (8 * 2**i for i in range(20)) if b * (n**-c - (2 * n) ** -c) < 0.01)
    assert np.median(steps) <= 2 * oracle


def test_two_equal_points_are_not_a_plateau():
    values = dict(zip((8, 16, 32, 64, 128, 256, 500), (0.383, 0.366, 0.362, 0.371, 0.36, 0.352, 0.355), strict=True))
    result = saturation(values.__getitem__, 500, start=8, tolerance=0.002)
    assert not result.saturated
    assert result.gain_high > 0.002


def test_the_interval_covers_the_gain():
    n = 8.0 * 2.0 ** np.arange(8)
    true = n[-1] ** -0.5 * (1 - 2**-0.5)
    missed = []
    for seed in range(60):
        noise = 0.01 * np.random.default_rng(seed).normal(size=n.size)
        _, low, high = gain_interval(n, 0.2 + n**-0.5 + noise)
        missed.append((true < low, true > high))
    assert (np.mean(missed, axis=0) < 0.12).all()  # 0.05 at each end
    assert gain_interval(n[:3], 0.2 + n[:3] ** -0.5)[1:] == (0.0, np.inf)


def test_saturation_refuses_what_cannot_be():
    for bad in ({"confidence": 0.4}, {"tolerance": 0.0}, {"patience": 0}, {"growth": 1.0}, {"start": 0}):
        with pytest.raises(DataError):
            saturation(lambda n: 1.0 / n, 100, **bad)
    with pytest.raises(DataError, match="finite"):
        saturation(lambda n: np.nan, 100)


@pytest.mark.parametrize("method", [selection_weights, kliep_weights, ulsif_weights])
def test_density_ratios(method):
    rng = np.random.default_rng(0)
    train, test = rng.normal(0, 1, (1500, 2)), rng.normal([0.6, 0], 1, (1500, 2))
    weight = method(train, test)
    assert weight.mean() == pytest.approx(1.0)
    assert (weight >= 0).all()
    assert (weight * train[:, 0]).mean() == pytest.approx(0.6, abs=0.15)
    truth = np.exp(0.6 * train[:, 0] - 0.18)
    assert np.corrcoef(weight, truth)[0, 1] > 0.9
    same = method(train, rng.normal(size=(1500, 2)))
    assert same.std() < 0.2
    with pytest.raises(DataError, match="features"):
        method(train, test[:, :1])
