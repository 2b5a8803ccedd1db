"""Data whose best weights turn with the query."""

from __future__ import annotations

import numpy as np

import plackett as pk


def rotating(n_queries, seed, n_docs=12, n_features=4, noise=0.2, two=False):
    """Labels follow x · w(z) with w(z) = z₀ u + z₁ v: two groups of opposite weights, or a circle."""
    rng = np.random.default_rng(seed)
    angle = rng.integers(0, 2, n_queries) * np.pi if two else rng.uniform(0, 2 * np.pi, n_queries)
    z = np.stack([np.cos(angle), np.sin(angle)], axis=1) + (0.05 * rng.normal(size=(n_queries, 2)) if two else 0.0)
    X = rng.normal(size=(n_queries * n_docs, n_features))
    rows = np.repeat(z, n_docs, axis=0)
    score = X[:, 0] * rows[:, 0] + X[:, 1] * rows[:, 1] + noise * rng.normal(size=len(X))
    y = np.digitize(score, np.quantile(score, [0.6, 0.85])).astype(float)
    return pk.RankingDataset.from_arrays(X, y, np.repeat(np.arange(n_queries), n_docs), query_features=z)
