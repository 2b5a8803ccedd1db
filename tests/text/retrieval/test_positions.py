"""Proximity and sequential dependence, against plain loops over words."""

from __future__ import annotations

from itertools import pairwise
from math import exp, log

import numpy as np
import pytest

from plackett import DataError
from plackett.text import BM25, Dirichlet, Proximity, SequentialDependence
from plackett.text.retrieval.proximity import PROXIMITY, proximity_table
from plackett.text.retrieval.queries import Queries


def positions(tokens, t):
    return [i for i, word in enumerate(tokens) if word == t]


def by_hand(query, tokens):
    """The columns of the proximity table."""
    query = [t for t in query if t != "unknown"]
    distinct = list(dict.fromkeys(query))
    matched = [t for t in distinct if t in tokens]
    none = len(tokens)
    gaps = {
        (a, b): min(abs(i - j) for i in positions(tokens, a) for j in positions(tokens, b))
        for a in matched
        for b in matched
        if a < b
    }
    everywhere = sorted(i for t in matched for i in positions(tokens, t))
    cover = none
    for i in everywhere:
        for j in everywhere:
            if i <= j and set(matched) <= set(tokens[i : j + 1]):
                cover = min(cover, j - i + 1)
    neighbours = set(pairwise(query))
    ordered = sum((tokens[i], tokens[i + 1]) in neighbours for i in range(len(tokens) - 1))
    unordered = 0
    for i in everywhere:  # each occurrence with the last one of every neighbour before it
        for t in matched:
            before = [j for j in positions(tokens, t) if j < i]
            close = (t, tokens[i]) in neighbours or (tokens[i], t) in neighbours
            unordered += bool(before and close and i - before[-1] < 8)
    return [
        min(gaps.values(), default=none),
        np.mean(list(gaps.values())) if gaps else none,
        everywhere[-1] - everywhere[0] if len(matched) > 1 else none,
        cover,
        ordered,
        unordered,
        everywhere[0] if everywhere else none,
        len(matched),
    ]


def test_the_table_by_hand(small):
    queries = Queries(small.texts, small.index.analyzer)
    field = small.index.field()
    table = proximity_table(field, *queries.numbers(field), *small.pairs())
    expected = [by_hand(query, tokens) for query in small.queries for tokens in small.documents]
    np.testing.assert_allclose(table, np.array(expected, np.float32), rtol=1e-6)


@pytest.mark.parametrize("distance", PROXIMITY[:4])
def test_the_bonus(small, distance):
    column = PROXIMITY.index(distance)

    def bonus(query, tokens):
        row = by_hand(query, tokens)
        return log(0.3 + (exp(-row[column]) if row[-1] > 1 else 0.0))

    model = Proximity(model=None, distance=distance)
    result = model.scores(small.index, small.texts, *small.pairs()).reshape(-1, small.n)
    np.testing.assert_allclose(result, small.by_hand(bonus), rtol=1e-5)
    both = Proximity(distance=distance, weight=2.0).scores(small.index, small.texts, *small.pairs())
    base = BM25().scores(small.index, small.texts, *small.pairs())
    np.testing.assert_allclose(both, base + 2.0 * result.ravel(), rtol=1e-6)


def test_closer_is_better():
    values = [log(0.3 + exp(-gap)) for gap in range(1, 20)]
    assert (np.diff(values) < 0).all()
    with pytest.raises(DataError, match="distance='x'"):
        Proximity(distance="x")


def pair_counts(tokens, a, b, window):
    ordered = sum(tokens[i] == a and tokens[i + 1] == b for i in range(len(tokens) - 1))
    unordered, open_at = 0, None
    for i, t in enumerate(tokens):
        if t not in (a, b):
            continue
        if open_at is not None and i - open_at < window and (a == b or tokens[open_at] != t):
            unordered, open_at = unordered + 1, None
        else:
            open_at = i
    return ordered, unordered


def test_sequential_dependence_by_hand(small):
    mu, window = 20.0, 4

    def formula(query, tokens):
        known = [t for t in query if t != "unknown"]
        p = lambda tf, cf: log((tf + mu * cf / small.total) / (len(tokens) + mu))  # noqa: E731
        total = 0.5 * sum(p(tokens.count(t), small.cf(t)) for t in known)
        for a, b in pairwise(known):
            own = pair_counts(tokens, a, b, window)
            everywhere = [pair_counts(other, a, b, window) for other in small.documents]
            for kind, weight in ((0, 0.3), (1, 0.2)):
                cf = sum(pair[kind] for pair in everywhere)
                if cf:
                    total += weight * p(own[kind], cf)
        return total

    model = SequentialDependence(weights=(0.5, 0.3, 0.2), window=window, model=Dirichlet(mu=mu))
    small.check(model, formula)


def test_terms_alone_are_query_likelihood(small):
    pairs = small.pairs()
    alone = SequentialDependence(weights=(1.0, 0.0, 0.0), model=Dirichlet(mu=9))
    expected = Dirichlet(mu=9).scores(small.index, small.texts, *pairs)
    np.testing.assert_allclose(alone.scores(small.index, small.texts, *pairs), expected)
