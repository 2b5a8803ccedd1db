"""Magnitude-preserving losses: identities and kinks."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import LossError, Preferences, RankingDataset
from plackett.losses import HingeMagnitude, MagnitudePreserving, PairSVR

rng = np.random.default_rng(0)
Y = rng.choice([0.0, 0.5, 1.0, 3.0], 12)
SCORES = rng.normal(0, 2, 12)
DATA = RankingDataset.from_arrays(None, Y)


def test_squares_of_all_pairs_are_a_variance():
    r = SCORES - Y
    assert MagnitudePreserving()(SCORES, DATA) == pytest.approx(12 * ((r - r.mean()) ** 2).sum(), rel=1e-12)
    pairs = sum((r[u] - r[v]) ** 2 for u in range(12) for v in range(u))
    assert MagnitudePreserving()(SCORES, DATA) == pytest.approx(pairs, rel=1e-12)


def test_linear_time_form_equals_the_pairs():
    """With β = 2 through the loop over pairs that other powers take."""
    data = RankingDataset.from_arrays(None, Y, np.repeat([0, 1], 6), sample_weight=np.linspace(0, 2, 12))
    for fast, slow in zip(
        MagnitudePreserving().bind(data).evaluate(SCORES), PairSVR(epsilon=0.0).bind(data).evaluate(SCORES), strict=True
    ):
        np.testing.assert_allclose(fast, slow, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("beta", [1.0, 1.5, 2.0, 3.0])
def test_svr_without_a_free_zone_is_mp(beta):
    data = RankingDataset.from_arrays(None, Y, np.repeat([0, 1], 6))
    assert PairSVR(epsilon=0.0, beta=beta)(SCORES, data) == pytest.approx(MagnitudePreserving(beta=beta)(SCORES, data))
    assert PairSVR(epsilon=100.0, beta=beta)(SCORES, data) == 0.0


def test_svr_is_continuous_and_even_at_the_edge_of_the_free_zone():
    pair = RankingDataset.from_arrays(None, [2, 0])
    loss = PairSVR(epsilon=0.5, beta=1.0)
    for away in (0.5, -0.5):
        assert loss(np.array([2.0 + away, 0.0]), pair) == pytest.approx(0.0, abs=1e-12)
        assert loss(np.array([2.0 + 1.2 * away, 0.0]), pair) == pytest.approx(0.1)


@pytest.mark.parametrize("beta", [1.0, 2.0])
def test_hmp_is_mp_on_inverted_pairs(beta):
    inverted = [(u, v) for u in range(12) for v in range(12) if Y[u] > Y[v] and SCORES[u] < SCORES[v]]
    expected = sum(abs(SCORES[u] - SCORES[v] - (Y[u] - Y[v])) ** beta for u, v in inverted)
    assert HingeMagnitude(beta=beta)(SCORES, DATA) == pytest.approx(expected)
    listed = RankingDataset.from_arrays(None, Y, preferences=Preferences.from_pairs(inverted))
    assert MagnitudePreserving(beta=beta)(SCORES, listed) == pytest.approx(expected)


@pytest.mark.parametrize("beta", [1.0, 2.0, 3.0])
def test_hmp_jumps_where_scores_cross(beta):
    pair = RankingDataset.from_arrays(None, [3, 0])
    assert HingeMagnitude(beta=beta)(np.array([0.0, 0.0]), pair) == 0.0
    assert HingeMagnitude(beta=beta)(np.array([-1e-9, 0.0]), pair) == pytest.approx(3.0**beta)


@pytest.mark.parametrize("loss", [MagnitudePreserving(), PairSVR(beta=3.0), HingeMagnitude()], ids=str)
def test_preferences_say_the_wanted_difference(loss):
    pairs = [(0, 1), (2, 1), (1, 3)]
    wanted = np.array([1.0, 0.3, 2.0])
    data = RankingDataset.from_arrays(None, None, [1] * 4, preferences=Preferences.from_pairs(pairs, margin=wanted))
    scores = np.array([0.4, 0.9, -0.2, 1.1])
    one_by_one = sum(
        loss(np.array([scores[u], scores[v]]), RankingDataset.from_arrays(None, [w, 0.0]))
        for (u, v), w in zip(pairs, wanted, strict=True)
    )
    assert loss(scores, data) == pytest.approx(one_by_one)
    with pytest.raises(LossError, match="margins"):
        loss(scores, data.replace(preferences=Preferences.from_pairs(pairs)))


def test_refusals():
    with pytest.raises(LossError, match=r"beta=0\.5"):
        MagnitudePreserving(beta=0.5)
    with pytest.raises(LossError, match="epsilon=-1"):
        PairSVR(epsilon=-1.0)
