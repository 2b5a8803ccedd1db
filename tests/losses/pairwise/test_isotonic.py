"""Isotonic updates against a general quadratic program, pool-adjacent-violators and their own conditions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.isotonic import isotonic_regression

from plackett import RankingDataset
from plackett._base.errors import LossError
from plackett.data.preferences import Preferences
from plackett.losses.pairwise.isotonic import Isotonic, isotonic_update
from written_out.isotonic import least_moves

PRICES = (0.0, 0.01, 0.3, 10.0, np.inf)


def one_query(labels, **columns):
    return RankingDataset.from_arrays(None, labels, np.zeros(len(labels), int), **columns)


def pairs_of(labels):
    n = len(labels)
    return [(i, j) for i in range(n) for j in range(n) if labels[i] > labels[j] >= 0]


def random_scores(rng, n):
    scores = rng.normal(0, rng.choice([0.3, 3.0, 1000.0]), n)
    return np.round(scores) if rng.random() < 0.3 else scores


@pytest.mark.parametrize("slack", PRICES)
def test_grades_against_a_quadratic_program(slack):
    rng = np.random.default_rng(1)
    for _ in range(60):
        n = int(rng.integers(2, 9))
        labels, scores = rng.choice([0, 1, 2, 3.5], n), random_scores(rng, n)
        weights = rng.choice([0.5, 1.0, 2.0], n)
        pairs = pairs_of(labels)
        if not pairs:
            continue
        delta, zeta, _ = least_moves(scores, weights, pairs, [labels[i] - labels[j] for i, j in pairs], slack)
        update = isotonic_update(scores, one_query(labels, sample_weight=weights), slack=slack)
        np.testing.assert_allclose(update.delta, delta, atol=1e-9 * max(1, np.abs(scores).max()))
        np.testing.assert_allclose(update.slack, zeta, atol=1e-9)


@pytest.mark.parametrize("slack", PRICES)
def test_preferences_against_a_quadratic_program(slack):
    rng = np.random.default_rng(2)
    for _ in range(60):
        n = int(rng.integers(2, 9))
        scores, weights = random_scores(rng, n), rng.choice([0.5, 1.0, 2.0], n)
        rank = rng.permutation(n)
        pairs = [tuple(rng.choice(n, 2, replace=False)) for _ in range(rng.integers(1, 14))]
        if slack > 0:  # no cycles
            pairs = [(i, j) if rank[i] > rank[j] else (j, i) for i, j in pairs]
        margins = rng.choice([0.5, 1.0, 2.0], len(pairs))
        named = sorted({i for pair in pairs for i in pair})
        local = {row: i for i, row in enumerate(named)}
        result = least_moves(scores[named], weights[named], [(local[i], local[j]) for i, j in pairs], margins, slack)
        delta = np.zeros(n)
        delta[named] = result[0]
        data = one_query(np.zeros(n), sample_weight=weights, preferences=Preferences.from_pairs(pairs, margin=margins))
        update = isotonic_update(scores, data, slack=slack)
        np.testing.assert_allclose(update.delta, delta, atol=1e-9 * max(1, np.abs(scores).max()))
        if slack > 0:
            np.testing.assert_allclose(update.slack, result[1], atol=1e-9)


@pytest.mark.parametrize("ties", [1e-3, 0.1, 10.0, np.inf])
def test_ties_against_a_quadratic_program(ties):
    rng = np.random.default_rng(3)
    for _ in range(60):
        n = int(rng.integers(2, 9))
        labels, scores = rng.integers(0, 4, n).astype(float), random_scores(rng, n)
        weights, slack = rng.choice([0.5, 1.0, 2.0], n), rng.choice(PRICES)
        pairs = pairs_of(labels)
        if not pairs:
            continue
        tied = [(i, j) for i in range(n) for j in range(i) if labels[i] == labels[j]]
        margins = [labels[i] - labels[j] for i, j in pairs]
        delta, zeta, tie_gap = least_moves(scores, weights, pairs, margins, slack, tied, ties)
        update = isotonic_update(scores, one_query(labels, sample_weight=weights), slack=slack, ties=ties)
        size = max(1, np.abs(scores).max())
        np.testing.assert_allclose(update.delta, delta, atol=1e-9 * size)
        np.testing.assert_allclose(update.tie_gap, tie_gap, atol=1e-9 * size)
        np.testing.assert_allclose(update.slack, zeta, atol=1e-9)
        if ties == np.inf:
            moved = scores + update.delta
            assert all(abs(moved[i] - moved[j]) < 1e-9 * size for i, j in tied)


def test_ties_fade():
    """A small price leaves documents of a grade alone, a large one brings them together."""
    rng = np.random.default_rng(4)
    labels, scores = rng.integers(0, 3, 40).astype(float), rng.normal(size=40)
    data = one_query(labels)
    plain = isotonic_update(scores, data, slack=1.0).delta
    np.testing.assert_allclose(isotonic_update(scores, data, slack=1.0, ties=1e-9).delta, plain, atol=1e-6)
    gaps = [isotonic_update(scores, data, slack=1.0, ties=price).tie_gap[0] for price in (1e-3, 0.1, 10.0, 1e6)]
    assert gaps == sorted(gaps, reverse=True) and gaps[-1] < 1e-5 < 0.1 < gaps[0]


def test_total_order_is_pool_adjacent_violators():
    rng = np.random.default_rng(5)
    for n in (1, 2, 10, 300):
        labels, scores, weights = rng.permutation(n) * 1.0, rng.normal(size=n), rng.uniform(0.5, 2, n)
        delta = isotonic_update(scores, one_query(labels, sample_weight=weights)).delta
        order = np.argsort(labels)
        expected = isotonic_regression(scores[order], sample_weight=weights[order])
        np.testing.assert_allclose((scores + delta)[order], expected, atol=1e-12)
        # margins of 1 between neighbours are a shift
        delta = isotonic_update(scores, one_query(labels, sample_weight=weights), slack=np.inf).delta
        expected = isotonic_regression(scores[order] - np.arange(n), sample_weight=weights[order]) + np.arange(n)
        np.testing.assert_allclose((scores + delta)[order], expected, atol=1e-11)


def test_grades_and_their_pairs_agree():
    """The fast form for grades and the general one on the same pairs, on long lists."""
    rng = np.random.default_rng(6)
    for slack in PRICES:
        sizes = [200, 57, 1, 3]
        n = sum(sizes)
        data = RankingDataset.from_arrays(
            None, rng.choice([-1, 0, 1, 2, 4], n) * 1.0, group=sizes, sample_weight=rng.choice([0.0, 1.0, 2.5], n)
        )
        listed = data.replace(preferences=Preferences.from_labels(data))
        scores = np.round(rng.normal(0, 3, n), 1)
        one, two = (isotonic_update(scores, d, slack=slack) for d in (data, listed))
        np.testing.assert_allclose(two.delta, one.delta, atol=1e-10)
        if slack > 0:
            np.testing.assert_allclose(two.slack[:2], one.slack[:2], atol=1e-10)


def test_optimality_conditions():
    """On 400 documents: feasible; nothing is moved for nothing; the multipliers of the tight pairs exist."""
    from scipy.optimize import nnls

    rng = np.random.default_rng(7)
    n = 400
    pairs = np.sort(rng.integers(0, n, (1200, 2)), axis=1)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    scores, margins = 0.01 * np.arange(n) + rng.normal(size=n), rng.uniform(0.1, 1, len(pairs))
    data = one_query(np.zeros(n), preferences=Preferences.from_pairs(pairs, margin=margins))
    update = isotonic_update(scores, data, slack=50.0)
    moved, t = scores + update.delta, 1.0 - update.slack[0]
    named = np.unique(pairs).size
    assert 0 < t < 1
    gap = moved[pairs[:, 0]] - moved[pairs[:, 1]] - margins * t
    assert gap.min() > -1e-8
    tight = np.flatnonzero(gap < 1e-8)
    forces = np.zeros((n + 1, tight.size))
    forces[pairs[tight, 0], np.arange(tight.size)] = 1.0
    forces[pairs[tight, 1], np.arange(tight.size)] = -1.0
    forces[n] = margins[tight]  # stationary in ζ: Σ μ Δ = λ n ζ
    _, residual = nnls(forces, np.append(update.delta, 50.0 * named * update.slack[0]), maxiter=10_000)
    assert residual < 1e-8


def test_cycles_become_one():
    """Documents of a cycle meet at their weighted mean; others keep their margins to it."""
    pairs = Preferences.from_pairs([(0, 1), (1, 2), (2, 0), (3, 0), (4, 5), (5, 4)])
    data = one_query(np.zeros(7), preferences=pairs, sample_weight=[1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    scores = np.array([0.0, 2.0, 4.0, 10.0, 1.0, 3.0, 5.0])
    update = isotonic_update(scores, data, slack=np.inf)
    np.testing.assert_allclose(scores + update.delta, [2, 2, 2, 10, 2, 2, 5], atol=1e-12)


def test_consistent_scores_stay():
    rng = np.random.default_rng(8)
    labels = rng.integers(0, 4, 50).astype(float)
    for data in (one_query(labels), one_query(labels, preferences=Preferences.from_labels(one_query(labels)))):
        np.testing.assert_array_equal(isotonic_update(labels * 2.0, data, slack=10.0).delta, 0.0)
        np.testing.assert_allclose(isotonic_update(labels * 2.0, data, slack=10.0).slack, 0.0, atol=1e-15)


def test_invariant_to_a_constant():
    rng = np.random.default_rng(9)
    labels, scores = rng.integers(0, 4, 50).astype(float), rng.normal(size=50)
    for ties in (0.0, 1.0):
        first = isotonic_update(scores, one_query(labels), slack=2.0, ties=ties).delta
        np.testing.assert_allclose(
            isotonic_update(scores + 1e3, one_query(labels), slack=2.0, ties=ties).delta, first, atol=1e-9
        )


def test_limits_of_the_price():
    """λ → ∞ gives hard margins, λ → 0 gives ζ = 1 and no margins, and the objective rises with λ."""
    rng = np.random.default_rng(10)
    labels, scores = rng.integers(0, 4, 30).astype(float), rng.normal(size=30)
    listed = one_query(labels, preferences=Preferences.from_labels(one_query(labels)))
    for data in (one_query(labels), listed):
        for near, limit in ((1e9, np.inf), (1e-9, 0.0)):
            one, two = (isotonic_update(scores, data, slack=price) for price in (near, limit))
            np.testing.assert_allclose(one.delta, two.delta, atol=1e-7)
            np.testing.assert_allclose(one.slack, two.slack, atol=1e-7)
        values = [Isotonic(slack=price)(scores, data) for price in (0.0, 1e-3, 0.1, 1.0, 10.0, 1e3, np.inf)]
        assert (np.diff(values) > 0).all()


def test_gradient_with_preferences():
    """The gradient is that of the value, with cycles and margins."""
    rng = np.random.default_rng(11)
    pairs = Preferences.from_pairs(
        [(0, 1), (1, 2), (2, 0), (3, 1), (4, 3), (0, 5), (6, 7)], margin=[1, 1, 1, 2, 0.5, 1, 3]
    )
    data = RankingDataset.from_arrays(
        None, None, [1] * 6 + [2] * 3, preferences=pairs, query_weight=[2.0, 0.5], sample_weight=rng.uniform(0.5, 2, 9)
    )
    for slack in PRICES:
        loss = Isotonic(slack=slack)
        scores = rng.normal(size=9)
        gradient, _ = loss.gradient(scores, data)
        for i in range(9):
            step = 1e-5 * np.eye(9)[i]
            difference = (loss(scores + step, data) - loss(scores - step, data)) / 2e-5
            np.testing.assert_allclose(gradient[i], difference, atol=1e-7)
        assert gradient[8] == 0.0  # in no pair


def test_refusals():
    data = one_query([1.0, 0.0])
    with pytest.raises(LossError, match="slack=-1"):
        Isotonic(slack=-1)
    with pytest.raises(LossError, match="ties=nan"):
        Isotonic(ties=float("nan"))
    with pytest.raises(LossError, match="neither"):
        Isotonic().bind(RankingDataset.from_arrays(np.ones((2, 1)), None, [1, 1]))
    with pytest.raises(LossError, match="ties"):
        Isotonic(ties=1.0).bind(data.replace(preferences=Preferences.from_labels(data)))


def test_gradient_with_ties():
    rng = np.random.default_rng(12)
    data = RankingDataset.from_arrays(None, rng.integers(-1, 3, 12) * 1.0, [1] * 7 + [2] * 5, query_weight=[2.0, 0.5])
    for slack, ties in ((0.0, 0.5), (0.3, 0.5), (10.0, np.inf)):
        loss = Isotonic(slack=slack, ties=ties)
        scores = rng.normal(size=12)
        gradient, _ = loss.gradient(scores, data)
        for i in range(12):
            step = 1e-5 * np.eye(12)[i]
            difference = (loss(scores + step, data) - loss(scores - step, data)) / 2e-5
            np.testing.assert_allclose(gradient[i], difference, atol=1e-7)


@pytest.mark.parametrize("labels", [[], [1.0], [0.0, 0.0], [-1.0, 2.0]])
def test_nothing_to_order(labels):
    for ties in (0.0, 1.0):
        update = isotonic_update(np.arange(len(labels)) * 1.0, one_query(labels), ties=ties)
        np.testing.assert_array_equal(update.delta, np.zeros(len(labels)))
