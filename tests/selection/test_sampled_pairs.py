"""Samples of pairs against all of them."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett.losses import Logistic
from plackett.selection import sample_pairs


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    sizes = [9, 1, 6, 12]
    labels = rng.integers(-1, 3, sum(sizes)).astype(float)
    weight, per_query = rng.uniform(0.2, 2, sum(sizes)), np.array([1.0, 2.0, 0.5, 3.0])
    data = pk.RankingDataset.from_arrays(
        rng.normal(size=(sum(sizes), 3)),
        labels,
        np.repeat([0, 1, 2, 3], sizes),
        sample_weight=weight,
        query_weight=per_query,
    )
    return data, rng.normal(size=data.n_rows)


def test_the_gradient_is_unbiased_and_its_error_falls(case):
    data, scores = case
    exact = Logistic().gradient(scores, data)[0]
    errors = []
    for n in (50, 800):
        result = np.array([Logistic().gradient(scores, sample_pairs(data, n, random_state=s))[0] for s in range(120)])
        error = result.std(axis=0, ddof=1) / np.sqrt(len(result))
        away = np.abs(result.mean(axis=0) - exact)
        assert (away <= 4.5 * error + 1e-12).all()
        errors.append(np.linalg.norm(result - exact, axis=1).mean())
    assert errors[1] < errors[0] / 2.5  # 1 / 4 is expected of 16 times as many


def test_training_comes_near_the_exact_result():
    train, test = (pk.datasets.make_ranking(40, 20, 6, random_state=seed) for seed in (0, 1))
    parameters = {"loss": "Logistic", "model": "linear", "n_jobs": 1}
    exact = pk.GradientRanker(**parameters).fit(train)
    angles = []
    for n in (30, 3000):
        weights = pk.GradientRanker(**parameters).fit(sample_pairs(train, n)).scorer_.weights[:, 0]
        other = exact.scorer_.weights[:, 0]
        angles.append(weights @ other / np.linalg.norm(weights) / np.linalg.norm(other))
    assert angles[1] > max(angles[0], 0.97)
    assert pk.GradientRanker(**parameters).fit(sample_pairs(train, 3000)).score(test) > exact.score(test) - 0.02


def test_preferences_are_sampled_with_their_margins(case):
    data, _ = case
    pairs = pk.Preferences.from_pairs([(0, 1), (2, 3), (1, 0)], margin=[1.0, 0.5, 2.0], weight=[1.0, 3.0, 0.0])
    some = pk.RankingDataset.from_arrays(data.X[:4], None, [1, 1, 1, 1], preferences=pairs)
    result = sample_pairs(some, 500).preferences
    assert result.to_pairs().tolist() == [[0, 1], [2, 3]] and result.margin.tolist() == [1.0, 0.5]
    assert result.weight.sum() == pytest.approx(4.0) and result.weight[1] == pytest.approx(3.0, abs=0.4)


def test_seeds_and_refusals(case):
    data, _ = case
    one, same, other = (sample_pairs(data, 20, random_state=seed).preferences for seed in (3, 3, 4))
    assert one.to_pairs().tolist() == same.to_pairs().tolist() != other.to_pairs().tolist()
    for bad in (0, -1, 2.5, True):
        with pytest.raises(DataError, match="n_pairs"):
            sample_pairs(data, bad)
    with pytest.raises(DataError, match="no pairs"):
        sample_pairs(data.replace(y=np.ones(data.n_rows)), 3)
    with pytest.raises(DataError, match="neither"):
        sample_pairs(data.replace(y=None), 3)
