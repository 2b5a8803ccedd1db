from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.measures import ERR, nERR


def ranked(labels, measure):
    return pk.evaluate(labels, -np.arange(len(labels)), [measure]).mean[str(measure)]


@pytest.mark.parametrize(
    ("labels", "value"), [([4, 0, 2], 0.94140625), ([3, 2, 4], 0.633056640625), ([0, 0, 4], 0.3125)]
)
def test_worked_examples(labels, value):
    assert ranked(labels, ERR) == value  # the largest label of the data is 4
    assert ranked(labels, ERR(max_label=4)) == value


def test_depends_on_the_order():
    """With the misprinted weight 1/m it would not."""
    assert ranked([4, 0, 0], ERR) > ranked([0, 4, 0], ERR) > ranked([0, 0, 4], ERR)


def test_scale_of_labels():
    assert ranked([1, 0], ERR) == 1 / 2  # the largest label of the data
    assert ranked([1, 0], ERR(max_label=4)) == 1 / 16
    with pytest.raises(pk.MeasureError, match="label 5"):
        ranked([5, 0], ERR(max_label=4))


def test_normalised():
    assert ranked([2, 1, 0], nERR) == 1
    assert ranked([0, 2.5, 1], nERR) == pytest.approx(ranked([0, 2.5, 1], ERR) / ranked([2.5, 1, 0], ERR))


def test_block_of_10000_ties():
    """One document can satisfy: with all tied it stands anywhere, ERR = R · H_m/m."""
    m = 10_000
    labels = np.zeros(m)
    labels[17] = 1
    result = pk.evaluate(labels, np.zeros(m), [ERR, ERR @ 10], group=[m]).mean
    assert result["ERR"] == pytest.approx(0.5 * np.sum(1 / np.arange(1, m + 1)) / m)
    assert result["ERR@10"] == pytest.approx(0.5 * np.sum(1 / np.arange(1, 11)) / m)


def test_labels_of_any_size():
    """Next to a label of 5000, one of 4999 satisfies half of the users, and small ones nobody; no power overflows."""
    data = pk.RankingDataset.from_arrays(None, [0.0, 4999.0, 5000.0], [1, 1, 1])
    with np.errstate(over="raise"):
        value = pk.evaluate(data, [2.0, 1.0, 0.0], "ERR").mean["ERR"]
    assert value == pytest.approx(0.5 / 2 + 0.5 / 3)
