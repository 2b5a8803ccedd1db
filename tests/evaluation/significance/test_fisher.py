from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from plackett import DataError
from plackett.evaluation.significance import bootstrap, fisher


def enumerate_p(d, alternative):
    observed = sum(d)
    sums = [sum(s * x for s, x in zip(signs, d, strict=True)) for signs in product((-1, 1), repeat=len(d))]
    extreme = {
        "two-sided": [abs(t) >= abs(observed) - 1e-9 for t in sums],
        "greater": [t >= observed - 1e-9 for t in sums],
        "less": [t <= observed + 1e-9 for t in sums],
    }[alternative]
    return sum(extreme) / len(extreme)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("n", [1, 5, 9, 11])
def test_exact_by_enumeration(n, alternative):
    rng = np.random.default_rng(n)
    a, b = rng.integers(0, 4, n) / 4, rng.integers(0, 4, n) / 4  # ties and zeros
    assert fisher(a, b, alternative=alternative).pvalue == pytest.approx(enumerate_p(a - b, alternative), abs=1e-12)


def test_exact_is_scipys():
    rng = np.random.default_rng(3)
    a, b = rng.random(10), rng.random(10)
    scipys = stats.permutation_test((a, b), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf)
    assert fisher(a, b).pvalue == pytest.approx(scipys.pvalue)


@pytest.mark.parametrize("n", [70, 200])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_drawn_is_near_scipys(n, alternative):
    rng = np.random.default_rng(n)
    a = rng.random(n)
    b = a + rng.normal(0.03, 0.3, n)
    scipys = stats.permutation_test(
        (a, b),
        lambda x, y, axis: (x - y).mean(axis),
        permutation_type="samples",
        n_resamples=20_000,
        vectorized=True,
        alternative=alternative,
        rng=rng,
    )
    # four standard errors of the coarser of the two
    assert fisher(a, b, alternative=alternative).pvalue == pytest.approx(scipys.pvalue, abs=4 * np.sqrt(0.25 / 20_000))


def test_drawn_agrees_with_exact():
    rng = np.random.default_rng(0)
    a, b = rng.random(16), rng.random(16) + 0.1
    exact, drawn = fisher(a, b), fisher(a, b, n_permutations=50_000)
    assert exact.pvalue * 2**16 == round(exact.pvalue * 2**16)
    assert drawn.pvalue == pytest.approx(exact.pvalue, abs=4 * np.sqrt(0.25 / 50_000))


def test_smallest_p_counts_the_observed_order():
    a, b = np.ones(100) + np.arange(100), np.zeros(100)
    assert fisher(a, b, n_permutations=999).pvalue == 1 / 1000


def test_equal_systems():
    a = np.random.default_rng(0).random(50)
    assert fisher(a, a) == (0.0, 0.0, 1.0, 50)
    assert fisher(a, a, alternative="greater").pvalue == 1.0


def test_difference_of_the_means_and_skipped_queries():
    result = fisher([1.0, np.nan, 0.5], [0.5, 0.3, 0.5])
    assert result.difference == 0.25 and result.n == 2


def test_seed_and_threads():
    rng = np.random.default_rng(5)
    a, b = rng.random(300), rng.random(300)
    one = fisher(a, b, random_state=7, n_jobs=1).pvalue
    assert one == fisher(a, b, random_state=7, n_jobs=3).pvalue
    assert one != fisher(a, b, random_state=8).pvalue


def test_order_of_queries_and_of_systems():
    rng = np.random.default_rng(5)
    a, b = rng.random(300), rng.random(300)
    order = rng.permutation(300)
    assert fisher(a, b).pvalue == fisher(a[order], b[order]).pvalue == fisher(b, a).pvalue
    assert bootstrap(a, b).pvalue == bootstrap(a[order], b[order]).pvalue


def test_level_under_the_null():
    rng = np.random.default_rng(11)
    p = np.array([fisher(*rng.exponential(size=(2, 40)), n_permutations=2_000).pvalue for _ in range(600)])
    for level in (0.05, 0.2, 0.5):
        assert (p <= level).mean() == pytest.approx(level, abs=4 * np.sqrt(level * (1 - level) / 600))


def test_errors_name_what_is_wrong():
    with pytest.raises(DataError, match="a has 2 values and b 3"):
        fisher([1, 2], [1, 2, 3])
    with pytest.raises(DataError, match="no query"):
        fisher([np.nan], [1.0])
    with pytest.raises(DataError, match=r"b\[1\] is infinite"):
        fisher([1.0, 2.0], [1.0, np.inf])
    with pytest.raises(ValueError, match="n_permutations=0"):
        fisher([1.0], [0.0], n_permutations=0)
    with pytest.raises(ValueError, match="alternative='more'; give one of 'two-sided', 'greater', 'less'"):
        fisher([1.0], [0.0], alternative="more")
