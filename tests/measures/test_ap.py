from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.measures import AP, GMAP


def ranked(labels, measure):
    return pk.evaluate(labels, -np.arange(len(labels)), [measure]).mean[str(measure)]


def test_worked_example():
    assert ranked([1, 0, 1], AP) == pytest.approx(5 / 6)
    assert ranked([2, 1, 2], AP(rel=2)) == pytest.approx(5 / 6)  # labels below the threshold are irrelevant
    assert ranked([1, 1, 0], AP) == 1


def test_area_form():
    """The same as Σ precision · step of recall."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        relevant = rng.integers(0, 2, 12)
        if not relevant.any():
            continue
        precision = np.cumsum(relevant) / np.arange(1, 13)
        recall = np.cumsum(relevant) / relevant.sum()
        assert ranked(relevant, AP) == pytest.approx(np.sum(precision * np.diff(recall, prepend=0)))


def test_mean_over_every_rank():
    assert ranked([1, 0, 1], AP(over="all")) == pytest.approx((1 + 1 / 2 + 2 / 3) / 3)
    assert ranked([1, 0, 1], AP(over="all") @ 2) == pytest.approx((1 + 1 / 2) / 2)


def test_divisor():
    assert ranked([1, 0, 1, 1], AP @ 2) == pytest.approx(1 / 3)
    assert ranked([1, 0, 1, 1], AP(divisor="reachable") @ 2) == pytest.approx(1 / 2)


def test_mean_over_queries_is_geometric():
    result = pk.evaluate([1, 0, 0, 1, 0, 0], [2, 1, 2, 1, 2, 1], [GMAP], qid=[1, 1, 2, 2, 3, 3])
    assert result.values["GMAP"].tolist() == [1, 0.5, 0]
    assert result.mean["GMAP"] == pytest.approx((1 * 0.5 * 1e-5) ** (1 / 3))
    assert np.isnan(GMAP.mean(np.array([np.nan])))


def test_tied_block_of_10000_is_exact():
    """All tied: the r-th place is relevant with t/m, with (t − 1)(r − 1)/(m − 1) relevant ones above on average."""
    labels = np.zeros(10_000)
    labels[:30] = 1
    m, t, r = 10_000, 30, np.arange(1, 10_001)
    expected = np.sum(t / m * (1 + (t - 1) * (r - 1) / (m - 1)) / r) / t
    assert pk.evaluate(labels, np.zeros(m), [AP], group=[m]).mean["AP"] == pytest.approx(expected)


def test_refusals():
    with pytest.raises(pk.MeasureError, match="over="):
        AP(over="some")
    with pytest.raises(pk.MeasureError, match="divisor="):
        AP(divisor="some")
    with pytest.raises(pk.MeasureError, match="rel=-1"):
        AP(rel=-1)
