from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from plackett.evaluation.significance import benjamini_hochberg, bonferroni, correct, holm

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def holm_rejects(p, level):
    """The procedure as printed: from the smallest on, reject while p ≤ level / (hypotheses left)."""
    rejected = [False] * len(p)
    for step, i in enumerate(np.argsort(p, kind="stable")):
        if p[i] * (len(p) - step) > level:
            break
        rejected[i] = True
    return rejected


@given(p_values, st.floats(0.001, 0.999))
def test_holm_rejects_what_the_procedure_rejects(p, level):
    assert (holm(p) <= level).tolist() == holm_rejects(p, level)


@given(p_values)
def test_benjamini_hochberg_is_scipys(p):
    np.testing.assert_allclose(benjamini_hochberg(p), stats.false_discovery_control(p), rtol=1e-12)


@given(p_values)
def test_order_of_strictness(p):
    assert (np.asarray(p) <= benjamini_hochberg(p) + 1e-15).all()
    assert (benjamini_hochberg(p) <= holm(p) + 1e-15).all()
    assert (holm(p) <= bonferroni(p) + 1e-15).all()


def test_worked_example():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert bonferroni([0.01, 0.5]).tolist() == [0.02, 1.0]


def test_by_name():
    assert correct([0.01, 0.02], None).tolist() == [0.01, 0.02]
    assert correct([0.01, 0.02], "bh").tolist() == [0.02, 0.02]
    with pytest.raises(ValueError, match="holm, bonferroni"):
        correct([0.1], "tukey")
    with pytest.raises(ValueError, match=r"0\.\.1"):
        holm([1.2])
