from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett.models.linear import train_near


@pytest.fixture(scope="module")
def parts():
    return [pk.datasets.make_ranking(25, 15, 4, random_state=seed) for seed in (0, 1)]


@pytest.fixture(scope="module")
def old(parts):
    return pk.ListNet(alpha=0.01).fit(parts[0])


def near(old, data, rho):
    scorer = train_near(old.make_model(), old.make_loss(), data, old.scorer_, rho)
    return data.X @ scorer.weights[:, 0]


def test_from_a_fresh_model_to_the_old_one(parts, old):
    new = parts[1]
    fresh = pk.ListNet(alpha=0.01).fit(new)
    np.testing.assert_allclose(near(old, new, 0.0), fresh.predict(new), atol=2e-3)
    np.testing.assert_allclose(near(old, new, 1e8), old.predict(new), atol=1e-5)
    # the distance falls with ρ, whatever the data; τ, a function of the order alone, need not at every step
    scale = np.std(new.X, axis=0)
    away = []
    for rho in (0, 0.01, 0.1, 1, 100):
        scorer = train_near(old.make_model(), old.make_loss(), new, old.scorer_, rho)
        away.append(np.linalg.norm((scorer.weights - old.scorer_.weights)[:, 0] * scale))
    assert away == sorted(away, reverse=True) and away[-1] < 0.1 * away[0]
    tau = [np.mean(pk.kendall_tau(old.predict(new), near(old, new, rho), new.query_of_row)) for rho in (0, 1, 100)]
    assert tau[0] < tau[1] < tau[2]


@pytest.mark.parametrize("limit", [0.0, 0.3, 3.0])
def test_the_limit_holds_and_is_used(parts, old, limit):
    result = pk.update_ranker(old, parts[1], max_churn=limit, k=3)
    assert result.churn.mean["replaced"] <= limit
    assert result.frame["replaced"].to_list()[:-1] == [v for v in result.frame["replaced"].to_list()[:-1] if v > limit]
    if limit == 3.0:  # anything goes: training afresh
        assert result.frame["rho"].to_list() == [0.0]
        np.testing.assert_array_equal(
            result.ranker.predict(parts[1]), old.__class__(alpha=0.01).fit(parts[1]).predict(parts[1])
        )


@pytest.mark.parametrize("ranker", [pk.ListNet(), pk.LinearRegression(), pk.RankSVM()])
def test_rankers_as_they_come(parts, ranker):
    result = pk.update_ranker(ranker.fit(parts[0]), parts[1], max_churn=0.1, k=3)
    assert result.churn.mean["replaced"] <= 0.1
    assert result.frame.height > 1  # training afresh changes more


def test_any_ranker_by_blending(parts, tmp_path):
    old = pk.MART(n_estimators=5, n_jobs=1).fit(parts[0])
    before = old.predict(parts[1])
    result = pk.update_ranker(old, parts[1], max_churn=0.5, k=3, monitor=parts[0].replace(y=None))
    assert result.churn.mean["replaced"] <= 0.5
    np.testing.assert_array_equal(old.predict(parts[1]), before)  # the old ranker is as it was
    result.ranker.save(tmp_path / "new.plackett")
    np.testing.assert_allclose(pk.load(tmp_path / "new.plackett").predict(parts[1]), result.ranker.predict(parts[1]))


@pytest.mark.parametrize(("parameters", "message"), [({"max_churn": -1}, "max_churn"), ({"k": 0}, "k=0")])
def test_wrong_parameters(parts, old, parameters, message):
    with pytest.raises(DataError, match=message):
        pk.update_ranker(old, parts[1], **parameters)
    with pytest.raises(DataError, match="cannot be updated"):
        pk.update_ranker("ListNet", parts[1])
