from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import plackett as pk
from plackett import DataError
from plackett.data.estimators import fit
from plackett.feature_selection import efficiency_tradeoff
from plackett.rankers import storage


@pytest.fixture(scope="module")
def pair():
    """Feature 0 is the label with noise, 1 the same for ten times the price, 2 and 3 are noise."""
    result = []
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 3, 240)
        signal = y + rng.normal(scale=0.3, size=240)
        X = np.column_stack([signal, signal, rng.normal(size=(240, 2))])
        result.append(pk.RankingDataset.from_arrays(X, y, np.repeat(np.arange(24), 10), feature_names=list("abcd")))
    return result


@pytest.mark.parametrize("method", ["forward", "importance"])
def test_the_cheap_twin_is_chosen(pair, method):
    result = pk.feature_frontier("LinearRegression", *pair, costs={"b": 10.0}, epsilon=0.02, method=method)
    assert result.selected.tolist() == [0]
    frame = result.frame
    assert frame["cost"].to_list()[-1] == pytest.approx(13.0)
    row = frame.filter(frame["chosen"])
    # the value is that of a ranker trained on this feature alone
    alone = [data.replace(X=data.X[:, :1], feature_names=("a",)) for data in pair]
    value = pk.LinearRegression().fit(alone[0]).score(alone[1])
    assert row["value"].to_list() == [pytest.approx(value)]
    assert row["value"][0] >= frame["value"].max() - 0.02


def test_the_first_features_equal_a_search_over_all(pair):
    train, valid = pair
    result = pk.feature_frontier("LinearRegression", train, valid)

    def value(columns):
        parts = [data.replace(X=data.X[:, columns], feature_names=None) for data in pair]
        return pk.LinearRegression().fit(parts[0]).score(parts[1])

    first = [value([j]) for j in range(4)]
    assert result.frame["value"][0] == pytest.approx(max(first))
    start = "abcd".index(result.frame["added"][0])
    second = [value(sorted([start, j])) for j in range(4) if j != start]
    assert result.frame["value"][1] == pytest.approx(max(second))
    best = -np.inf
    for value, on in result.frame.select("value", "frontier").rows():
        assert on == (value > best)
        best = max(best, value)


def test_smaller_is_better_measures_keep_their_sign(pair):
    result = pk.feature_frontier("LinearRegression", *pair, measure="ARP", epsilon=0.05)
    assert (result.frame["value"] > 0).all()
    assert result.frame.filter(result.frame["chosen"])["value"][0] <= result.frame["value"].min() + 0.05


def test_the_budget_is_respected(pair):
    result = pk.feature_frontier("LinearRegression", *pair, costs=[3, 10, 0.1, 0.2], budget=3.2, epsilon=0)
    assert result.frame["cost"].max() <= 3.2 * (1 + 1e-9)
    with pytest.raises(DataError, match="budget"):
        pk.feature_frontier("LinearRegression", *pair, costs=[3, 10, 1, 2], budget=0.5)


@pytest.mark.parametrize("parameters", [{"method": "best"}, {"epsilon": -1}, {"costs": [1, 2]}, {"costs": {"z": 1}}])
def test_wrong_parameters(pair, parameters):
    with pytest.raises(DataError, match=next(iter(parameters))):
        pk.feature_frontier("LinearRegression", *pair, **parameters)


def test_selector_in_a_saved_pipeline(pair, tmp_path):
    train, valid = pair
    costs = {"b": 10.0}
    pipeline = make_pipeline(pk.CheapestSelector(costs=costs, epsilon=0.02), pk.LinearRegression())
    fit(pipeline, train)
    assert pipeline[0].selected_.tolist() == [0]
    storage.save(pipeline, tmp_path / "m.plackett")
    result = pk.load(tmp_path / "m.plackett")
    np.testing.assert_allclose(result.predict(valid), pipeline.predict(valid))


def test_a_constant_feature_is_no_surprise(pair):
    parts = [
        data.replace(X=np.hstack([data.X[:, :1], np.ones((240, 1), np.float32)]), feature_names=None) for data in pair
    ]
    result = pk.feature_frontier("LinearRegression", *parts)  # a warning would be an error here
    assert result.frame["added"].to_list() == ["1", "2"] and result.selected.tolist() == [0]


def test_trade_off():
    gamma, time = np.array([0.2, 0.9]), np.array([0.5, 2.0])
    sigma = np.exp(-0.3 * time)
    result = efficiency_tradeoff(gamma, time, rate=0.3)
    np.testing.assert_allclose(result, 2 * gamma * sigma / (gamma + sigma))
    np.testing.assert_allclose(efficiency_tradeoff(gamma, time, rate=0.3, beta=0), sigma)
    np.testing.assert_allclose(efficiency_tradeoff(gamma, time, rate=0.3, beta=1e6), gamma, rtol=1e-9)
    np.testing.assert_allclose(efficiency_tradeoff(gamma, 0.0, beta=np.inf), gamma)


LINEAR = pk.LinearRegression(n_jobs=1, max_iter=30)


def _made(seed, n_features=4):
    """Overlapping noisy views of three signals, with prices that grow with their quality."""
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(3, n_features))
    parts = []
    for _ in range(2):
        z = rng.normal(size=(160, 3))
        X = z @ mix + rng.normal(scale=0.5, size=(160, n_features))
        y = np.digitize(z.sum(axis=1), [0.5, 2.0]).astype(float)
        parts.append(pk.RankingDataset.from_arrays(X, y, np.repeat(np.arange(16), 10)))
    return parts, rng.integers(1, 9, n_features).astype(float)


@pytest.mark.parametrize(("seed", "budget"), [(0, None), (1, 14.0)])
def test_the_exact_set_is_the_cheapest_of_all(seed, budget):
    pair, costs = _made(seed)
    result = pk.feature_frontier(LINEAR, *pair, costs=costs, epsilon=0.02, budget=budget, method="exact")
    values = {}
    for size in range(1, 5):
        for some in itertools.combinations(range(4), size):
            if budget is None or costs[list(some)].sum() <= budget:
                train, valid = (data.replace(X=data.X[:, list(some)]) for data in pair)
                values[some] = LINEAR.fit(train).score(valid)
    good = [some for some, value in values.items() if value >= max(values.values()) - 0.02]
    least = min(costs[list(some)].sum() for some in good)
    assert costs[result.selected].sum() == pytest.approx(least)
    assert tuple(sorted(result.selected.tolist())) in good
    assert result.frame.height == len(values)
    for row in result.frame.rows(named=True):
        better = [s for s, v in values.items() if v >= row["value"] - 1e-12 and costs[list(s)].sum() < row["cost"]]
        assert not (row["frontier"] and better)
    greedy, pruned = (
        pk.feature_frontier(LINEAR, *pair, costs=costs, epsilon=0.02, budget=budget, method=method)
        for method in ("forward", "prune")
    )
    assert costs[pruned.selected].sum() <= costs[greedy.selected].sum()
    key = tuple(sorted(pruned.selected.tolist()))
    assert values[key] >= pruned.frame["value"].max() - 0.02 - 1e-12


def test_pruning_finds_what_growing_cannot():
    """The dear feature is best alone, but two cheap ones say the same together."""
    rng = np.random.default_rng(0)
    pair = []
    for _ in range(2):
        z = rng.normal(size=(400, 2))
        y = np.digitize(z.sum(axis=1), [-1, 0, 1]).astype(float)
        X = np.column_stack([z.sum(axis=1) + 0.02 * rng.normal(size=400), z])
        pair.append(pk.RankingDataset.from_arrays(X, y, np.repeat(np.arange(40), 10)))
    parameters = {"costs": [3.0, 1.0, 1.0], "epsilon": 0.01}
    exact = pk.feature_frontier(LINEAR, *pair, method="exact", **parameters)
    pruned = pk.feature_frontier(LINEAR, *pair, method="prune", **parameters)
    assert sorted(exact.selected.tolist()) == sorted(pruned.selected.tolist()) == [1, 2]


def test_exact_refuses_too_many_features():
    data = pk.datasets.make_ranking(5, 5, 16, random_state=0)
    with pytest.raises(DataError, match="prune"):
        pk.feature_frontier("LinearRegression", data, data, method="exact")
