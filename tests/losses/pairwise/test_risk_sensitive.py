"""The risk-sensitive lambdas: baselines, and the cases of the paper by hand."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.losses.pairwise.lambdas import Lambda
from plackett.losses.pairwise.risk_sensitive import RiskSensitive

PLAIN = {"measure": "RR", "normalize": False, "truncation": None}


def two_documents(labels=(1, 0), positions=(1, 2)):
    X = np.array([[5.0, 1.0], [1.0, 5.0]], np.float32)  # by the first feature the relevant one leads
    return pk.RankingDataset.from_arrays(X, labels, qid=[1, 1], positions=positions, feature_names=["good", "bad"])


def weight(loss, scores, data):
    """Weight of the only pair: its force is half of it where the scores are nearly equal."""
    gradient = loss.gradient(np.array(scores), data)[0]
    assert gradient[0] == -gradient[1]
    return -gradient[0] / 0.5


def test_the_cases_of_the_utility():
    """RR is 1 or 1/2, so that an exchange changes it by 1/2; scores almost equal make the force half of the weight."""
    data = two_documents()
    above, below = [1e-12, 0.0], [0.0, 1e-12]
    alpha = 3.0

    def found(baseline, scores):
        return pytest.approx(weight(RiskSensitive(baseline=baseline, alpha=alpha, **PLAIN), scores, data))

    # not above the baseline, in the right order: an exchange loses all of it, at the weight of losses
    assert (1 + alpha) * 0.5 == found("good", above)
    # below the baseline, in the wrong order: an exchange makes good the whole loss
    assert (1 + alpha) * 0.5 == found("good", below)
    # above the baseline, in the right order: an exchange loses the reward, which has no extra weight
    assert found("bad", above) == 0.5
    # as good as the baseline, in the wrong order: an exchange is all reward
    assert found("bad", below) == 0.5
    # a random order has 3/4: half of the change is below it
    assert 0.25 + (1 + alpha) * 0.25 == found(None, above)
    assert 0.25 + (1 + alpha) * 0.25 == found(None, below)


def test_tied_forms_of_trisk():
    data = two_documents()
    for risk, scores, gap in (("faro", [1e-12, 0.0], 0.5), ("faro", [0.0, 1e-12], 0.0)):
        loss = RiskSensitive(baseline="bad", alpha=3.0, risk=risk, deviation=0.25, **PLAIN)
        more = 3.0 * (1 - pytest.importorskip("scipy.special").ndtr(gap / 0.25))
        assert weight(loss, scores, data) == pytest.approx((1 + more) * 0.5)
    saro = RiskSensitive(baseline="good", alpha=3.0, risk="saro", deviation=0.25, **PLAIN)
    assert weight(saro, [1e-12, 0.0], data) == pytest.approx((1 + 1.5) * 0.5)  # no gap: half of alpha


def test_the_deviation_is_that_of_the_utility_before_training():
    """Random order against the baseline: RR 3/4 − 1 and 3/4 − 1/2; the loss counts 1 + alpha times."""
    X = np.array([[5.0], [1.0], [1.0], [5.0]], np.float32)
    data = pk.RankingDataset.from_arrays(X, [1, 0, 1, 0], qid=[1, 1, 2, 2])
    loss = RiskSensitive(baseline=0, alpha=1.0, risk="saro", measure="RR").settle(data)
    assert loss.deviation == pytest.approx(np.std([2 * -0.25, 0.25], ddof=1))


@pytest.mark.parametrize("measure", ["nDCG", "GAP"])
@pytest.mark.parametrize("risk", ["urisk", "saro", "faro"])
def test_without_extra_weight_it_is_the_lambda_gradient(risk, measure):
    rng = np.random.default_rng(0)
    data = pk.RankingDataset.from_arrays(
        rng.normal(size=(60, 2)).astype(np.float32), rng.integers(0, 3, 60), qid=np.arange(60) // 12
    )
    scores = rng.normal(size=60)
    result = RiskSensitive(baseline=1, alpha=0.0, risk=risk, measure=measure).gradient(scores, data)
    for mine, theirs in zip(result, Lambda(measure=measure).gradient(scores, data), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-6)


def test_baselines_in_all_their_forms():
    data = two_documents()
    scores = np.array([0.3, 0.1])
    expected = RiskSensitive(baseline="good").gradient(scores, data)
    for baseline in (0, "positions"):
        np.testing.assert_array_equal(RiskSensitive(baseline=baseline).gradient(scores, data), expected)
    other = RiskSensitive(baseline="bad").gradient(scores, data)
    assert not np.array_equal(other, expected)
    np.testing.assert_array_equal(
        RiskSensitive(baseline="positions").gradient(scores, two_documents(positions=[2, 1])), other
    )
    blank = data.replace(X=np.array([[np.nan, 0.0], [-3.0, 0.0]], np.float32))
    np.testing.assert_array_equal(RiskSensitive(baseline=0).gradient(scores, blank), other)  # unknown comes last


@pytest.mark.parametrize(
    ("match", "parameters"),
    [
        ("risk='trisk'", {"risk": "trisk"}),
        ("alpha=-1", {"alpha": -1.0}),
        ("baseline='bm25'", {"baseline": "bm25"}),
        ("baseline=2", {"baseline": 2}),
        ("'positions'", {"baseline": "positions"}),
    ],
)
def test_refusals(match, parameters):
    with pytest.raises(ValueError, match=match):
        RiskSensitive(**parameters).bind(two_documents().replace(positions=None))
