"""Student, Wilcoxon and sign tests against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from plackett.evaluation.significance import PAIRED, sign, student, wilcoxon


@pytest.fixture
def pair():
    rng = np.random.default_rng(1)
    a = rng.random(60)
    return a, a + rng.normal(0.05, 0.2, 60)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_student(pair, alternative):
    result, scipys = student(*pair, alternative=alternative), stats.ttest_rel(*pair, alternative=alternative)
    assert result.statistic == pytest.approx(scipys.statistic, rel=1e-12)
    assert result.pvalue == pytest.approx(scipys.pvalue, rel=1e-10)


def test_student_without_spread():
    assert student([1.0, 2.0], [0.5, 1.5]).pvalue == 0.0
    assert student([0.1 + 0.2] * 3, [0.2] * 3).pvalue == 0.0
    assert student([1.0], [0.5]).pvalue == 1.0


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_wilcoxon(pair, alternative):
    scipys = stats.wilcoxon(*pair, alternative=alternative)
    assert wilcoxon(*pair, alternative=alternative).pvalue == pytest.approx(scipys.pvalue, rel=1e-12)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_sign(pair, alternative):
    a, b = pair
    wins = int((a > b).sum())
    scipys = stats.binomtest(wins, 60, alternative=alternative)
    assert sign(a, b, alternative=alternative).pvalue == pytest.approx(scipys.pvalue, rel=1e-12)


def test_sign_tolerance():
    assert sign([0.5, 0.5, 0.9], [0.4, 0.45, 0.5], tolerance=0.2).statistic == 1


@pytest.mark.parametrize("name", PAIRED)
def test_equal_systems_have_p_1(name):
    a = np.random.default_rng(2).random(30)
    for alternative in ("two-sided", "greater", "less"):
        assert PAIRED[name](a, a, alternative=alternative).pvalue >= 0.5
    assert PAIRED[name](a, a).pvalue == 1.0


@pytest.mark.parametrize("name", PAIRED)
def test_direction_and_skipped_queries(name):
    rng = np.random.default_rng(4)
    b = rng.random(40)
    a = b + rng.uniform(0, 0.3, 40)
    with_gap = np.append(a, np.nan), np.append(b, 0.9)
    greater = PAIRED[name](*with_gap, alternative="greater")
    assert greater.pvalue < 0.01 < 0.99 < PAIRED[name](*with_gap, alternative="less").pvalue
    assert greater.n == 40 and greater.difference == pytest.approx(a.mean() - b.mean())


@pytest.mark.parametrize("name", ["student", "wilcoxon", "bootstrap"])
def test_level_under_the_null(name):
    rng = np.random.default_rng(11)
    p = np.array([PAIRED[name](*rng.normal(size=(2, 40))).pvalue for _ in range(300)])
    assert (p <= 0.1).mean() == pytest.approx(0.1, abs=4 * np.sqrt(0.1 * 0.9 / 300))
