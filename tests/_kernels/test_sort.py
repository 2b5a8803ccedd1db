"""Sorting inside queries against NumPy's stable sort."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from plackett._kernels.sort import argsort_descending, order_of_groups, sort_descending


def _argsort(values):
    n = values.size
    keys, rows = values.copy(), np.empty(n, np.int64)
    argsort_descending(keys, rows, np.empty(n), np.empty(n, np.int64), n)
    return keys, rows


@given(arrays(np.float64, st.integers(0, 600), elements=st.sampled_from([-np.inf, -1.5, 0.0, 1.0, 2.0, 3.5, np.inf])))
def test_argsort_is_stable_with_many_ties(values):
    keys, rows = _argsort(values)
    expected = np.argsort(-values, kind="stable")
    assert rows.tolist() == expected.tolist()
    assert keys.tolist() == values[expected].tolist()


@pytest.mark.parametrize("n", [0, 1, 2, 255, 256, 257, 10_000])
def test_argsort_of_distinct_keys(n):
    values = np.random.default_rng(n).normal(size=n)
    assert _argsort(values)[1].tolist() == np.argsort(-values, kind="stable").tolist()


@given(st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 61.0, 62.0, 1e9]), max_size=40))
def test_sort_descending_of_grades_and_of_real_labels(labels):
    values = np.array(labels, dtype=float)
    offsets = np.array([0, values.size // 2, values.size])
    out = np.empty_like(values)
    sort_descending(0, 2, offsets, values, out)
    for a, b in pairwise(offsets):
        assert out[a:b].tolist() == sorted(values[a:b], reverse=True)


@given(arrays(np.int64, st.integers(1, 200), elements=st.integers(0, 9)))
def test_order_of_groups_is_a_stable_sort(group):
    offsets = np.concatenate(([0], np.cumsum(np.bincount(group, minlength=10))))
    assert order_of_groups(group, offsets).tolist() == np.argsort(group, kind="stable").tolist()
