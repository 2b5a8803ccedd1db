"""Rules: cuts, the miner against every conjunction tried one by one, scores against a loop, storage."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plackett import DataError
from plackett.scorers.rules.ranges import find_cuts, range_codes
from plackett.scorers.rules.scorer import RuleScorer
from plackett.solvers.rules.mining import mine, preorder_ends


def conjunctions(result):
    """A mined forest as {conditions: (counts, weights)}."""
    path, out = [], {}
    for feature, code, depth, counts, weights in zip(
        result.feature, result.code, result.depth, result.counts, result.weights, strict=True
    ):
        path[depth - 1 :] = [(int(feature), int(code))]
        assert tuple(path) not in out
        out[tuple(path)] = tuple(counts), tuple(weights)
    return out


def brute_force(codes, classes, weight, k, min_support, max_items):
    out = {}
    for size in range(1, max_items + 1):
        for features in combinations(range(len(codes)), size):
            ranges = [np.unique(codes[j]) for j in features]
            if min(r.size for r in ranges) < 2:
                continue
            for chosen in product(*ranges):
                inside = np.all([codes[j] == c for j, c in zip(features, chosen, strict=True)], axis=0)
                weights = np.bincount(classes[inside], weight[inside], k)
                if weights.max() >= min_support * weight.sum() - 1e-9 and weights.max() > 0:
                    key = tuple((j, int(c)) for j, c in zip(features, chosen, strict=True))
                    out[key] = tuple(np.bincount(classes[inside], minlength=k)), tuple(weights)
    return out


@st.composite
def tables(draw):
    n, d, k = draw(st.integers(1, 80)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    codes = rng.integers(0, draw(st.integers(1, 4)), (d, n)).astype(np.uint8)
    codes[rng.random((d, n)) < 0.1] = 255
    weight = rng.integers(1, 4, n).astype(float) if draw(st.booleans()) else np.ones(n)
    return codes, rng.integers(0, k, n), weight, k


@given(tables(), st.sampled_from([0.0, 0.05, 0.125, 0.3]), st.integers(1, 4))
def test_miner_against_brute_force(table, min_support, max_items):
    codes, classes, weight, k = table
    result = conjunctions(mine(codes, classes, weight, k, min_support, max_items, 10**6, n_jobs=1))
    expected = brute_force(codes, classes, weight, k, min_support, max_items)
    assert result.keys() == expected.keys()
    for key, (counts, weights) in expected.items():
        assert result[key][0] == counts
        np.testing.assert_allclose(result[key][1], weights, rtol=1e-12)


@given(tables(), st.integers(2, 4))
def test_support_falls_with_every_condition_and_thresholds_only_take_away(table, max_items):
    codes, classes, weight, k = table
    every = conjunctions(mine(codes, classes, weight, k, 0.0, max_items, 10**6))
    for key, (_, weights) in every.items():
        for shorter in combinations(key, len(key) - 1):
            if shorter:
                assert (np.array(weights) <= np.array(every[shorter][1]) + 1e-9).all()
    before = set(every)
    for support in (0.05, 0.1, 0.4):
        kept = set(conjunctions(mine(codes, classes, weight, k, support, max_items, 10**6)))
        assert kept <= before
        before = kept


def test_threads_and_the_limit():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, (12, 3000)).astype(np.uint8)
    classes, weight = rng.integers(0, 3, 3000), rng.uniform(size=3000)
    one, two = (mine(codes, classes, weight, 3, 0.002, 3, 10**6, n_jobs=n) for n in (1, 2))
    for name in ("feature", "code", "depth", "counts", "weights"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    size = one.feature.size
    assert mine(codes, classes, weight, 3, 0.002, 3, size).feature.size == size
    with pytest.raises(DataError, match=f"more than max_rules={size - 1} .*raise min_support"):
        mine(codes, classes, weight, 3, 0.002, 3, size - 1)


@given(st.lists(st.integers(1, 3), max_size=12))
def test_preorder_ends(steps):
    depth = [1]
    for step in steps:
        depth.append(min(step, depth[-1] + 1))
    expected = [
        next((j for j in range(i + 1, len(depth)) if depth[j] <= depth[i]), len(depth)) for i in range(len(depth))
    ]
    assert preorder_ends(np.array(depth)).tolist() == expected


# -------------------------------------------------------------------------------------------------------------- cuts


def cuts_of(x, y, n_bins, discretization, weight=None):
    X = np.array(x, np.float32)[:, None]
    weight = np.ones(len(x)) if weight is None else np.array(weight, float)
    return find_cuts(X, np.array(y), weight, int(max(y)) + 1, n_bins, discretization)


def test_quantile_cuts():
    y = [0] * 8
    assert cuts_of(range(8), y, 4, "quantile")[0].tolist() == [1.5, 3.5, 5.5]
    # equal values stay together: a quarter, a half and three quarters of the documents are zeros
    assert cuts_of([0, 0, 0, 0, 0, 0, 1, 2], y, 4, "quantile")[0].tolist() == [0.5]
    assert cuts_of([0, 0, 0, 0, 0, 1, 1, 2], y, 4, "quantile")[0].tolist() == [0.5, 1.5]
    assert cuts_of([5] * 8, y, 4, "quantile")[0].size == 0
    assert cuts_of(range(4), [0] * 4, 2, "quantile", [1, 1, 1, 5])[0].tolist() == [2.5]
    cuts, first, missing = cuts_of([np.nan, 1, 2, 3, 4, np.nan, np.nan, np.nan], y, 2, "quantile")
    assert cuts.tolist() == [2.5] and first.tolist() == [0, 1] and missing.tolist() == [True]


def entropy(labels):
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return -(shares * np.log2(shares)).sum()


def recursive_cuts(x, y):
    """Fayyad and Irani's cuts, as their paper has them: halve, and go on in both halves."""
    n, places = len(x), [i for i in range(1, len(x)) if x[i] != x[i - 1]]
    if not places:
        return []
    rest = [(i * entropy(y[:i]) + (n - i) * entropy(y[i:])) / n for i in places]
    i = places[int(np.argmin(np.round(rest, 9)))]
    gain = entropy(y) - min(rest)
    kinds, left, right = (np.unique(part).size for part in (y, y[:i], y[i:]))
    delta = np.log2(3.0**kinds - 2) - (kinds * entropy(y) - left * entropy(y[:i]) - right * entropy(y[i:]))
    if gain <= (np.log2(max(n - 1, 1e-300)) + delta) / n:
        return []
    return [*recursive_cuts(x[:i], y[:i]), 0.5 * (x[i - 1] + x[i]), *recursive_cuts(x[i:], y[i:])]


@given(st.integers(0, 10**6), st.integers(10, 120), st.integers(2, 3))
def test_entropy_cuts_against_the_recursion_of_the_paper(seed, n, k):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.integers(0, 30, n)).astype(float)
    y = np.clip((x / 30 * k + rng.normal(0, 0.25, n)).astype(int), 0, k - 1)
    y[0] = k - 1
    assert cuts_of(x, y, 255, "entropy")[0].tolist() == pytest.approx(recursive_cuts(x, y))


def test_entropy_cuts_stop_at_the_number_of_ranges_and_at_noise():
    x = np.arange(400)
    y = x // 100
    assert cuts_of(x, y, 10, "entropy")[0].tolist() == [99.5, 199.5, 299.5]
    assert cuts_of(x, y, 2, "entropy")[0].tolist() == [199.5]  # the most informative one
    assert cuts_of(x, np.random.default_rng(0).integers(0, 2, 400), 10, "entropy")[0].size == 0


def test_codes_count_the_cuts_below():
    cuts, first = np.array([0.5, 1.5, 2.0], np.float32), np.array([0, 2, 2, 3])
    X = np.array([[0.5, 7, 2], [0.6, 7, 3], [9, 7, np.nan], [1.5, 7, -1]], np.float32)
    out = np.empty((3, 4), np.uint8)
    range_codes(X, cuts, first, out)
    assert out.tolist() == [[0, 1, 2, 1], [0, 0, 0, 0], [0, 1, 255, 0]]


# ----------------------------------------------------------------------------------------------------------- storage


def test_rules_from_files_are_checked():
    scorer = RuleScorer(
        grades=np.array([0.0, 1.0]),
        prior=np.array([0.75, 0.25]),
        cuts=np.array([0.5, 2.0], np.float32),
        first=np.array([0, 1, 2]),
        feature=np.array([0, 1, 1]),
        code=np.array([1, 0, 255]),
        depth=np.array([1, 2, 1]),
        after=np.array([2, 2, 3]),
        counts=np.array([[2, 2], [1, 0], [0, 1]]),
        support=np.full((3, 2), 0.25),
        confidence=np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]),
    )
    arrays = scorer.to_arrays()
    X = np.array([[1, 1], [1, 3], [0, np.nan], [0, 9]], np.float32)
    offsets = np.array([0, 4])
    # 0: both grades by the first rule, grade 0 by the second; 1: the first only; 2: the third; 3: none, the prior
    expected = [0.5 / (0.5 + 0.75), 0.5, 1.0, 0.25]
    np.testing.assert_allclose(RuleScorer.from_arrays(arrays).predict(X, offsets), expected)
    assert scorer.frame(["a", "b"])["conditions"].to_list() == [
        "b is missing",
        "a > 0.5",
        "a > 0.5 and b ≤ 2",
        "a > 0.5",
    ]
    for match, change in (
        ("feature", {"feature": np.array([0, 1, 2])}),
        ("range", {"code": np.array([2, 0, 0])}),
        ("order of the conditions", {"after": np.array([0, 2, 3])}),
        ("order of the conditions", {"after": np.array([2, 2, 4])}),
        ("below 0", {"code": np.array([1, -1, 0])}),
        ("follow", {"depth": np.array([1, 3, 1])}),
        ("follow", {"depth": np.array([2, 2, 1])}),
        ("confidence", {"confidence": np.full((3, 2), 1.5)}),
        ("confidence", {"confidence": np.full((3, 2), np.nan)}),
        ("support", {"support": np.ones((2, 2))}),
        ("grades", {"grades": np.array([1.0, 0.0])}),
        ("grades", {"prior": np.array([0.9, 0.9])}),
        ("cuts", {"first": np.array([0, 1, 5])}),
        ("depth", {"depth": np.array([1])}),
        ("'code' is int32", {"code": arrays["code"].astype(np.int32)}),
        ("damaged", {"cuts": np.array([np.nan, 1], np.float32)}),
    ):
        with pytest.raises(DataError, match=match):
            RuleScorer.from_arrays(arrays | change)
    del arrays["prior"]
    with pytest.raises(DataError, match="prior"):
        RuleScorer.from_arrays(arrays)
    with pytest.raises(DataError, match="table of 3"):
        scorer.predict(np.zeros((1, 3), np.float32), offsets)
