from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from plackett import DataError
from plackett.evaluation.significance import fisher, tukey


def test_by_enumeration():
    """3 systems on 4 queries: all 6^4 shuffles."""
    values = np.random.default_rng(0).integers(0, 5, (4, 3)) / 5
    largest = []
    for rows in product(*(list(permutations(row)) for row in values)):
        sums = np.sum(rows, axis=0)
        largest.append(sums.max() - sums.min())
    sums = values.sum(0)
    exact = (np.array(largest)[:, None, None] >= np.abs(sums[:, None] - sums) - 1e-9).mean(0)
    result = tukey(values, n_permutations=50_000)
    np.testing.assert_allclose(result.pvalue, exact, atol=4 * np.sqrt(0.25 / 50_000) + 1e-4)
    np.testing.assert_allclose(result.difference[0, 1], values[:, 0].mean() - values[:, 1].mean())


def test_two_systems_are_fishers():
    rng = np.random.default_rng(1)
    values = rng.random((12, 2))
    p = tukey(values, n_permutations=50_000).pvalue[0, 1]
    assert p == pytest.approx(fisher(*values.T).pvalue, abs=4 * np.sqrt(0.25 / 50_000) + 1e-4)


def test_agrees_with_scipys_on_independent_systems():
    """Without differences between queries the randomised test and the one on normal errors are alike."""
    rng = np.random.default_rng(2)
    values = rng.normal([0, 0, 0.3, 0.45], size=(120, 4))
    scipys = stats.tukey_hsd(*values.T).pvalue
    np.testing.assert_allclose(tukey(values).pvalue, scipys, atol=0.05)


def test_is_stricter_than_pairs_and_symmetric():
    rng = np.random.default_rng(3)
    values = rng.random((50, 6))
    p = tukey(values).pvalue
    np.testing.assert_array_equal(p, p.T)
    assert np.diag(p).tolist() == [1.0] * 6
    pairs = [(i, j) for i in range(6) for j in range(i)]
    assert all(p[i, j] >= fisher(values[:, i], values[:, j]).pvalue - 0.02 for i, j in pairs)


def test_familywise_level():
    rng = np.random.default_rng(4)
    smallest = [tukey(rng.random((30, 5)), n_permutations=400).pvalue.min() for _ in range(400)]
    assert np.mean(np.array(smallest) <= 0.1) == pytest.approx(0.1, abs=4 * np.sqrt(0.09 / 400))


def test_threads_seed_and_gaps():
    values = np.random.default_rng(5).random((40, 3))
    a, b = tukey(values, n_jobs=1), tukey(values, n_jobs=3)
    np.testing.assert_array_equal(a.pvalue, b.pvalue)
    with_gap = np.vstack([values, [np.nan, 1.0, 1.0]])
    np.testing.assert_array_equal(tukey(with_gap).pvalue, a.pvalue)
    with pytest.raises(DataError, match="queries × systems"):
        tukey([0.1, 0.2])
