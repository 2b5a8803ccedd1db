from __future__ import annotations

import math

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett.measures.language import parse


def lists(y=(2, 1, 0, 1, 0), qid=(1, 1, 1, 2, 2)):
    return pk.RankingDataset.from_arrays(None, y, qid)


def test_the_worked_number_and_a_simulation():
    data = lists([0, 0], [1, 1])
    result = pk.switch_probability(data, [0.8, 0.5], noise=0.2, relative=False)["mean"][0]
    assert result == pytest.approx(0.144422, abs=5e-7)
    draws = np.random.default_rng(0).normal(scale=0.2, size=(200_000, 2))
    assert result == pytest.approx((0.8 + draws[:, 0] < 0.5 + draws[:, 1]).mean(), abs=0.004)


def test_ties_constants_scales_and_discounts():
    data, scores = lists(), np.array([3.0, 1.0, 1.0, 5.0, 2.0])
    first = pk.switch_probability(data, scores, noise=0.3)
    np.testing.assert_allclose(first["mean"], pk.switch_probability(data, 7 * scores + 100, noise=0.3)["mean"])
    absolute = pk.switch_probability(data, scores, noise=1.0, relative=False)
    np.testing.assert_allclose(
        absolute["mean"], pk.switch_probability(data, scores + 5, noise=1, relative=False)["mean"]
    )
    p = 0.5 * (1 - math.erf(1.0))
    w = 1 / np.log2(3)
    assert absolute["mean"][0] == pytest.approx((p + 0.5) / 2)  # a tie switches with probability one half
    assert absolute["discounted"][0] == pytest.approx((p + 0.5 * w) / (1 + w))
    assert pk.switch_probability(data, scores, noise=1.0, relative=False, k=1)["mean"][0] == pytest.approx(p)
    assert pk.switch_probability(data, np.zeros(5))["mean"].to_list() == [0.5, 0.5]
    assert pk.switch_probability(lists([0], [1]), [1.0])["mean"].to_list() == [0.0]


def test_limits_of_the_measure():
    data, scores = lists(), np.array([1.0, 3.0, 2.0, 5.0, 2.0])
    plain = pk.evaluate(data, scores, "nDCG").mean["nDCG"]
    for parameters in ({"noise": 0}, {"noise": 1e-9}, {"noise": 0.01, "relative": False}):
        result = pk.robustness(data, scores, "nDCG", **parameters).mean
        for name in ("value", "expected", "worst", "penalised"):
            assert result[name] == pytest.approx(plain, abs=1e-9)
    same = lists([1, 1, 1, 2, 2])
    result = pk.robustness(same, scores, "nDCG", noise=5.0).mean
    assert result["expected"] == pytest.approx(1) and result["std"] == pytest.approx(0, abs=1e-12)


def test_the_expected_value_is_that_of_the_switch():
    data = lists([1, 0], [1, 1])
    result = pk.robustness(data, [0.8, 0.5], "P@1", noise=0.2, relative=False, n_samples=4000).per_query
    assert result["expected"][0] == pytest.approx(1 - 0.144422, abs=0.02)
    assert result["penalised"][0] == pytest.approx(1 - 0.144422, abs=1e-6)
    assert result["worst"][0] == 0.0


def test_label_noise():
    data = lists([1, 0, 0, 1, 0], [1, 1, 1, 2, 2])
    scores = [3.0, 2.0, 1.0, 2.0, 1.0]
    result = pk.robustness(data, scores, "P@1", noise=0, label_noise=0.25, n_samples=3000).mean
    assert result["value"] == 1.0
    assert result["expected"] == pytest.approx(0.75, abs=0.02)


def test_rows_in_another_order_give_the_same():
    rng = np.random.default_rng(1)
    y, scores, qid = rng.integers(0, 3, 40), rng.normal(size=40), np.repeat([1, 2, 3, 4], 10)
    order = np.concatenate([rng.permutation(10) + 10 * q for q in range(4)])
    results = [
        pk.robustness(pk.RankingDataset.from_arrays(None, y[o], qid[o]), scores[o], noise=0.5, label_noise=0.1).mean
        for o in (np.arange(40), order)
    ]
    assert results[0] == pytest.approx(results[1])


@pytest.mark.parametrize("parameters", [{"noise": -1}, {"label_noise": 2}, {"rho": -0.1}, {"n_samples": 0}])
def test_wrong_parameters(parameters):
    with pytest.raises(DataError, match=next(iter(parameters))):
        pk.robustness(lists(), np.arange(5.0), **parameters)


@pytest.mark.parametrize("measure", ["nDCG", "ARP", "KendallTau"])
def test_a_penalty_is_for_the_worse(measure):
    data = lists([0, 2, 1, 1, 0])
    result = pk.robustness(data, [3.0, 2.9, 1.0, 1.0, 0.0], measure, noise=0.5).per_query
    worth = parse(measure).worth
    changed = result.filter(result["value"].is_not_null() & (result["value"] != 0))
    assert changed.height
    assert (worth(changed["penalised"].to_numpy()) < worth(changed["value"].to_numpy())).all()


def test_no_query_has_a_value():
    result = pk.robustness(lists(y=(0, 0, 0, 0, 0)), [5, 4, 3, 2, 1], parse('nDCG(empty="skip")'), n_samples=2)
    assert result.per_query["value"].null_count() == 2
    assert math.isnan(result.mean["value"]) and "nan" in repr(result)
