"""Scores cut by thresholds, and what a damaged file would bring."""

from __future__ import annotations

import numpy as np
import pytest

from plackett.scorers.ordinal import OrdinalScorer


def test_round_trip_and_labels():
    scorer = OrdinalScorer(np.array([1.0, -1.0]), np.array([0.0, 1.0]), np.array([0.0, 2.0, 5.0]))
    again = OrdinalScorer.from_arrays(scorer.to_arrays())
    scores = again.predict(np.array([[0, 1], [0, 0], [3, 1]], np.float32), None)
    np.testing.assert_array_equal(scores, [-1.0, 0.0, 2.0])
    np.testing.assert_array_equal(again.labels_of(scores), [0.0, 2.0, 5.0])


@pytest.mark.parametrize(
    "change",
    [
        {"thresholds": np.array([1.0, 0.0])},
        {"labels": np.zeros(2)},
        {"weights": np.zeros((2, 1))},
        {"weights": np.zeros(2, np.float32)},
    ],
)
def test_damaged_arrays_are_refused(change):
    arrays = OrdinalScorer(np.zeros(2), np.array([0.0, 1.0]), np.zeros(3)).to_arrays()
    with pytest.raises(ValueError, match="ordinal model"):
        OrdinalScorer.from_arrays(arrays | change)
