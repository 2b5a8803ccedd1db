from __future__ import annotations

import itertools
from math import log2

import numpy as np
import pytest

import plackett as pk
from plackett.losses.listwise.approx_ndcg import ApproxNDCGLoss
from plackett.measures import nDCG

EXAMPLE = [1, 0, 2, 1, 0, 2]  # ranked labels of the LETOR reference


def ranked(labels, measure, **options):
    return pk.evaluate(labels, -np.arange(len(labels)), [measure], **options).mean[str(measure)]


def test_worked_example():
    assert ranked([1, 0, 1], nDCG @ 3) == pytest.approx(1.5 / (1 + 1 / log2(3)))
    standard = [0.333333, 0.204382, 0.463582, 0.503253, 0.503253, 0.686756]
    assert [ranked(EXAMPLE, nDCG @ k) for k in range(1, 7)] == pytest.approx(standard, abs=1e-6)


def test_letor_convention():
    letor = [0.333333, 0.166667, 0.436257, 0.475785, 0.475785, 0.638535]
    assert [ranked(EXAMPLE, nDCG @ k, preset="letor3") for k in range(1, 7)] == pytest.approx(letor, abs=1e-6)
    assert ranked([1, 0, 1], nDCG @ 3, preset="letor3") == pytest.approx((1 + 1 / log2(3)) / 2)
    assert ranked([1, 0, 1], nDCG @ 4, preset="letor3") == 0  # a list of three documents has no nDCG@4 there
    assert ranked([1, 0, 1], nDCG @ 1, preset="letor3") == 1


def test_every_order_of_the_best_set_is_ideal():
    """nDCG by the ideal permutations: any order that lists labels from large to small gives 1, and the same ideal."""
    labels = np.array([0, 2, 1, 2, 1])
    ideal = [p for p in itertools.permutations(range(5)) if (np.diff(labels[list(p)]) <= 0).all()]
    assert len(ideal) == 4
    result = [ranked(labels[list(p)], nDCG) for p in ideal]
    assert result == pytest.approx([1.0] * 4)


def test_linear_gain_and_own_discount():
    """Σ c_i r_i with weights c that do not grow: linear gain, 1 if and only if the labels are sorted."""
    measure = nDCG(gain="linear", discount=[1.0, 0.5, 0.25])
    assert ranked([0, 3, 1], measure) == pytest.approx((3 * 0.5 + 1 * 0.25) / (3 + 1 * 0.5))
    rng = np.random.default_rng(0)
    for _ in range(50):
        labels = rng.integers(0, 3, 4)
        value = ranked(labels, nDCG(gain="linear"))
        if labels.any():
            assert (abs(value - 1) < 1e-12) == (np.diff(labels) <= 0).all()


def test_base_of_the_logarithm_does_not_matter():
    ranks = np.arange(1, 7)
    natural = ranked(EXAMPLE, nDCG(discount=(1 / np.log(1 + ranks)).tolist()))
    assert natural == pytest.approx(ranked(EXAMPLE, nDCG))


def test_gain_table_need_not_grow():
    """The ideal order is that of the gains, not of the labels."""
    measure = nDCG(gain={1: 5, 2: 1})
    assert ranked([1, 2], measure) == pytest.approx(1)
    assert ranked([2, 1], measure) == pytest.approx((1 + 5 / log2(3)) / (5 + 1 / log2(3)))


def test_ties_are_averaged():
    result = pk.evaluate([1, 0], [1, 1], [nDCG, nDCG(ties="optimistic"), nDCG(ties="pessimistic")]).mean
    assert list(result.values()) == pytest.approx([(1 + 1 / log2(3)) / 2, 1, 1 / log2(3)])


def test_refusals():
    with pytest.raises(pk.MeasureError, match="gain='cubic'"):
        nDCG(gain="cubic")
    with pytest.raises(pk.MeasureError, match="discount="):
        nDCG(discount="cubic")
    with pytest.raises(pk.MeasureError, match="short="):
        nDCG(short="maybe")
    with pytest.raises(pk.MeasureError, match="cut-off"):
        nDCG @ 0


@pytest.mark.parametrize("measure", ["nDCG@10", "DCG", "MeanNDCG"])
@pytest.mark.parametrize("largest", [1001.0, 2000.5, 1e6])
def test_labels_whose_gains_overflow_are_refused(measure, largest):
    """Revenues as labels: 2^label is infinite, and infinity through infinity was taken for a query without a value."""
    data = pk.RankingDataset.from_arrays(None, [largest, 0.0, 1.0], [1, 1, 1])
    with pytest.raises(pk.MeasureError, match=r"labels up to .* are too large for the gain 2\^label"):
        pk.evaluate(data, [0.0, 1.0, 2.0], measure)
    linear = pk.evaluate(data, [0.0, 1.0, 2.0], "nDCG(gain='linear')@10").mean
    assert 0.0 < next(iter(linear.values())) < 1.0


@pytest.mark.parametrize(
    "gain", [{0: 0.0, 1: np.inf}, {np.nan: 1.0}, [0.0, np.nan], ((0.0, 1.0), (1.0, np.inf)), [], {}]
)
def test_a_table_of_gains_is_finite(gain):
    with pytest.raises(pk.MeasureError, match="all finite"):
        nDCG(gain=gain)
    with pytest.raises(ValueError, match="all finite"):
        ApproxNDCGLoss(gain=gain)
