"""Pairs labelled −1, 0 or +1 as a dataset."""

from __future__ import annotations

import numpy as np
import pytest

from plackett.data.labelled_pairs import labelled_pairs
from plackett.data.preferences import Preferences


def test_signs_become_pairs_of_labels():
    first, second = np.arange(6.0).reshape(3, 2), 10 + np.arange(6.0).reshape(3, 2)
    data = labelled_pairs(first, second, [1, 0, -1])
    assert data.n_queries == 3 and data.group.tolist() == [2, 2, 2]
    np.testing.assert_array_equal(data.X[::2], first)
    np.testing.assert_array_equal(data.X[1::2], second)
    # x′ of the first pair before x, x of the third before x′, and nothing of the second
    assert Preferences.from_labels(data).to_pairs().tolist() == [[1, 0], [4, 5]]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (([[1.0]], [[1.0, 2.0]], [1]), "the same shape"),
        (([[1.0]], [[2.0]], [1, 1]), "the same shape"),
        (([[1.0]], [[2.0]], [2]), r"sign\[0\] is 2"),
    ],
)
def test_refusals(arguments, match):
    with pytest.raises(ValueError, match=match):
        labelled_pairs(*arguments)
