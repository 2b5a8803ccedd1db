"""Additive scorers against plain sums of step functions, and what they refuse to load."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from plackett import DataError
from plackett.scorers.additive import AdditiveScorer, AdditiveTerms

STEP = st.tuples(
    st.integers(0, 3),
    st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 0.75, 2.0]),
    st.integers(-4, 4).map(float),
    st.integers(-2, 2).map(float),
)


def naive(X, steps, lines):
    scores = np.zeros(len(X))
    for i, row in enumerate(X.astype(float)):
        for j, threshold, height, missing in steps:
            scores[i] += missing if np.isnan(row[j]) else height * (row[j] > threshold)
        for j, level, slope, missing in lines:
            scores[i] += missing if np.isnan(row[j]) else level + slope * row[j]
    return scores


@given(st.lists(STEP, max_size=12), st.lists(STEP.filter(lambda s: s[1] > -np.inf), max_size=3), st.booleans())
def test_it_is_the_sum_of_its_terms(steps, lines, sparse):
    rng = np.random.default_rng(0)
    X = rng.choice([-2.0, -1.0, 0.0, 0.5, 0.6, 1.0, 3.0, np.nan], (30, 4)).astype(np.float32)
    terms = AdditiveTerms()
    for step in steps:
        terms.step(*step)
    for line in lines:
        terms.line(*line)
    scorer = AdditiveScorer.from_arrays(terms.scorer(4).to_arrays())
    result = scorer.predict(csr_matrix(X) if sparse else X, np.array([0, 30]))
    np.testing.assert_allclose(result, naive(X, steps, lines), atol=1e-5)


def test_many_edges_are_searched_by_halving():
    rng = np.random.default_rng(0)
    steps = [(0, float(t), float(h), 0.0) for t, h in zip(rng.permutation(200), rng.normal(size=200), strict=True)]
    terms = AdditiveTerms()
    for step in steps:
        terms.step(*step)
    X = rng.uniform(-5, 205, (300, 1)).astype(np.float32)
    X[:50] = np.rint(X[:50])  # on an edge: not beyond it
    np.testing.assert_allclose(terms.scorer(1).predict(X, np.array([0, 300])), naive(X, steps, []), atol=1e-9)


def test_functions_of_the_features_can_be_read():
    scorer = AdditiveTerms().step(2, 1.0, 3.0, 0.5).step(2, -1.0, 1.0).line(0, 1.0, 2.0).scorer(4)
    edges, values, slope, missing = scorer.function(2)
    assert (edges.tolist(), values.tolist(), slope, missing) == ([-1.0, 1.0], [0.0, 1.0, 4.0], 0.0, 0.5)
    assert scorer.function(0).slope == 2.0 and scorer.function(0).values.tolist() == [1.0]
    assert scorer.function(1).values.tolist() == scorer.function(3).values.tolist() == [0.0]


@pytest.mark.parametrize(
    "change",
    [
        {"features": [2, 0]},
        {"features": [0, 4]},
        {"features": [-1, 2]},
        {"first": [0, 1, 3]},
        {"first": [0, 5, 2]},
        {"first": [0, 2]},
        {"edges": [1.0, -1.0]},
        {"edges": [np.nan, 1.0]},
        {"values": [0.0, 1.0]},
        {"values": [0.0, 1.0, 4.0, np.inf]},
        {"slopes": [0.0]},
        {"n_features": [2]},
        {"missing": None},
    ],
)
def test_damaged_arrays_are_refused(change):
    arrays = AdditiveTerms().step(2, 1.0, 3.0).step(2, -1.0, 1.0).line(0, 1.0, 2.0).scorer(4).to_arrays()
    arrays |= {name: np.array(value) for name, value in change.items() if value is not None}
    for name in [name for name, value in change.items() if value is None]:
        del arrays[name]
    with pytest.raises(DataError, match="additive model is damaged"):
        AdditiveScorer.from_arrays(arrays)


def test_a_table_of_other_width_is_refused():
    with pytest.raises(DataError, match="3 features for a scorer of 4"):
        AdditiveTerms().scorer(4).predict(np.zeros((2, 3), np.float32), np.array([0, 2]))
