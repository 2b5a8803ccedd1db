"""Clicks of users who look at position i with probability 1 / i^η and click what interests them."""

from __future__ import annotations

import numpy as np

import plackett as pk


def looks(n: int, eta: float) -> np.ndarray:
    """Probability of a look at the positions 1 to n."""
    return np.arange(1, n + 1.0) ** -eta


def simulate(n_queries=300, sessions=20, n_docs=10, eta=1.0, shown_by="noise_0", seed=0):
    """Training data whose labels are clicks, with positions, and test data with the true labels.

    The lists were shown in the order of one feature in all sessions; with ``shown_by=None`` in a new random order each.
    """
    rng = np.random.default_rng(seed)
    data = pk.datasets.make_ranking(n_queries=n_queries + 200, docs_per_query=n_docs, n_features=20, random_state=seed)
    train, test = data.select(np.arange(n_queries)), data.select(np.arange(n_queries, n_queries + 200))
    lists = np.tile(np.arange(train.n_rows), sessions)
    qid = np.repeat(np.arange(n_queries * sessions), n_docs)
    key = rng.random(lists.size)
    if shown_by is not None:
        key = np.tile(train.X[:, train.feature_names.index(shown_by)], sessions)
    order = np.lexsort((-key, qid))
    positions = np.empty(lists.size, np.int64)
    positions[order] = np.tile(np.arange(1, n_docs + 1), n_queries * sessions)
    interest = 0.1 + 0.9 * (2 ** train.y[lists] - 1) / (2 ** data.y.max() - 1)
    clicks = rng.random(lists.size) < looks(n_docs, eta)[positions - 1] * interest
    shown = pk.RankingDataset.from_arrays(
        train.X[lists], clicks, qid, positions=positions, feature_names=train.feature_names
    )
    return shown, test
