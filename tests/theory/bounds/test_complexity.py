"""Complexities against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.theory.bounds.boosted_vc import boosted_vc
from plackett.theory.bounds.margin_loss import margin_loss
from plackett.theory.bounds.rademacher import (
    kernel_rademacher,
    linear_rademacher,
    linear_rademacher_bound,
    rademacher_average,
)
from plackett.theory.bounds.rank_shatter import rank_shatter, rank_shatter_bound


def test_rademacher_averages_of_finite_classes():
    rng = np.random.default_rng(0)
    G = rng.standard_normal((5, 6))
    value = rademacher_average(G)
    assert rademacher_average(G[:1]) == pytest.approx(0, abs=1e-12)
    assert rademacher_average(-2.5 * G) == pytest.approx(2.5 * value)
    mixed = rng.dirichlet(np.ones(5), 40) @ G  # the convex hull is no richer
    assert rademacher_average(np.concatenate([G, mixed])) == pytest.approx(value)
    assert rademacher_average(G, factor=2.0) == pytest.approx(2 * value)
    drawn = rademacher_average(G, n_draws=40_000, random_state=1)
    assert drawn == pytest.approx(value, rel=0.03)


def test_rademacher_averages_of_balls_are_suprema_below_their_bounds():
    X = np.random.default_rng(1).standard_normal((8, 2))
    angles = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
    circle = 1.5 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    exact = linear_rademacher(X, 1.5)
    assert rademacher_average(circle @ X.T) == pytest.approx(exact, rel=1e-4)
    corners = 1.5 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])  # a linear function is largest at a corner
    assert rademacher_average(corners @ X.T) == pytest.approx(linear_rademacher(X, 1.5, ball="l1"))
    bound = linear_rademacher_bound(X, 1.5)
    assert exact <= bound <= 1.5 * np.sqrt(np.square(X).sum(axis=1).max() / 8) + 1e-12
    average, of_trace = kernel_rademacher(X @ X.T, 1.5)
    assert (average, of_trace) == pytest.approx((exact, bound))


def tables(positives, negatives, weights):
    """Distinct tables by trying many weights, those in general position and those on the boundaries."""
    differences = (positives[:, None] - negatives[None]).reshape(-1, positives.shape[1])
    scores = np.round(weights @ differences.T, 9)
    return len({tuple(row) for row in np.sign(scores)})


def test_rank_shatter_coefficients_are_counted_exactly():
    rng = np.random.default_rng(0)
    assert rank_shatter(rng.random((4, 1)), rng.random((3, 1))) == 3
    for m, n, count in ((2, 2, 17), (3, 3, 37), (3, 4, 49)):
        P, N = rng.random((m, 2)), rng.random((n, 2))
        assert rank_shatter(P, N) == 4 * m * n + 1 == count
        d = (P[:, None] - N[None]).reshape(-1, 2)
        normals = np.stack([-d[:, 1], d[:, 0]], axis=1)
        angles = np.sort(np.arctan2(*np.concatenate([normals, -normals]).T[::-1]))
        between = (angles + np.roll(angles, -1)) / 2 + np.pi * (angles > np.roll(angles, -1))
        weights = np.concatenate([normals, -normals, np.stack([np.cos(between), np.sin(between)], axis=1), [[0, 0]]])
        assert tables(P, N, weights) == count
    for (m, n), count in {(2, 2): 51, (2, 3): 123}.items():
        P, N = rng.random((m, 3)), rng.random((n, 3))
        assert rank_shatter(P, N) == count <= rank_shatter_bound(m, n, 3)
        # every face is inside the hull of its corners, and the corners are where planes cross
        differences = (P[:, None] - N[None]).reshape(-1, 3)
        i, j = np.triu_indices(differences.shape[0], 1)
        corners = np.cross(differences[i], differences[j])
        corners /= np.linalg.norm(corners, axis=1, keepdims=True)
        corners = np.concatenate([corners, -corners])
        sums = [corners, corners[:, None] + corners[None], corners[:, None, None] + corners[None, :, None] + corners]
        assert tables(P, N, np.concatenate([*(s.reshape(-1, 3) for s in sums), np.zeros((1, 3))])) == count


def test_rank_shatter_of_degenerate_and_of_larger_samples():
    same = np.ones((2, 3))
    assert rank_shatter(same, same) == 1  # nothing to tell apart
    line = np.outer(np.arange(1, 4), [1.0, 2.0, 3.0])
    assert rank_shatter(line, -line) == 3  # one direction in space
    rng = np.random.default_rng(0)
    with pytest.raises(pk.DataError, match="span 4 dimensions"):
        rank_shatter(rng.random((3, 4)), rng.random((3, 4)))


def test_boosted_vc():
    assert boosted_vc(2, 5) == pytest.approx(144.995671, abs=1e-6)
    assert boosted_vc(1, 10) == pytest.approx(215.693573, abs=1e-6)
    assert boosted_vc(3, 5) > boosted_vc(2, 5) < boosted_vc(2, 6)


def test_margin_loss_lies_between_the_indicators():
    u = np.linspace(-2, 2, 4001)
    last = None
    for rho in (0.1, 0.5, 1.0):
        values = margin_loss(u, rho)
        assert ((u <= 0) <= values).all() and (values <= (u <= rho)).all()
        assert np.abs(np.diff(values) / np.diff(u)).max() == pytest.approx(1 / rho)
        assert last is None or (values >= last).all()  # grows with ρ
        last = values
    assert (margin_loss(u, 1e-9) == (u <= 0)).all()
