"""RankBoost by loops over explicit pairs, features and thresholds: what the fast one is held against."""

from __future__ import annotations

import numpy as np


def explicit_pairs(data):
    """Winner, loser and starting weight of every pair of unequal labels, or of the preferences."""
    sample = np.ones(data.n_rows) if data.sample_weight is None else data.sample_weight
    query = np.ones(data.n_queries) if data.query_weight is None else data.query_weight
    if data.preferences is not None:
        given = data.preferences
        triples = [
            (
                u,
                v,
                (1.0 if given.weight is None else given.weight[i])
                * np.exp(0 if given.margin is None else given.margin[i]),
            )
            for i, (u, v) in enumerate(zip(given.winner, given.loser, strict=True))
        ]
    else:
        triples = []
        for q in range(data.n_queries):
            rows = range(data.offsets[q], data.offsets[q + 1])
            triples += [(u, v, 1.0) for u in rows for v in rows if data.y[u] > data.y[v] >= 0]
    u, v, w = (np.array(column) for column in zip(*triples, strict=True))
    return u, v, w * sample[u] * sample[v] * query[data.query_of_row[u]]


def weak_values(x, threshold, default):
    return np.where(np.isnan(x), default, x > threshold).astype(float)


def candidates(X, rows):
    """Every weak ranker there is, for features of few distinct values: (feature, threshold, default)."""
    for j in range(X.shape[1]):
        known = np.unique(X[rows, j][~np.isnan(X[rows, j])])
        has_missing = np.isnan(X[rows, j]).any()
        for threshold in [-np.inf, *((known[1:] + known[:-1]) / 2)]:
            for default in (0.0, 1.0) if has_missing else (0.0,):
                yield j, threshold, default


def best_edge(X, u, v, D):
    """Largest |r| over all weak rankers."""
    rows = np.unique(np.concatenate([u, v]))
    best = 0.0
    for j, threshold, default in candidates(X, rows):
        h = weak_values(X[:, j], threshold, default)
        best = max(best, abs(float(sum(D[i] * (h[u[i]] - h[v[i]]) for i in range(u.size)))))
    return best
