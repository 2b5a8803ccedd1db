"""Robust training: the penalty by differences, its effect, noisy copies."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett.losses import Logistic
from plackett.rankers.robust import SwitchPenalty


@pytest.fixture(scope="module")
def pair():
    return [pk.datasets.make_ranking(40, 12, 6, noise=1.0, random_state=seed) for seed in (0, 1)]


@pytest.mark.parametrize("relative", [True, False])
def test_the_gradient_by_differences_and_the_value_by_its_definition(relative):
    from scipy.stats import norm

    rng = np.random.default_rng(0)
    labels = np.array([2, 0, 1, -1, 0, 1, 1, 0, 2, 0.0])
    data = pk.RankingDataset.from_arrays(None, labels, [1] * 6 + [2] * 4, query_weight=[1.5, 0.5])
    scores = rng.normal(size=10)
    loss = SwitchPenalty(base=Logistic(), penalty=2.0, noise=0.7, relative=relative)
    gradient, _ = loss.gradient(scores, data)
    for i in range(10):
        step = 1e-6 * (np.arange(10) == i)
        assert gradient[i] == pytest.approx((loss(scores + step, data) - loss(scores - step, data)) / 2e-6, abs=1e-6)
    total = Logistic()(scores, data)
    for a, b, weight in ((0, 6, 1.5), (6, 10, 0.5)):
        s = 0.7 * (scores[a:b].std() if relative else 1.0)
        order = [i for i in a + np.argsort(-scores[a:b]) if labels[i] >= 0]
        terms = []
        for u, v in itertools.pairwise(order):
            if labels[u] != labels[v]:
                terms.append(norm.cdf(-(scores[u] - scores[v]) / (s * np.sqrt(2))))
        total += 2.0 * weight * np.mean(terms)
    assert loss(scores, data) == pytest.approx(total)
    equal = np.zeros(10)  # either order with probability ½
    assert loss(equal, data) == pytest.approx(Logistic()(equal, data) + 2.0 * 2.0 * 0.5)
    if relative:
        np.testing.assert_array_equal(loss.gradient(equal, data)[0], Logistic().gradient(equal, data)[0])


def _switches(ranker, data, noise, relative):
    """Mean probability that noise switches neighbours of different labels."""
    loss = SwitchPenalty(base=Logistic(), penalty=1.0, noise=noise, relative=relative)
    scores = ranker.predict(data)
    return (loss(scores, data) - Logistic()(scores, data)) / data.n_queries


@pytest.mark.parametrize(("relative", "penalties"), [(False, (0.0, 0.3, 3.0)), (True, (0.0, 3.0))])
def test_switches_fall_with_the_penalty_and_quality_stays(pair, relative, penalties):
    train, valid = pair
    base = pk.ListNet(n_jobs=1, alpha=0.01)
    result = [pk.robust_training(base, train, penalty=penalty, relative=relative) for penalty in penalties]
    plain = pk.ListNet(n_jobs=1, alpha=0.01).fit(train)
    np.testing.assert_array_equal(result[0].predict(valid), plain.predict(valid))
    for data in pair if not relative else pair[:1]:
        switches = [_switches(ranker, data, 0.1, relative) for ranker in result]
        assert switches == sorted(switches, reverse=True) and switches[-1] < switches[0]
    assert all(ranker.score(valid) > plain.score(valid) - 0.03 for ranker in result)


def test_noisy_copies(pair, tmp_path):
    train, valid = pair
    base = pk.LinearRegression(n_jobs=1)
    plain, robust = base.fit(train), pk.robust_training(base, train, feature_noise=1.0, copies=3)
    # noise on the features shrinks the weights, as in regression with errors in the variables
    assert np.linalg.norm(robust.scorer_.weights * train.X.std(axis=0)[:, None]) < np.linalg.norm(
        plain.scorer_.weights * train.X.std(axis=0)[:, None]
    )
    trees = pk.robust_training(pk.LambdaMART(n_estimators=3, n_jobs=1), train, feature_noise=0.1, copies=1)
    trees.save(tmp_path / "m")
    np.testing.assert_array_equal(pk.load(tmp_path / "m").predict(valid), trees.predict(valid))
    again = pk.robust_training(base, train, feature_noise=1.0, copies=3)
    np.testing.assert_array_equal(again.predict(valid), robust.predict(valid))


def test_refusals(pair):
    train, _ = pair
    for parameters in ({"penalty": -1}, {"noise": 0}, {"feature_noise": np.inf}, {"copies": 0}):
        with pytest.raises(DataError, match=next(iter(parameters))):
            pk.robust_training(pk.ListNet(), train, **parameters)
    with pytest.raises(DataError, match="feature_noise"):
        pk.robust_training(pk.LambdaMART(n_estimators=2, n_jobs=1), train, penalty=1.0)
    with pytest.raises(DataError, match="ranker of plackett"):
        pk.robust_training("ListNet", train)
