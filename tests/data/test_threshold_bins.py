"""Thresholds and codes against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError
from plackett.data.threshold_bins import MISSING, ThresholdBins


@pytest.mark.parametrize("n_thresholds", [1, 7, 255])
@pytest.mark.parametrize("missing", [False, True])
def test_codes_count_the_thresholds_below(n_thresholds, missing):
    rng = np.random.default_rng(0)
    X = np.stack([rng.normal(size=900), rng.integers(0, 4, 900), np.full(900, 3.0)], axis=1).astype(np.float32)
    X = np.hstack([X] * 7)  # more features than one block
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    bins = ThresholdBins.of(X, n_thresholds)
    assert bins.missing.tolist() == [missing] * 21
    for j in range(21):
        edges = bins.thresholds[bins.first[j] : bins.first[j + 1]]
        known = ~np.isnan(X[:, j])
        distinct = np.unique(X[known, j]).size
        most = min(n_thresholds, 254) if missing else n_thresholds
        assert edges.size == min(most, distinct - 1) and (np.diff(edges) > 0).all()
        np.testing.assert_array_equal(bins.codes[j][known], np.searchsorted(edges, X[known, j], side="left"))
        assert (bins.codes[j][~known] == MISSING).all()
        assert np.unique(bins.codes[j][known]).size == edges.size + 1  # no threshold is wasted


def test_neighbouring_floats_are_told_apart():
    x = np.array(
        [1.0, np.nextafter(np.float32(1), np.float32(2)), np.nextafter(np.float32(1), np.float32(0))], np.float32
    )
    assert ThresholdBins.of(x[:, None], 255).codes[0].tolist() == [1, 2, 0]


def test_copies_change_nothing():
    x = np.random.default_rng(0).normal(size=(600, 1)).astype(np.float32)
    once, twice = (ThresholdBins.of(rows, 20).thresholds for rows in (x, np.vstack([x, x[:100]])))
    np.testing.assert_array_equal(once, twice)


@pytest.mark.parametrize("n_thresholds", [0, 256])
def test_refusal(n_thresholds):
    with pytest.raises(DataError, match=f"n_thresholds={n_thresholds}"):
        ThresholdBins.of(np.zeros((2, 1), np.float32), n_thresholds)
