"""What the tests of the structural SVMs share: all rankings of short lists, and the quadratic program over them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from scipy.optimize import LinearConstraint, minimize

from plackett.rankers.listwise.structural import TrainingLists
from plackett.theory.bounds.structured_bounds import structured_bounds


def short_lists(grades, n=200, seed=0, longest=6):
    """Random scores and labels, with ties in both, of all sizes against the loss; some lists without pairs."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        m = rng.integers(1, longest + 1)
        s = rng.normal(size=m) * rng.choice([0.0, 0.1, 1.0, 5.0, 50.0])
        yield (np.round(s) if i % 3 == 0 else s), rng.integers(0, grades, m).astype(float)


def lists_of(labels):
    """One list, for the search alone."""
    return TrainingLists(None, labels, np.array([0, labels.size]), np.ones(1))


def check_search(find, measure, grades):
    """The value is the largest over all rankings, and the slope a subgradient of it."""
    rng = np.random.default_rng(5)
    for s, y in short_lists(grades):
        search = find(lists_of(y))
        (error,), slope = search(s)
        value = error + slope @ s
        np.testing.assert_allclose(value, structured_bounds(s, y, measure).margin, rtol=1e-9, atol=1e-9)
        assert -1e-12 <= error <= 1 + 1e-12
        np.testing.assert_allclose(slope.sum(), 0, atol=1e-9)
        for _ in range(5):
            other = s + rng.normal(size=s.size) * rng.choice([0.1, 1, 10])
            (error_there,), slope_there = search(other)
            assert error_there + slope_there @ other >= value + slope @ (other - s) - 1e-9


def tiny_task(n_queries=5, length=4, d=3, seed=0, grades=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * length, d)).astype(np.float32)
    y = rng.integers(0, grades, n_queries * length).astype(float)
    return X, y, np.repeat(np.arange(n_queries), length)


def all_rankings(X, y, qid, error):
    """Of every ranking of every list that has pairs: the list, its error, and its features less perfect ones."""
    rows = []
    for q in np.unique(qid):
        x, labels = X[qid == q].astype(float), y[qid == q]
        pairs = [(u, v) for u in range(labels.size) for v in range(labels.size) if labels[u] > labels[v]]
        for order in permutations(range(labels.size)) if pairs else ():
            position = {document: r for r, document in enumerate(order)}
            wrong = [(u, v) for u, v in pairs if position[u] > position[v]]
            moved = sum((-2.0 * (x[u] - x[v]) for u, v in wrong), np.zeros(x.shape[1])) / len(pairs)
            rows.append((q, error(labels[list(order)]), moved))
    return np.array([r[0] for r in rows]), np.array([r[1] for r in rows]), np.array([r[2] for r in rows])


def quadratic_program(of_list, height, slopes, C, n_queries):
    """Least ½‖w‖² + C mean ξ with ξ of each list ≥ 0 and ≥ height + slopes·w of each of its rankings."""
    d = slopes.shape[1]
    one = np.zeros((of_list.size, n_queries))
    one[np.arange(of_list.size), of_list] = 1
    result = minimize(
        lambda z: 0.5 * z[:d] @ z[:d] + C * z[d:].mean(),
        np.append(np.zeros(d), np.ones(n_queries)),
        jac=lambda z: np.append(z[:d], np.full(n_queries, C / n_queries)),
        constraints=[LinearConstraint(np.hstack([-slopes, one]), height, np.inf)],
        bounds=[(None, None)] * d + [(0, None)] * n_queries,
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    return result.fun, result.x[:d]
