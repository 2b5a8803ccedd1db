"""Sorted sweeps over pairs against the double loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plackett import RankingDataset
from plackett.data.preferences import Preferences
from plackett.losses.pairwise.margin_pairs import margin_pairs


def naive(scores, y, qid, squared, direction, *, margin, table, tie, width, document, query, normalize):
    """Value, gradient and curvature product by looking at every pair."""
    value, gradient, product = 0.0, np.zeros(y.size), np.zeros(y.size)
    for q in np.unique(qid):
        terms, count = [], 0.0
        rows = np.flatnonzero((qid == q) & (y >= 0))
        for u in rows:
            for v in rows:
                weight = document[u] * document[v]
                if y[u] > y[v]:
                    gap = y[u] - y[v] if margin == "label" else margin
                    count += weight
                    factor = 1.0 if table is None else table[int(y[u])][int(y[v])]
                    terms.append((u, v, factor * weight, gap))
                elif y[u] == y[v] and u != v and tie:
                    count += 0.5 * tie * weight
                    terms.append((u, v, tie * weight, -width))
        for u, v, weight, gap in terms:
            c = weight * query[q] / (count if normalize and count else 1.0)
            miss = gap - (scores[u] - scores[v])
            if miss <= 0:
                continue
            value += c * (miss**2 if squared else miss)
            slope = c * (2 * miss if squared else 1.0)
            gradient[u] -= slope
            gradient[v] += slope
            product[u] += 2 * c * (direction[u] - direction[v])
            product[v] -= 2 * c * (direction[u] - direction[v])
    return value, gradient, product


@given(
    seed=st.integers(0, 2**31),
    margin=st.sampled_from([0.0, 1.0, 2.5, "label"]),
    squared=st.booleans(),
    labels=st.sampled_from([2, 5, 100]),
    tie=st.sampled_from([0.0, 0.7]),
    weighted=st.booleans(),
    normalize=st.booleans(),
    by_level=st.booleans(),
)
def test_sweep_is_the_double_loop(seed, margin, squared, labels, tie, weighted, normalize, by_level):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(5), rng.integers(1, 14, 5))
    y = rng.integers(-1, labels, qid.size).astype(float)
    scores = rng.integers(-6, 7, qid.size) / 2.0  # differences fall on the margins, too
    direction = rng.normal(size=qid.size)
    document = rng.integers(0, 3, qid.size).astype(float) if weighted else np.ones(qid.size)
    query = rng.uniform(0.5, 2, 5) if weighted else np.ones(5)
    table = rng.uniform(0, 2, (labels, labels)) if by_level else None
    data = RankingDataset.from_arrays(
        None, y, qid, sample_weight=document if weighted else None, query_weight=query if weighted else None
    )
    pairs = margin_pairs(
        data, margin=margin, normalize=normalize, level_weights=table, tie_weight=tie, tie_width=0.5, n_jobs=1
    )
    value, gradient, product = naive(
        scores,
        y,
        qid,
        squared,
        direction,
        margin=margin,
        table=table,
        tie=tie,
        width=0.5,
        document=document,
        query=query,
        normalize=normalize,
    )
    result, slopes = pairs.evaluate(scores, squared)
    np.testing.assert_allclose(result, value, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(slopes, gradient, rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(pairs.curvature(scores)(direction), product, rtol=1e-11, atol=1e-10)


def test_long_list_of_many_labels():
    rng = np.random.default_rng(0)
    n = 700
    y, scores, direction = rng.normal(size=n) + 10, rng.normal(size=n), rng.normal(size=n)
    data = RankingDataset.from_arrays(None, y, np.zeros(n, int))
    pairs = margin_pairs(data)
    better = y[:, None] > y
    miss = np.where(better, np.maximum(1 - (scores[:, None] - scores), 0), 0)
    value, gradient = pairs.evaluate(scores, True)
    np.testing.assert_allclose(value, (miss**2).sum(), rtol=1e-12)
    np.testing.assert_allclose(gradient, 2 * (miss.sum(axis=0) - miss.sum(axis=1)), rtol=1e-10, atol=1e-8)
    apart = np.where(miss > 0, direction[:, None] - direction, 0)
    expected = 2 * (apart.sum(axis=1) - apart.sum(axis=0))
    np.testing.assert_allclose(pairs.curvature(scores)(direction), expected, rtol=1e-10, atol=1e-8)


@pytest.mark.parametrize("kept", ["labels", "preferences"])
def test_curvature_is_the_derivative_of_the_gradient(kept):
    rng = np.random.default_rng(1)
    n = 30
    y, scores, direction = rng.integers(0, 4, n).astype(float), rng.normal(size=n), rng.normal(size=n)
    data = RankingDataset.from_arrays(None, y, np.arange(n) // 10)
    if kept == "preferences":
        data = data.replace(preferences=Preferences.from_labels(data))
    pairs = margin_pairs(data)
    step = 1e-7
    after, before = (pairs.evaluate(scores + sign * step * direction, True)[1] for sign in (1, -1))
    expected = (after - before) / (2 * step)
    np.testing.assert_allclose(pairs.curvature(scores)(direction), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("squared", [False, True])
def test_preferences_are_the_pairs_of_labels(squared):
    rng = np.random.default_rng(2)
    y, scores = rng.integers(-1, 3, 40).astype(float), rng.normal(size=40)
    data = RankingDataset.from_arrays(None, y, np.arange(40) // 8)
    given_pairs = data.replace(preferences=Preferences.from_labels(data))
    for normalize in (False, True):
        expected = margin_pairs(data, margin="label", normalize=normalize).evaluate(scores, squared)
        result = margin_pairs(given_pairs, normalize=normalize).evaluate(scores, squared)
        np.testing.assert_allclose(result[0], expected[0], rtol=1e-12)
        np.testing.assert_allclose(result[1], expected[1], atol=1e-12)


def test_threads_change_nothing():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 4, 45_000).astype(float)
    data = RankingDataset.from_arrays(None, y, np.arange(45_000) // 30)
    scores, direction = rng.normal(size=45_000), rng.normal(size=45_000)
    one, two = (margin_pairs(data, n_jobs=n) for n in (1, 2))
    assert one.evaluate(scores, True)[0] == two.evaluate(scores, True)[0]
    np.testing.assert_array_equal(one.evaluate(scores, True)[1], two.evaluate(scores, True)[1])
    np.testing.assert_array_equal(one.curvature(scores)(direction), two.curvature(scores)(direction))


@pytest.mark.parametrize(
    ("table", "match"),
    [([[1.0]], "label [12] has no row"), ([[1.0, 2.0]], "square"), ([[-1.0, 0, 0]] * 3, "0 or more")],
)
def test_level_weights_are_checked(table, match):
    data = RankingDataset.from_arrays(None, [0, 1, 2], [1, 1, 1])
    with pytest.raises(ValueError, match=match):
        margin_pairs(data, level_weights=table)


def test_level_weights_are_not_for_preferences():
    data = RankingDataset.from_arrays(None, [0, 1], [1, 1], preferences=Preferences.from_pairs([(1, 0)]))
    with pytest.raises(ValueError, match="for labels"):
        margin_pairs(data, level_weights=np.ones((2, 2)))
