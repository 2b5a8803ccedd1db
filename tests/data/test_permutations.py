from __future__ import annotations

from collections import Counter
from itertools import permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plackett import DataError, RankingDataset
from plackett.data.permutations import PermutationSet, best_order, sample_order
from plackett.data.preferences import Preferences

LABELS = st.lists(st.integers(-1, 2), min_size=1, max_size=6)


def allowed(m, pairs):
    """Orders of m documents in which no pair is the wrong way round, by looking at all of them."""
    return [o for o in permutations(range(m)) if all(o.index(u) < o.index(v) for u, v in pairs)]


def pairs_of(labels):
    n = range(len(labels))
    return [(u, v) for u in n for v in n if labels[u] > labels[v] >= 0]


@settings(max_examples=40, deadline=None)
@given(LABELS)
def test_labels_allow_exactly_the_consistent_orders(labels):
    expected = allowed(len(labels), pairs_of(labels))
    orders = PermutationSet(labels)
    assert [tuple(o.tolist()) for o in orders] == expected
    assert orders.size == len(expected)
    assert all(o in orders for o in expected)
    assert sum(o in orders for o in permutations(range(len(labels)))) == len(expected)


def test_size_is_the_product_of_factorials():
    assert PermutationSet(np.repeat([0, 1, 2], [30, 4, 5])).size == factorial(30) * factorial(4) * factorial(5)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_preferences_allow_exactly_their_linear_extensions(m, seed):
    rng = np.random.default_rng(seed)
    pairs = [(u, v) for u in range(m) for v in range(m) if u != v and rng.random() < 0.2]
    expected = allowed(m, pairs)
    orders = PermutationSet.from_preferences(m, Preferences.from_pairs(pairs))
    assert orders.size == len(expected)
    assert [tuple(o.tolist()) for o in orders] == expected
    if expected:
        scores = rng.normal(size=m)
        best = max(expected, key=lambda o: scores[list(o)].tolist())  # highest score at the first rank that differs
        assert tuple(orders.best(scores).tolist()) == best
        assert all(o in orders for o in orders.sample(5, random_state=seed))
    else:
        with pytest.raises(DataError, match="contradict"):
            orders.sample(1)
        with pytest.raises(DataError, match="contradict"):
            orders.best(np.zeros(m))


def test_long_lists_of_preferences():
    chain = Preferences.from_pairs([(i, i + 1) for i in range(17)])
    # a chain of 18 with two more documents that may stand anywhere: 19 * 20 places
    assert PermutationSet.from_preferences(20, chain).size == 19 * 20
    assert PermutationSet.from_preferences(20, Preferences.from_pairs([])).size == factorial(20)
    with pytest.raises(DataError, match="at most 20 documents, there are 21"):
        PermutationSet.from_preferences(21, chain).size  # noqa: B018
    with pytest.raises(DataError, match="9 documents have too many orders"):
        next(iter(PermutationSet(np.zeros(9))))


def chi_square(sets, draws):
    counts = Counter(tuple(o) for o in draws.tolist())
    expected = len(draws) / sets.size
    assert set(counts) <= {tuple(o.tolist()) for o in sets}
    return sum((counts.get(tuple(o.tolist()), 0) - expected) ** 2 / expected for o in sets)


@pytest.mark.parametrize(
    "sets",
    [
        PermutationSet([1, 0, 1, 0, 1]),
        PermutationSet([1, 0, -1, 0]),
        PermutationSet.from_preferences(4, Preferences.from_pairs([(0, 1), (2, 3), (0, 3)])),
    ],
)
def test_sampling_is_uniform(sets):
    from scipy.stats import chi2

    draws = sets.sample(20_000, random_state=0)
    assert chi_square(sets, draws) < chi2.ppf(0.9999, sets.size - 1)
    np.testing.assert_array_equal(draws, sets.sample(20_000, random_state=0))


def test_orders_of_a_whole_dataset():
    rng = np.random.default_rng(2)
    data = RankingDataset.from_arrays(None, rng.integers(-1, 3, 50), qid=rng.integers(0, 9, 50))
    drawn = sample_order(data, random_state=3)
    judged = data.replace(y=np.abs(data.y))
    scores = rng.normal(size=50)
    best = best_order(judged, scores)
    for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        assert drawn[a:b] - a in PermutationSet(data.y[a:b])
        np.testing.assert_array_equal(best[a:b] - a, PermutationSet(judged.y[a:b]).best(scores[a:b]))
        np.testing.assert_array_equal(best[a:b], sorted(range(a, b), key=lambda i: (-judged.y[i], -scores[i])))
