"""Guttman's point alienation: its bounds, what changes it and what does not, preferences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plackett import LossError, RankingDataset
from plackett.data.preferences import Preferences
from plackett.losses.pairwise.guttman import Guttman

EXACT = Guttman(epsilon=1e-9)


@given(st.integers(0, 10_000))
def test_agreement_is_between_minus_1_and_1_and_1_only_for_a_right_order(seed):
    rng = np.random.default_rng(seed)
    y = np.append(rng.integers(0, 3, 5), [0, 1])
    scores = rng.normal(size=7)
    data = RankingDataset.from_arrays(None, y)
    agreement = 1.0 - EXACT(scores, data)
    assert -1.0 <= agreement <= 1.0
    right = all(scores[u] >= scores[v] for u in range(7) for v in range(7) if y[u] > y[v])
    assert (agreement > 1.0 - 1e-8) == right
    np.testing.assert_allclose(1.0 - EXACT(-scores, data), -agreement, atol=1e-7)
    np.testing.assert_allclose(1.0 - EXACT(17.0 * scores + 3.0, data), agreement, atol=1e-7)


def test_preferences_in_place_of_labels_are_the_same_pairs():
    rng = np.random.default_rng(0)
    y, scores, qid = rng.integers(0, 3, 14), rng.normal(size=14), np.repeat([0, 1], 7)
    weight = rng.uniform(0.5, 2.0, 14)
    pairs = [(u, v) for u in range(14) for v in range(14) if qid[u] == qid[v] and y[u] > y[v]]
    labelled = RankingDataset.from_arrays(None, y, qid, sample_weight=weight)
    listed = RankingDataset.from_arrays(
        None, None, qid, sample_weight=weight, preferences=Preferences.from_pairs(pairs)
    )
    for result, expected in zip(
        Guttman().bind(listed).evaluate(scores), Guttman().bind(labelled).evaluate(scores), strict=True
    ):
        np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-14)


def test_epsilon_is_checked():
    with pytest.raises(LossError, match="epsilon"):
        Guttman(epsilon=0.0)
    with pytest.raises(LossError, match="labels or preferences"):
        Guttman().bind(RankingDataset.from_arrays(None, None, [1, 1]))
